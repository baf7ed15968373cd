// Runs the mlaforge command as a user does, and sees what it prints and how it ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mlaforge::test {

struct Outcome {
  int exit_code = 0;  ///< -signal where one ended it
  std::string out;
  std::string err;
};

/// Runs `mlaforge ARGUMENTS` to its end, its outputs no terminals.
Outcome mlaforge_command(const std::vector<std::string>& arguments);

/// Starts it with its outputs discarded, and does not wait.
pid_t start_mlaforge(const std::vector<std::string>& arguments);

/// Waits for a process that start_mlaforge started: its exit code, or -signal.
int wait_for(pid_t process);

}  // namespace mlaforge::test
