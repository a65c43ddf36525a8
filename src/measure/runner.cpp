#include "src/measure/runner.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"
#include "src/case/token_rows.h"
#include "src/math/table.h"
#include "src/math/turns.h"
#include "src/measure/ab.h"
#include "src/measure/backend.h"
#include "src/measure/case_buffers.h"
#include "src/measure/case_check.h"
#include "src/measure/device_speed.h"
#include "src/measure/labels.h"
#include "src/measure/memory.h"
#include "src/measure/plan.h"
#include "src/measure/profile.h"
#include "src/measure/stopwatch.h"
#include "src/measure/supported.h"
#include "src/measure/timed_fault.h"
#include "src/measure/watchdog.h"
#include "src/measure/watched_backend.h"

namespace rope_bench {
namespace {

// A GPU's round takes some ms, and its place in memory moves it by half a percent: as many rounds
// as fit this time, so that processes agree.
constexpr double kDefaultMinSecondsGpu = 0.45;
constexpr double kDefaultMaxSecondsGpu = 0.6;
constexpr double kDefaultMaxSecondsCpu = 2.0;

// Of a number of seconds.
std::string shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

// A row that ends before its kernel runs.
struct NotRun {
  Status status;
  std::string reason;
};

class CaseRunner : public Runner {
 public:
  explicit CaseRunner(std::unique_ptr<Backend> backend)
      : backend_(std::make_unique<WatchedBackend>(std::move(backend))), info_(backend_->info()) {}

  DeviceInfo device_info() override { return info_; }

  std::vector<Result> run(const std::vector<RopeCase>& cases, const RunOptions& options) override {
    std::vector<Row> rows;
    for (size_t i = 0; i < cases.size(); ++i) {
      for (const CacheMode cache : cases[i].measure.cache) rows.push_back({&cases[i], i, cache});
    }
    std::vector<Result> results;
    size_t at = 0;
    const auto keep = [&](Result result) {
      if (options.on_result) options.on_result(result, rows[at].index, cases.size());
      results.push_back(std::move(result));
    };
    std::optional<Watchdog> dog;
    if (options.on_hang) {
      dog.emplace(options.interrupted, [&](Watchdog::Why why) {
        if (why == Watchdog::Why::kTimeout) {
          keep(hung(rows[at]));
          while (++at < rows.size()) keep(*run_row(*rows[at].rope_case, rows[at].cache, options));
        }
        options.on_hang(why == Watchdog::Why::kInterrupted);
      });
    }
    const Watched watched(*this, dog ? &*dog : nullptr);
    for (; at < rows.size() && !interrupted(options); ++at) {
      const RopeCase& c = *rows[at].rope_case;
      const bool first = at == 0 || rows[at - 1].index != rows[at].index;
      if (first && options.on_start) options.on_start(c, rows[at].index, cases.size());
      if (dog) dog->set_timeout(c.measure.timeout_s.value_or(kDefaultTimeoutSeconds));
      std::optional<Result> result = run_row(c, rows[at].cache, options);
      if (!result) break;  // interrupted
      keep(std::move(*result));
    }
    return results;
  }

 private:
  struct Row {
    const RopeCase* rope_case;
    size_t index;  // of its case
    CacheMode cache;
  };

  // The device is watched while one exists.
  class Watched {
   public:
    Watched(CaseRunner& runner, Watchdog* dog)
        : backend_(static_cast<WatchedBackend&>(*runner.backend_)) {
      backend_.watch_with(dog);
    }
    ~Watched() { backend_.watch_with(nullptr); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    WatchedBackend& backend_;
  };

  // The row whose kernel does not come back; from then on nothing runs.
  Result hung(const Row& row) {
    const RopeCase& c = *row.rope_case;
    Result result;
    result.rope_case = c;
    result.device = info_.device;
    result.cache = row.cache;
    result.bytes = bytes_of(c, uses_table(c));
    result.status = Status::kError;
    result.reason = "hung: the device did not answer within measure.timeout_s, " +
                    shortest(c.measure.timeout_s.value_or(kDefaultTimeoutSeconds)) + " s";
    lost_ = "the device hung in " + c.name;
    return result;
  }

