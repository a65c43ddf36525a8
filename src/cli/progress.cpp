#include "src/cli/progress.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace rope_bench {
namespace {

using std::chrono::duration;
constexpr duration<double> kQuietStart{1.0};    // a run this short needs no progress
constexpr duration<double> kInterval{0.1};      // between redrawings
constexpr duration<double> kLogInterval{30.0};  // so that a log stays readable

std::string human_seconds(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 100) return fmt::format("{} s", whole);
  return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(const std::string& current, size_t done, size_t total, double done_s,
                          double current_s) {
  std::string line = fmt::format("[{}/{}] {}", done + 1, total, current);
  if (done > 0) {
    const double per_case = done_s / static_cast<double>(done);
    const double left = per_case * static_cast<double>(total - done) - current_s;
    line += fmt::format(", {} left", human_seconds(std::max(left, 1.0)));
  }
  return line;
}

Progress::Progress(Mode mode, std::FILE* stream)
    : mode_(mode), stream_(stream), start_(Clock::now()), last_(start_) {}

void Progress::update(const std::string& current, size_t done, size_t total) {
  const Clock::time_point now = Clock::now();
  const double elapsed_s = duration<double>(now - start_).count();
  if (done != done_) {
    done_ = done;
    done_s_ = elapsed_s;
  }
  if (mode_ == Mode::kOff || now - start_ < kQuietStart) return;
  if (now - last_ < (mode_ == Mode::kLog ? kLogInterval : kInterval)) return;
  last_ = now;
  const std::string line =
      progress_line(current, std::min(done, total - 1), total, done_s_, elapsed_s - done_s_);
  if (mode_ == Mode::kLog) {
    std::fputs((line + "\n").c_str(), stream_);
  } else if (line != shown_) {
    std::fputs(fmt::format("\r\x1b[K{:.79}", line).c_str(), stream_);
    shown_ = line;
  }
  std::fflush(stream_);
}

void Progress::clear() {
  if (shown_.empty()) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  shown_.clear();
}

}  // namespace rope_bench
