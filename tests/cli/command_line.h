// Runs the mlaforge command as a user does, and sees what it prints and how it ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "../generator/temporary_folder.h"

namespace mlaforge::test {

struct Outcome {
  int exit_code = 0;  ///< -signal where one ended it
  std::string out;
  std::string err;
};

/// Runs `mlaforge ARGUMENTS` to its end, its outputs no terminals.
Outcome mlaforge_command(const std::vector<std::string>& arguments);

/// The path of a new config in the folder: 12 heads, query length 1, without splits and with `splits`.
std::string small_config(const TemporaryFolder& folder, int splits = 2);

/// Starts it with its outputs discarded, and does not wait.
pid_t start_mlaforge(const std::vector<std::string>& arguments);

/// Waits for a process that start_mlaforge started: its exit code, or -signal.
int wait_for(pid_t process);

}  // namespace mlaforge::test
