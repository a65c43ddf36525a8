#include "src/cli/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/case/errors.h"

extern char** environ;

namespace rope_bench {

namespace {

// Far above any results that there are.
constexpr size_t kMostBytes = size_t{1} << 30;

// Whether this can still become a JSON object.
bool may_be_json(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return text.size() < kMostBytes && (first == std::string::npos || text[first] == '{');
}

}  // namespace

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
  bool is_json = true;
  if (error == 0) {
    char buffer[65536];
    for (ssize_t n; is_json && (n = read(pipe_ends[0], buffer, sizeof(buffer))) != 0;) {
      if (n > 0) result.out.append(buffer, static_cast<size_t>(n));
      if (n < 0 && errno != EINTR) break;
      is_json = may_be_json(result.out);
    }
    if (!is_json) kill(pid, SIGKILL);
  }
  close(pipe_ends[0]);
  if (error != 0) refuse(error);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!is_json) {
    const std::string line = result.out.substr(0, std::min<size_t>(result.out.find('\n'), 40));
    throw ConfigError(fmt::format("{} printed no results in JSON: \"{}\"", program, line));
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace rope_bench
