#include "src/measure/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <vector>

#include "src/measure/round_gate.h"

namespace rope_bench {
namespace {

using Clock = std::chrono::steady_clock;

// Timed launches are judged in the first round, in every so many, and in the last.
constexpr int64_t kJudgeEvery = 16;

}  // namespace

Timed::Timed(Backend& backend, CaseBuffers& buffers, const RopeVariant& variant, const Plan& plan,
             CacheMode cache)
    : backend_(&backend), buffers_(&buffers), variant_(&variant), plan_(plan), cache_(cache) {
  record();
}

void Timed::record() {
  std::vector<Launch> launches;
  for (int i = 0; i < plan_.long_launches; ++i)
    launches.push_back({variant_, buffers_->args(i % plan_.num_sets)});
  long_ = backend_->record(launches);
  launches.resize(static_cast<size_t>(plan_.short_launches));
  short_ = backend_->record(launches);
}

void Timed::prepare(int launches) {
  buffers_->restore(std::min(launches, plan_.num_sets));
  if (cache_ == CacheMode::kCold) backend_->flush_cache();
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

int64_t Timed::judge_last_window() {
  int64_t wrong = 0;
  for (int set = 0; set < std::min(plan_.num_sets, plan_.long_launches); ++set) {
    const int repeats = (plan_.long_launches - set + plan_.num_sets - 1) / plan_.num_sets;
    wrong += backend_->judge(buffers_->judge_args(*variant_, set, repeats));
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

const RopeVariant* fastest_limit(Backend& backend, CaseBuffers& buffers, const Plan& plan,
                                 CacheMode cache) {
  struct Candidate {
    const RopeVariant* row;
    double seconds;
  };
  // A host flushes its caches slowly: fewer samples there.
  const int first_look = backend.is_host() ? 1 : 3, closer_look = backend.is_host() ? 3 : 7;
  const size_t leaders = backend.is_host() ? 2 : 3;
  std::vector<Candidate> candidates;
  const RopeKernelArgs args = buffers.args(0);
  const auto best_of = [&](const RopeVariant& row, int samples) {
    Timed timed(backend, buffers, row, plan, cache);
    std::vector<double> seconds;
    for (int i = 0; i < samples; ++i) seconds.push_back(timed.sample());
    return median(seconds);
  };
  for (const RopeVariant& row : backend.limits()) {
    char reason[256];
    if (row.why_not(&args, reason, sizeof(reason)) == 0)
      candidates.push_back({&row, best_of(row, first_look)});
  }
  const auto faster = [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; };
  std::sort(candidates.begin(), candidates.end(), faster);
  if (candidates.empty()) return nullptr;
  // A closer look at the leaders.
  while (candidates.size() > leaders) candidates.pop_back();
  for (Candidate& candidate : candidates) candidate.seconds = best_of(*candidate.row, closer_look);
  return std::min_element(candidates.begin(), candidates.end(), faster)->row;
}

namespace {

// What a row's rounds gave, those that count and the others.
class Rounds {
 public:
  // A difference of two noisy times can come out at or below zero for the smallest launches: no
  // round.
  void add(double kernel, double limit, bool has_limit, const DeviceState& state) {
    const int64_t placement = placement_of_round(attempted_++);
    if (kernel <= 0 || (has_limit && limit <= 0)) {
      ++not_positive_;
      return;
    }
    gate_.add(state);
    times_.push_back(kernel);
    limits_.push_back(limit);
    ratios_.push_back(has_limit ? limit / kernel : 1 / kernel);
    placements_.push_back(placement);
  }
  int64_t attempted() const { return attempted_; }
  bool empty() const { return times_.empty(); }
  GateVerdict verdict(bool time_is_up) const { return gate_.verdict(time_is_up); }

  PlacedSample times(const GateVerdict& v) const { return sample(times_, v); }
  PlacedSample limits(const GateVerdict& v) const { return sample(limits_, v); }
  PlacedSample ratios(const GateVerdict& v) const { return sample(ratios_, v); }

  // Everything about the kernel's own times. At least one round counts.
  void summarise(const GateVerdict& verdict, Timing* t) const {
    const PlacedSample sample = times(verdict);
    const std::vector<double>& values = sample.values;
    const Interval interval = placed_interval(sample);
    const Drift drift = drift_of(values);
    t->num_rounds = static_cast<int64_t>(values.size());
    t->median_us = median(values) * 1e6;
    t->ci_low_us = interval.low * 1e6;
    t->ci_high_us = interval.high * 1e6;
    t->p5_us = quantile(values, 0.05) * 1e6;
    t->p95_us = quantile(values, 0.95) * 1e6;
    t->min_us = *std::min_element(values.begin(), values.end()) * 1e6;
    t->mad_us = median_absolute_deviation(values) * 1e6;
    t->first_tenth_us = drift.first * 1e6;
    t->last_tenth_us = drift.last * 1e6;
    t->num_placements = static_cast<int64_t>(
        std::set<int64_t>(sample.placements.begin(), sample.placements.end()).size());
    t->num_dropped = attempted_ - t->num_rounds;
    t->dropped_reason = verdict.reason;
    if (not_positive_ > 0) {
      t->dropped_reason += (verdict.reason.empty() ? "" : ", ") + std::to_string(not_positive_) +
                           " without a positive time";
    }
    t->left_clocks = verdict.gave_up;
    t->sm_clock_mhz = gate_.sm_clock_mhz();
    t->memory_clock_mhz = gate_.memory_clock_mhz();
  }

 private:
  PlacedSample sample(const std::vector<double>& values, const GateVerdict& verdict) const {
    PlacedSample kept;
    for (const size_t i : verdict.kept) {
      kept.values.push_back(values[i]);
      kept.placements.push_back(placements_[i]);
    }
    return kept;
  }

  RoundGate gate_;
  int64_t attempted_ = 0, not_positive_ = 0;
  std::vector<double> times_, limits_, ratios_;
  std::vector<int64_t> placements_;
};

}  // namespace

std::optional<Measurement> measure(Backend& backend, CaseBuffers& buffers,
                                   const RopeVariant& variant, const Plan& plan,
                                   const MeasureOptions& options) {
  const Clock::time_point start = Clock::now();
  Timed kernel(backend, buffers, variant, plan, options.cache);
  const RopeVariant* limit_row = fastest_limit(backend, buffers, plan, options.cache);
  std::optional<Timed> limit;
  if (limit_row != nullptr) limit.emplace(backend, buffers, *limit_row, plan, options.cache);

  Measurement result;
  Rounds rounds;
  const auto judge = [&] {
    if (!options.judge) return;
    result.wrong_units += kernel.judge_last_window();
    result.judged_launches += plan.long_launches;
  };
  const auto limit_sample = [&] { return limit ? limit->sample() : 0.0; };
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto read_state = [&] {
    return backend.monitor() == nullptr ? DeviceState{} : backend.monitor()->read();
  };
  kernel.sample();  // of no round: the first one warms up what later ones find warm

  const char* stopped_by = nullptr;
  GateVerdict verdict;
  while (stopped_by == nullptr) {
    if (options.interrupted && options.interrupted()) return std::nullopt;
    const int64_t round = rounds.attempted();
    if (round > 0 && placement_of_round(round) != placement_of_round(round - 1)) {
      buffers.move_sets();
      kernel.record();
      if (limit) limit->record();
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
    const PlacedSample ratios = rounds.ratios(verdict);
    const Interval interval = placed_interval(ratios, kBetweenProcesses);
    t.limit_us = median(rounds.limits(verdict).values) * 1e6;
    t.limit_variant = limit_row->name;
    t.limit_ratio = median(ratios.values);
    t.limit_ratio_ci_low = interval.low;
    t.limit_ratio_ci_high = interval.high;
  }
  t.isolated_us = kernel.isolated() * 1e6;
  t.host_launch_us = kernel.host_cost() * 1e6;
  return result;
}

double measure_slope(Backend& backend, const Launch& launch) {
  constexpr int kShort = 20, kLong = 220;
  const std::unique_ptr<Window> short_window = backend.record(std::vector<Launch>(kShort, launch));
  const std::unique_ptr<Window> long_window = backend.record(std::vector<Launch>(kLong, launch));
  std::vector<double> samples;
  for (int i = 0; i < 15; ++i) {
    const double short_time = backend.time(*short_window);
    samples.push_back((backend.time(*long_window) - short_time) / (kLong - kShort));
  }
  return median(samples);
}

Floor measure_floor(Backend& backend) {
  Floor floor;
  floor.slope = std::max(0.0, measure_slope(backend, {}));
  std::vector<double> isolated, host;
  for (int i = 0; i < 15; ++i) {
    isolated.push_back(backend.time_isolated({}));
    host.push_back(backend.host_cost({}));
  }
  floor.isolated = median(isolated);
  floor.host = median(host);
  return floor;
}

double measure_peak(Backend& backend) {
  // Large against any cache, small against any memory. A host pays for every byte: there four
  // caches must do.
  const int64_t caches = int64_t{backend.is_host() ? 3 : 8} * backend.info().l2_bytes;
  const auto bytes =
      std::min<int64_t>(std::clamp<int64_t>(caches, int64_t{64} << 20, int64_t{1} << 30),
                        static_cast<int64_t>(backend.free_bytes() / 8));
  const int launches = backend.is_host() ? 2 : 4, samples_wanted = backend.is_host() ? 3 : 5;
  constexpr int kHeads = 32, kDim = 128;
  RopeKernelArgs args{};
  args.struct_size = sizeof(args);
  args.dtype = ROPE_DTYPE_BF16;
  args.head_dim = kDim;
  args.rotary_dim = kDim;
  args.num_tokens = bytes / (2 * kHeads * kDim) / 2;  // half of it q, half of it k
  const size_t tensor_bytes = static_cast<size_t>(args.num_tokens) * kHeads * kDim * 2;
  DeviceMemory from(backend, 2 * tensor_bytes), to(backend, 2 * tensor_bytes);
  DeviceMemory table(backend, kDim * sizeof(float));
  DeviceMemory positions(backend, static_cast<size_t>(args.num_tokens) * 4);
  backend.fill({from.data(), 0, 1, 2 * tensor_bytes}, 0x3f);
  backend.fill({to.data(), 0, 1, 2 * tensor_bytes}, 0x3f);
  backend.fill({table.data(), 0, 1, kDim * sizeof(float)}, 0);
  backend.fill({positions.data(), 0, 1, static_cast<size_t>(args.num_tokens) * 4}, 0);
  args.table = table.data();
  args.table_rows = 1;
  args.table_row_stride = kDim;
  args.positions = positions.data();
  args.position_bits = 32;
  args.stream = backend.stream();
  args.num_threads = backend.num_threads();
  const auto operand = [&](std::byte* in, std::byte* out) {
    RopeTensor t{};
    t.in = in;
    t.out = out;
    t.in_token_stride = t.out_token_stride = kHeads * kDim;
    t.in_head_stride = t.out_head_stride = kDim;
    t.num_heads = kHeads;
    return t;
  };
  double best = std::numeric_limits<double>::infinity();
  for (const bool in_place : {true, false}) {
    std::byte* out = in_place ? from.data() : to.data();
    args.q = operand(from.data(), out);
    args.k = operand(from.data() + tensor_bytes, out + tensor_bytes);
    for (const RopeVariant& row : backend.limits()) {
      const std::unique_ptr<Window> one = backend.record({{&row, args}});
      const std::unique_ptr<Window> more =
          backend.record(std::vector<Launch>(static_cast<size_t>(launches), {&row, args}));
      std::vector<double> samples;
      for (int i = 0; i < samples_wanted; ++i) {
        const double short_time = backend.time(*one);
        const double seconds = (backend.time(*more) - short_time) / (launches - 1);
        if (seconds > 0) samples.push_back(seconds);
      }
      // A busy host only ever makes a sample slower.
      const double p = backend.is_host() ? 0 : 0.5;
      if (!samples.empty()) best = std::min(best, quantile(samples, p));
    }
  }
  return 4 * static_cast<double>(tensor_bytes) / best / 1e9;
}

}  // namespace rope_bench
