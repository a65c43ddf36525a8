#include "src/cli/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/case/errors.h"
#include "src/cli/interrupt.h"

extern char** environ;

namespace rope_bench {

namespace {

using Clock = std::chrono::steady_clock;

// Far above any results that there are.
constexpr size_t kMostBytes = size_t{1} << 30;
// How late a Ctrl-C or the deadline is noticed.
constexpr int kPollMs = 20;

// Whether this can still become a JSON object.
bool may_be_json(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return text.size() < kMostBytes && (first == std::string::npos || text[first] == '{');
}

// A process with a pipe from its stdout; whatever ends its use, it is gone then.
class Child {
 public:
  Child(const std::string& program, const std::vector<std::string>& args) {
    const auto refuse = [&](int error) {
      // A name alone is one of PATH.
      const bool is_here =
          program.find('/') == std::string::npos && std::filesystem::is_regular_file(program);
      throw ConfigError(fmt::format("cannot run {}: {}{}", program,
                                    std::generic_category().message(error),
                                    is_here ? fmt::format("; did you mean ./{}?", program) : ""));
    };
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) refuse(errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    // A group of its own, so that what a script starts is stopped with it.
    posix_spawnattr_t group;
    posix_spawnattr_init(&group);
    posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&group, 0);
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
    argv.push_back(nullptr);
    const int error = posix_spawnp(&pid_, program.c_str(), &actions, &group, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&group);
    close(pipe_ends[1]);
    if (error != 0) {
      close(pipe_ends[0]);
      refuse(error);
    }
    out_ = pipe_ends[0];
  }
  ~Child() {
    close(out_);
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Appends what has come; false at the end of the output. Returns after kPollMs without any.
  bool read_some(std::string* text) {
    pollfd ready{out_, POLLIN, 0};
    if (poll(&ready, 1, kPollMs) <= 0) return true;  // nothing yet, or a signal
    char buffer[65536];
    const ssize_t n = read(out_, buffer, sizeof(buffer));
    if (n > 0) text->append(buffer, static_cast<size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
  }
  // Its exit code, 128 + signal if one ended it; nullopt: it has not ended.
  std::optional<int> exit_code() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
};

}  // namespace

std::optional<ChildResult> run_child(const std::string& program,
                                     const std::vector<std::string>& args, double most_seconds) {
  const Clock::time_point start = Clock::now();
  Child child(program, args);
  ChildResult result;
  bool ended = false;  // its output, not yet itself
  for (;;) {
    if (interrupted()) return std::nullopt;
    if (std::chrono::duration<double>(Clock::now() - start).count() > most_seconds) {
      throw NoAnswer(
          fmt::format("{} gave no results within {:.4g} s and was stopped; raise "
                      "measure.timeout_s if it needs longer",
                      program, most_seconds));
    }
    if (!ended) {
      ended = !child.read_some(&result.out);
      if (may_be_json(result.out)) continue;
      const std::string line = result.out.substr(0, std::min<size_t>(result.out.find('\n'), 40));
      throw ConfigError(fmt::format("{} printed no results in JSON: \"{}\"", program, line));
    }
    if (const std::optional<int> code = child.exit_code()) {
      result.exit_code = *code;
      return result;
    }
    poll(nullptr, 0, 1);  // it closed its output a moment ago
  }
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace rope_bench
