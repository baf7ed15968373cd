#include "command_line.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

extern char** environ;

namespace mlaforge::test {
namespace {

pid_t start(const std::vector<std::string>& arguments, const std::string& out, const std::string& err) {
  std::vector<std::string> argv = {MLAFORGE_COMMAND};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t process = 0;
  const int code = ::posix_spawn(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::runtime_error("mlaforge cannot be started");
  return process;
}

}  // namespace

Outcome mlaforge_command(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const pid_t process = start(arguments, (folder / "out").string(), (folder / "err").string());
  Outcome outcome;
  outcome.exit_code = wait_for(process);
  outcome.out = read(folder / "out");
  outcome.err = read(folder / "err");
  return outcome;
}

std::string small_config(const TemporaryFolder& folder, int splits) {
  const std::filesystem::path path = folder / "small.json";
  write(path, R"({"name": "small", "model": {"num_heads": 12}, "kernels": [{"query_length": 1, "splits": [1, )" +
                  std::to_string(splits) + "]}]}");
  return path.string();
}

pid_t start_mlaforge(const std::vector<std::string>& arguments) { return start(arguments, "/dev/null", "/dev/null"); }

int wait_for(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, 0) != process) throw std::runtime_error("a process that is not a child");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace mlaforge::test
