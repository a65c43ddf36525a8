#include "src/cli/gate_variants.h"

#include <cstdio>
#include <cstdlib>

#include "fmt/format.h"
#include "src/case/errors.h"
#include "src/cli/interrupt.h"
#include "src/report/output.h"

namespace rope_bench {

std::vector<RopeCase> one_cache_each(const std::vector<RopeCase>& cases) {
  std::vector<RopeCase> rows;
  for (const RopeCase& c : cases) {
    for (const CacheMode cache : c.measure.cache) {
      rows.push_back(c);
      rows.back().measure.cache = {cache};
    }
  }
  return rows;
}

std::vector<GateCase> run_ab(Runner& runner, const std::vector<RopeCase>& cases, const AbRun& how) {
  std::vector<GateCase> rows;
  for (const RopeCase& c : cases) {
    if (interrupted()) break;
    GateCase row;
    row.name = c.name;
    row.variant = c.variant;
    row.dtype = info(c.dtype).name;
    row.no_tokens = c.num_real_tokens() == 0;
    row.cache = name(c.measure.cache.front());
    RunOptions options;
    options.check = how.check;
    options.slow_every = how.slow_every;
    options.against = AgainstVariant{how.base.empty() ? c.variant : how.base, how.rounds, {}};
    options.against->on_measured = [&](const AbMeasurement& m) {
      if (!m.a_us.empty()) {
        row.base_us = median(m.a_us);
        row.new_us = median(m.b_us);
      }
      if (m.a_wrong_units > 0) {
        row.reason = "the base computed a wrong result";
      } else {
        row.log_ratios = m.log_ratios;
      }
      if (how.on_measured) how.on_measured(rows.size(), m);
    };
    options.on_result = [&](const Result& result, size_t, size_t) {
      row.wrong = result.status == Status::kFailed;
      row.error = result.status == Status::kError;
      if (!result.reason.empty()) row.reason = result.reason;
    };
    options.interrupted = interrupted;
    options.on_hang = [&](bool was_interrupted) {
      write_stderr(fmt::format("rope-bench: {} in {}\n",
                               was_interrupted ? "interrupted" : "the device hung", c.name));
      std::fflush(nullptr);
      // Without destructors: those of CUDA would wait for the device.
      std::_Exit(static_cast<int>(was_interrupted ? ExitCode::kInterrupted : ExitCode::kInternal));
    };
    runner.run({c}, options);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rope_bench
