#include "src/cli/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/case/errors.h"

extern char** environ;

namespace rope_bench {

ChildResult run_child(const std::string& program, const std::vector<std::string>& args) {
  const auto refuse = [&](int error) {
    throw ConfigError(
        fmt::format("cannot run {}: {}", program, std::generic_category().message(error)));
  };
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) refuse(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  ChildResult result;
  if (error == 0) {
    char buffer[65536];
    for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof(buffer))) != 0;) {
      if (n > 0) result.out.append(buffer, static_cast<size_t>(n));
      if (n < 0 && errno != EINTR) break;
    }
  }
  close(pipe_ends[0]);
  if (error != 0) refuse(error);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace rope_bench
