#include "tests/cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace rope_bench {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void exec_rope_bench(const std::vector<std::string>& args,
                                  const ProcessOptions& options) {
  for (const std::string& entry : options.env) {
    const size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
  if (options.memory_bytes != 0) {
    const rlimit limit{options.memory_bytes, options.memory_bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  std::vector<char*> argv = {const_cast<char*>("rope-bench")};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  execv(ROPE_BENCH_BINARY, argv.data());
  _exit(127);
}

// Appends what is there to read; closes at the end.
void read_some(int& fd, std::string& text) {
  char buffer[4096];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0) {
    text.append(buffer, static_cast<size_t>(n));
  } else {
    close(fd);
    fd = -1;
  }
}

}  // namespace

RunningProcess::RunningProcess(const std::vector<std::string>& args,
                               const ProcessOptions& options) {
  int out[2], err[2];
  if (options.terminal) {
    if (openpty(&out[0], &out[1], nullptr, nullptr, nullptr) != 0) {
      throw std::runtime_error("openpty");
    }
    err[0] = -1;
    err[1] = out[1];
  } else if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe");
  }
  if (options.closed_stdout) {
    close(out[0]);
    out[0] = -1;
  }
  start_ = now_s();
  pid_ = fork();
  if (pid_ == 0) {
    const int in = open("/dev/null", O_RDONLY);
    dup2(in, STDIN_FILENO);
    dup2(options.stdout_file.empty() ? out[1] : open(options.stdout_file.c_str(), O_WRONLY),
         STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    if (options.terminal) close(out[0]);
    std::signal(SIGPIPE, SIG_DFL);  // as a shell starts it
    exec_rope_bench(args, options);
  }
  close(out[1]);
  if (!options.terminal) close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

RunningProcess::~RunningProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

void RunningProcess::read_both() {
  pollfd fds[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  poll(fds, 2, -1);
  if (fds[0].revents) read_some(out_, result_.out);
  if (fds[1].revents) read_some(err_, result_.err);
}

std::string RunningProcess::read_line() {
  size_t end;
  while ((end = result_.out.find('\n')) == std::string::npos && out_ >= 0) read_both();
  const std::string line = result_.out.substr(0, end + 1);
  result_.out.erase(0, end + 1);
  return line;
}

void RunningProcess::signal(int number) { kill(pid_, number); }

ProcessResult RunningProcess::wait() {
  while (out_ >= 0 || err_ >= 0) read_both();
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  result_.seconds = now_s() - start_;
  result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return std::move(result_);
}

ProcessResult rope_bench(const std::vector<std::string>& args, const ProcessOptions& options) {
  return RunningProcess(args, options).wait();
}

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "rope-bench-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
}

ScratchFolder::~ScratchFolder() { std::filesystem::remove_all(folder_); }

void ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
}

std::string ScratchFolder::read(const std::string& name) const {
  std::stringstream text;
  text << std::ifstream(file(name), std::ios::binary).rdbuf();
  return text.str();
}

size_t ScratchFolder::num_files() const {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
}

}  // namespace rope_bench