  // Every way in which a row can end becomes its status; the run goes on with the next.
  std::optional<Result> run_row(const RopeCase& c, CacheMode cache, const RunOptions& options) {
    Result result;
    result.rope_case = c;
    result.device = info_.device;
    result.cache = cache;
    const auto end = [&](Status status, const std::string& reason) {
      result.status = status;
      result.reason = reason;
      return result;
    };
    try {
      if (!c.skip_reason.empty()) return end(Status::kSkipped, c.skip_reason);
      result.bytes = bytes_of(c, uses_table(c));
      if (!lost_.empty()) return end(Status::kError, "not run: " + lost_);
      if (!check_and_measure(c, options, &result)) return std::nullopt;
      return result;
    } catch (const NotRun& refusal) {
      return end(refusal.status, refusal.reason);
    } catch (const OutOfMemory& error) {
      return end(Status::kOutOfMemory, std::string("not enough ") + error.what());
    } catch (const std::bad_alloc&) {
      return end(Status::kOutOfMemory, "not enough host memory");
    } catch (const ConfigError& error) {
      return end(Status::kSkipped, error.what());
    } catch (const DeviceError& error) {
      note_if_lost(c);
      return end(Status::kError, error.what());
    }
  }

  // A device that does not even synchronise any more runs nothing else.
  void note_if_lost(const RopeCase& c) {
    try {
      backend_->synchronize();
    } catch (const DeviceError&) {
      lost_ = "the device's context was lost in " + c.name;
    }
  }

  // The table of contents of a row. False: interrupted.
  bool check_and_measure(const RopeCase& c, const RunOptions& options, Result* result) {
    if (const std::string reason = why_unsupported(c); !reason.empty())
      throw NotRun{Status::kUnsupported, reason};
    const RopeVariant& variant = find_variant(c, c.variant);
    const RopeVariant* base = options.against ? &find_variant(c, options.against->base) : nullptr;
    if (c.num_real_tokens() == 0) {
      result->status = options.check && !options.profile ? Status::kPassed : Status::kUnchecked;
      return true;
    }
    const bool reads_table = variant.uses_table != 0 || (base && base->uses_table != 0);
    require_host_memory(c, reads_table, *backend_);
    const TokenRows rows = token_rows_of(c);
    const std::shared_ptr<const CosSinTable> table = table_of(c, variant);
    if (base && table_of(c, *base) != table) {
      throw NotRun{Status::kUnsupported, std::string("variants ") + base->name + " and " +
                                             variant.name + " compute other angles"};
    }
    const Plan plan = options.profile   ? Plan{}
                      : options.measure ? plan_of(c, reads_table, result, rows, options.slow_every)
                                        : Plan{1, true, 1, 1};
    require_device_memory(c, *backend_,
                          layout_of(c, reads_table, table_rows_used(rows), plan.own_tables),
                          plan.num_sets + plan.scratch_sets);
    CaseBuffers buffers(*backend_, c, reads_table, *table, rows, plan.num_sets + plan.scratch_sets,
                        plan.own_tables);
    const RopeKernelArgs args = buffers.args(0);
    char reason[256] = "";
    for (const RopeVariant* row : {&variant, base}) {
      if (row && row->why_not(&args, reason, sizeof(reason)) != 0)
        throw NotRun{Status::kUnsupported, reason};
    }

    if (interrupted(options)) return false;
    result->status = Status::kUnchecked;
    if (options.profile) {
      profile_launch(*backend_, buffers, variant, result->cache);
      return true;
    }
    if (options.check) {
      const auto stop = [&] { return interrupted(options); };
      if (!check_case(*backend_, c, variant, *table, options.checks, buffers, stop, result))
        return false;
      // Time nothing that is wrong.
      if (result->status == Status::kFailed) return true;
    }
    if (base) {
      if (!measure_against(*base, variant, plan, buffers, options, result)) return false;
    } else if (options.measure) {
      if (!measure_row(c, variant, *table, plan, buffers, options, result)) return false;
    }
    if (is_identity(c, *table, rows)) result->labels.emplace_back("identity");
    if (options.check) check_damage(buffers, result);
    return true;
  }

