// Progress on stderr: one line that rewrites itself on a terminal, a plain line now and then in a
// log.
#ifndef ROPE_BENCH_SRC_CLI_PROGRESS_H_
#define ROPE_BENCH_SRC_CLI_PROGRESS_H_

#include <chrono>
#include <cstdio>
#include <string>

namespace rope_bench {

class Progress {
 public:
  enum class Mode { kOff, kTerminal, kLog };
  explicit Progress(Mode mode, std::FILE* stream = stderr);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` cases are finished; `current` is being worked on.
  void update(const std::string& current, size_t done, size_t total);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Mode mode_;
  std::FILE* stream_;
  Clock::time_point start_, last_;
  size_t done_ = 0;
  double done_s_ = 0;  // how long the `done_` cases took
  std::string shown_;  // on the terminal now
};

// "[3/12] name, 5 s left" once the first `done` cases took `done_s` seconds and the current one has
// been at work for `current_s`. Without an estimate before the first case is done.
std::string progress_line(const std::string& current, size_t done, size_t total, double done_s,
                          double current_s);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_PROGRESS_H_
