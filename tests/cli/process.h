// Runs the real rope-bench and collects what it wrote where.
#ifndef ROPE_BENCH_TESTS_CLI_PROCESS_H_
#define ROPE_BENCH_TESTS_CLI_PROCESS_H_

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace rope_bench {

struct ProcessResult {
  int exit_code = -1;  // 128 + signal if one ended it
  std::string out, err;
  double seconds = 0;
};

struct ProcessOptions {
  std::vector<std::string> env;  // NAME=VALUE, over the environment of the test
  std::string folder;            // working directory; empty: the test's own
  bool terminal = false;         // stdout and stderr are one terminal; both are in `out`
  std::string stdout_file;       // instead of collecting stdout
  size_t memory_bytes = 0;       // of address space; 0: no limit
  bool closed_stdout = false;    // a pipe that nobody reads
};

ProcessResult rope_bench(const std::vector<std::string>& args, const ProcessOptions& options = {});

// A run that goes on: read from its stdout, send it signals.
class RunningProcess {
 public:
  RunningProcess(const std::vector<std::string>& args, const ProcessOptions& options);
  ~RunningProcess();
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;

  std::string read_line();  // of stdout, with its end
  void signal(int number);
  ProcessResult wait();

 private:
  void read_both();

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  double start_ = 0;
  ProcessResult result_;
};

// A folder of its own, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path() const { return folder_.string(); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  size_t num_files() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_CLI_PROCESS_H_