  static bool interrupted(const RunOptions& options) {
    return options.interrupted && options.interrupted();
  }

  // Every sine in use is 0 (position 0): nothing turns, and a kernel that rotates nothing would
  // pass.
  static bool is_identity(const RopeCase& c, const CosSinTable& table, const TokenRows& rows) {
    if (has_norm(c)) return false;
    const int64_t half = table.rotary_dim / 2;
    return std::all_of(rows.table_rows.begin(), rows.table_rows.end(), [&](int64_t position) {
      if (position < 0) return true;
      const float* sines = &table.values[static_cast<size_t>(position * table.rotary_dim + half)];
      return std::all_of(sines, sines + half, [](float sine) { return sine == 0; });
    });
  }

  const RopeVariant& find_variant(const RopeCase& c, const std::string& variant) const {
    for (const RopeVariant& row : backend_->variants()) {
      if (row.op == static_cast<int32_t>(c.op) && row.name == variant) return row;
    }
    throw NotRun{Status::kUnsupported, std::string("no variant ") + variant + " of op " +
                                           name(c.op) + " on " + info_.device};
  }

  // Of the variant that the case names; a row without one reads no table either way.
  bool uses_table(const RopeCase& c) const {
    const auto rows = backend_->variants();
    return std::none_of(rows.begin(), rows.end(), [&](const RopeVariant& row) {
      return row.op == static_cast<int32_t>(c.op) && row.name == c.variant && row.uses_table == 0;
    });
  }

  // What the kernel reads; of a variant that forms its own angles what it is judged by: exact
  // angles, whatever the case's table would hold.
  std::shared_ptr<const CosSinTable> table_of(const RopeCase& c, const RopeVariant& variant) {
    if (variant.uses_table != 0) return tables_.get(c, available_threads());
    RopeCase exact = c;
    exact.rope.table.angle = TableAngle::kExact;
    exact.rope.table.dtype = Dtype::kF32;
    std::shared_ptr<const CosSinTable> table = tables_.get(exact, available_threads());
    if (const std::string reason = why_no_turns(c, table->frequencies); !reason.empty())
      throw NotRun{Status::kUnsupported, std::string("variant ") + variant.name + ": " + reason};
    return table;
  }

  Plan plan_of(const RopeCase& c, bool uses_table, const Result* result, const TokenRows& rows,
               int slow_every) {
    measure_device_once();
    PlanInput input;
    input.bytes = result->bytes;
    input.own = layout_of(c, uses_table, table_rows_used(rows), true);
    input.shared = layout_of(c, uses_table, table_rows_used(rows), false);
    input.set_budget = backend_->set_budget();
    input.cache_bytes = info_.l2_bytes;
    input.peak_gb_s = *info_.measured_peak_gb_s;
    input.floor_s = *info_.floor_us * 1e-6;
    input.cache = result->cache;
    input.is_host = backend_->is_host();
    input.slow_every = slow_every;
    const Plan plan = make_plan(input);
    if (plan.slow_every != slow_every) {
      throw NotRun{Status::kUnsupported, "too few sets of buffers fit for windows of " +
                                             std::to_string(slow_every) +
                                             " launches, which the planted slowdown needs"};
    }
    return plan;
  }

  // Also brings the clocks up before the first case.
  void measure_device_once() {
    if (info_.measured_peak_gb_s) return;
    info_.measured_peak_gb_s = measure_peak(*backend_);
    const Floor floor = measure_floor(*backend_);
    info_.floor_us = floor.slope * 1e6;
    info_.floor_isolated_us = floor.isolated * 1e6;
    info_.floor_host_launch_us = floor.host * 1e6;
  }

