#include "src/measure/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "src/measure/rounds.h"

namespace rope_bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Timed::Timed(Backend& backend, CaseBuffers& buffers, const RopeVariant& variant, const Plan& plan,
             CacheMode cache)
    : backend_(&backend), buffers_(&buffers), variant_(&variant), plan_(plan), cache_(cache) {
  record();
}

void Timed::record() {
  std::vector<Launch> launches;
  for (int i = 0; i < plan_.long_launches; ++i) {
    launches.push_back({variant_, buffers_->args(i % plan_.num_sets)});
    if (plan_.slow_every == 0 || (i + 1) % plan_.slow_every != 0) continue;
    const int scratch = i / plan_.slow_every % plan_.scratch_sets;
    launches.push_back({variant_, buffers_->args(plan_.num_sets + scratch)});
  }
  long_ = backend_->record(launches);
  launches.resize(
      static_cast<size_t>(plan_.short_launches + plan_.scratch_launches(plan_.short_launches)));
  short_ = backend_->record(launches);
}

void Timed::prepare(int launches) {
  buffers_->restore(std::min(launches, plan_.num_sets));
  if (cache_ == CacheMode::kCold) backend_->flush_cache();
}

void Timed::warm_up() {
  prepare(plan_.long_launches);
  backend_->time(*long_);
  if (backend_->is_host()) return;
  prepare(plan_.short_launches);
  backend_->time(*short_);
}

void warm_up(const Backend& backend, std::initializer_list<Timed*> timed) {
  for (int turn = 0; turn < (backend.is_host() ? 1 : 2); ++turn) {
    for (Timed* one : timed) one->warm_up();
  }
}

double Timed::sample() {
  double sum = 0;
  for (int i = 0; i < plan_.windows; ++i) sum += difference();
  return sum / plan_.windows;
}

double Timed::difference() {
  // A host clock has no fixed cost that must cancel, and the difference of two noisy times is
  // noisier than either.
  double short_time = 0;
  int launches = plan_.long_launches;
  if (!backend_->is_host()) {
    prepare(plan_.short_launches);
    short_time = backend_->time(*short_);
    launches -= plan_.short_launches;
  }
  prepare(plan_.long_launches);
  return (backend_->time(*long_) - short_time) / launches;
}

int64_t Timed::judge_last_window(const std::function<void(int set, int repeats)>& on_wrong) {
  int64_t wrong = 0;
  for (int set = 0; set < std::min(plan_.num_sets, plan_.long_launches); ++set) {
    const int repeats = (plan_.long_launches - set + plan_.num_sets - 1) / plan_.num_sets;
    const int64_t units = backend_->judge(buffers_->judge_args(*variant_, set, repeats));
    if (units > 0 && on_wrong) on_wrong(set, repeats);
    wrong += units;
  }
  return wrong;
}

double Timed::isolated() {
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    prepare(1);
    samples.push_back(backend_->time_isolated({variant_, buffers_->args(0)}));
  }
  return median(samples);
}

double Timed::host_cost() { return backend_->host_cost({variant_, buffers_->args(0)}); }

