#include "src/measure/watchdog.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace rope_bench {
namespace {

using std::chrono::duration;
// Between two looks: rare enough to disturb no sample.
constexpr duration<double> kPeriod{0.1};
// After an interruption most operations end by themselves, and the run then ends in order.
constexpr duration<double> kGrace{1.0};
// Above this a wait could overflow the clock.
constexpr double kMostSeconds = 1e8;

}  // namespace

Watchdog::Watchdog(std::function<bool()> interrupted, std::function<void(Why)> give_up)
    : interrupted_(std::move(interrupted)),
      give_up_(std::move(give_up)),
      thread_([this] { look_on(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::set_timeout(double seconds) {
  const std::lock_guard lock(mutex_);
  timeout_s_ = std::min(seconds, kMostSeconds);
}

void Watchdog::look_on() {
  std::unique_lock lock(mutex_);
  std::optional<Clock::time_point> interrupted_at;
  while (!ends_) {
    Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(kPeriod);
    if (inside_) until = std::min(until, deadline_);
    wake_.wait_until(lock, until);
    const Clock::time_point now = Clock::now();
    if (!interrupted_at && interrupted_ && interrupted_()) interrupted_at = now;
    if (!inside_ || ends_) continue;
    const bool late = late_ || now >= deadline_;
    if (!late && !(interrupted_at && now - *interrupted_at >= kGrace)) continue;
    given_up_ = true;
    lock.unlock();
    give_up_(late && !interrupted_at ? Why::kTimeout : Why::kInterrupted);
    return;
  }
}

Watchdog::Watch::Watch(Watchdog* dog) : dog_(dog) {
  if (dog_ == nullptr) return;
  const std::lock_guard lock(dog_->mutex_);
  dog_->inside_ = true;
  dog_->deadline_ = Clock::now() +
                    std::chrono::duration_cast<Clock::duration>(duration<double>(dog_->timeout_s_));
}

Watchdog::Watch::~Watch() {
  if (dog_ == nullptr) return;
  std::unique_lock lock(dog_->mutex_);
  if (Clock::now() > dog_->deadline_) {  // whether or not somebody has looked since
    dog_->late_ = true;
    dog_->wake_.notify_all();
  }
  // Too late: the results are being written, and nothing may change under the writer.
  while (dog_->late_ || dog_->given_up_) dog_->wake_.wait(lock);
  dog_->inside_ = false;
}

}  // namespace rope_bench