  bool measure_against(const RopeVariant& base, const RopeVariant& variant, const Plan& plan,
                       CaseBuffers& buffers, const RunOptions& options, Result* result) {
    AbOptions how;
    how.cache = result->cache;
    how.rounds = options.against->rounds;
    how.judge = options.check;
    how.interrupted = options.interrupted;
    const std::optional<AbMeasurement> measured =
        measure_ab(*backend_, buffers, base, variant, plan, how);
    if (!measured) return false;
    if (measured->b_wrong_units > 0) {
      fail(result, "timed launches are wrong in " + std::to_string(measured->b_wrong_units) +
                       " pairs or elements");
    }
    if (options.against->on_measured) options.against->on_measured(*measured);
    return true;
  }

  bool measure_row(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                   const Plan& plan, CaseBuffers& buffers, const RunOptions& options,
                   Result* result) {
    MeasureOptions how;
    how.cache = result->cache;
    how.stop.precision = c.measure.precision;
    const bool is_host = backend_->is_host();
    how.stop.max_time_s =
        c.measure.max_time_s.value_or(is_host ? kDefaultMaxSecondsCpu : kDefaultMaxSecondsGpu);
    const double min_time_s = is_host ? 0 : std::min(kDefaultMinSecondsGpu, how.stop.max_time_s);
    how.stop.min_time_s = c.measure.min_time_ms ? *c.measure.min_time_ms * 1e-3 : min_time_s;
    how.judge = options.check;
    how.interrupted = options.interrupted;
    std::optional<TimedFault> fault;
    how.on_wrong = [&](int set, int repeats) {
      if (!fault) fault = look_at_timed(c, variant, table, buffers, set, repeats);
    };
    std::optional<Measurement> measured =
        rope_bench::measure(*backend_, buffers, variant, plan, how);
    if (!measured) return false;
    if (measured->wrong_units > 0) {
      fail(result,
           "timed launches are wrong in " + std::to_string(measured->wrong_units) +
               " pairs or elements" + (fault->where.empty() ? "" : ": " + fault->where),
           fault->diagnosis);
    }
    if (measured->timing.num_rounds == 0) {
      if (result->status != Status::kFailed)
        result->reason = "not measured: no round gave a positive time, the device is too busy";
      result->labels.emplace_back("unstable");
      result->label_reasons.emplace_back("unstable", "no round gave a positive time");
      return true;
    }
    Timing& t = measured->timing;
    t.bandwidth_gb_s = static_cast<double>(result->bytes.total()) / (t.median_us * 1e-6) / 1e9;
    t.percent_of_measured_peak = 100 * t.bandwidth_gb_s / *info_.measured_peak_gb_s;
    if (info_.theoretical_peak_gb_s) {
      t.percent_of_theoretical_peak = 100 * t.bandwidth_gb_s / *info_.theoretical_peak_gb_s;
    }
    // GB/s x us = 1000 bytes.
    t.t_sol_us =
        std::max(static_cast<double>(result->bytes.total()) / *info_.measured_peak_gb_s * 1e-3,
                 *info_.floor_us);
    t.percent_of_t_sol = 100 * *t.t_sol_us / t.median_us;
    result->timing = t;
    const std::vector<Label> labels = labels_of({t, result->bytes, result->cache, plan.num_sets,
                                                 info_, backend_->is_host(), c.measure.precision});
    std::vector<std::string> names;
    for (const Label& label : labels) {
      names.push_back(label.name);
      if (!label.reason.empty()) result->label_reasons.emplace_back(label.name, label.reason);
    }
    result->labels.insert(result->labels.begin(), names.begin(), names.end());
    if (plan.slow_every > 0) {
      const double percent = 100.0 / plan.slow_every;
      result->timing->injected_slowdown_percent = percent;
      result->labels.emplace_back("slowed");
      result->label_reasons.emplace_back(
          "slowed", "one launch on scratch buffers is timed with every " +
                        std::to_string(plan.slow_every) + ": " + shortest(percent) +
                        " % more than the kernel takes");
    }
    return true;
  }

  std::unique_ptr<Backend> backend_;
  DeviceInfo info_;
  TableCache tables_;
  std::string lost_;  // why nothing can run any more
};

}  // namespace

std::unique_ptr<Runner> make_runner(std::unique_ptr<Backend> backend) {
  return std::make_unique<CaseRunner>(std::move(backend));
}

}  // namespace rope_bench