namespace {

struct Candidate {
  const RopeVariant* row;
  double seconds;
};

// Times the candidates side by side at so many places in memory, `passes` times through all of them
// at each (every second one backwards), and sorts them, the fastest first.
void race(Backend& backend, CaseBuffers& buffers, const Plan& plan, CacheMode cache, int places,
          int passes, std::vector<Candidate>* candidates) {
  std::vector<Timed> timed;
  for (const Candidate& c : *candidates) timed.emplace_back(backend, buffers, *c.row, plan, cache);
  std::vector<std::vector<double>> seconds(timed.size());
  for (int place = 0; place < places; ++place) {
    if (place > 0) {
      buffers.move_sets();
      for (Timed& one : timed) one.record();
    }
    for (Timed& one : timed) warm_up(backend, {&one});
    for (int pass = 0; pass < passes; ++pass) {
      for (size_t i = 0; i < timed.size(); ++i) {
        const size_t at = pass % 2 == 0 ? i : timed.size() - 1 - i;
        seconds[at].push_back(timed[at].sample());
      }
    }
  }
  for (size_t i = 0; i < timed.size(); ++i) (*candidates)[i].seconds = median(seconds[i]);
  std::sort(candidates->begin(), candidates->end(),
            [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
}

}  // namespace

const RopeVariant* fastest_limit(Backend& backend, CaseBuffers& buffers, const Plan& plan,
                                 CacheMode cache) {
  std::vector<Candidate> candidates;
  const RopeKernelArgs args = buffers.args(0);
  for (const RopeVariant& row : backend.limits()) {
    char reason[256];
    if (row.why_not(&args, reason, sizeof(reason)) == 0) candidates.push_back({&row, 0});
  }
  if (candidates.empty()) return nullptr;
  // A host flushes its caches slowly: fewer samples there.
  const bool is_host = backend.is_host();
  const Plan quick = is_host ? plan.as_it_is() : plan.quick();
  race(backend, buffers, quick, cache, is_host ? 1 : 3, 1, &candidates);
  // A closer look at the leaders.
  const size_t leaders = is_host ? 2 : 3;
  candidates.resize(std::min(candidates.size(), leaders));
  if (candidates.size() > 1) race(backend, buffers, quick, cache, is_host ? 2 : 6, 2, &candidates);
  return candidates.front().row;
}

std::optional<Measurement> measure(Backend& backend, CaseBuffers& buffers,
                                   const RopeVariant& variant, const Plan& plan,
                                   const MeasureOptions& options) {
  const RopeVariant* limit_row = fastest_limit(backend, buffers, plan, options.cache);
  Timed kernel(backend, buffers, variant, plan, options.cache);
  std::optional<Timed> limit;
  if (limit_row != nullptr)
    limit.emplace(backend, buffers, *limit_row, plan.as_it_is(), options.cache);

  Measurement result;
  Rounds rounds;
  const auto judge = [&] {
    if (!options.judge) return;
    result.wrong_units += kernel.judge_last_window(options.on_wrong);
    result.judged_launches += plan.long_launches;
  };
  const auto limit_sample = [&] { return limit ? limit->sample() : 0.0; };
  const Clock::time_point start = Clock::now();  // of the rounds
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto read_state = [&] {
    return backend.monitor() == nullptr ? DeviceState{} : backend.monitor()->read();
  };
  const char* stopped_by = nullptr;
  GateVerdict verdict;
  while (stopped_by == nullptr) {
    if (options.interrupted && options.interrupted()) return std::nullopt;
    const int64_t round = rounds.attempted();
    if (round > 0) {
      buffers.move_sets();
      kernel.record();
      if (limit) limit->record();
    }
    if (limit) {
      warm_up(backend, {&kernel, &*limit});
    } else {
      warm_up(backend, {&kernel});
    }
    const double kernel_a = kernel.sample();
    const bool due = round % kJudgeEvery == 0;
    if (due) judge();
    const double limit_a = limit_sample();
    const double limit_b = limit_sample();
    const double kernel_b = kernel.sample();
    rounds.add((kernel_a + kernel_b) / 2, (limit_a + limit_b) / 2, limit.has_value(), read_state());
    const double now = elapsed();
    verdict = rounds.verdict(now >= std::max(options.stop.max_time_s, options.stop.min_time_s));
    stopped_by = rounds.empty() ? (now > 2 * options.stop.max_time_s ? "max_time" : nullptr)
                                : options.stop.why_stop(rounds.ratios(verdict), now);
    if (stopped_by != nullptr && !due) judge();
  }

  Timing& t = result.timing;
  t.stopped_by = stopped_by;
  t.num_sets = plan.num_sets;
  t.table_warm = !plan.own_tables;
  if (rounds.empty()) return result;
  rounds.summarise(verdict, &t);
  t.num_launches = t.num_rounds * 2 * plan.windows *
                   (plan.long_launches + (backend.is_host() ? 0 : plan.short_launches));
  if (limit) {
    const std::vector<double> ratios = rounds.ratios(verdict);
    const Interval interval = ratio_interval(ratios);
    for (const double seconds : rounds.limits(verdict)) t.round_limits_us.push_back(seconds * 1e6);
    t.limit_us = median(t.round_limits_us);
    t.limit_variant = limit_row->name;
    t.limit_ratio = median(ratios);
    t.limit_ratio_ci_low = interval.low;
    t.limit_ratio_ci_high = interval.high;
  }
  t.isolated_us = kernel.isolated() * 1e6;
  t.host_launch_us = kernel.host_cost() * 1e6;
  return result;
}

}  // namespace rope_bench
