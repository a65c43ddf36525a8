#include "tests/report/sample.h"

#include <fstream>
#include <limits>
#include <sstream>

namespace rope_bench {
namespace {

Result base_row(const std::string& name, int64_t tokens) {
  Result row;
  RopeCase& c = row.rope_case;
  c.name = name;
  c.config = "sample";
  c.num_heads = 32;
  c.num_kv_heads = 8;
  c.head_dim = 128;
  c.max_position = 4096;
  c.rope.rotary_dim = 128;
  c.tokens = tokens;
  row.device = "cuda:0";
  row.bytes = {tokens * 10240, tokens * 10240, tokens * 512, tokens * 4};
  return row;
}

}  // namespace

Result passed_row() {
  Result row = base_row("sample/tokens=4096", 4096);
  row.status = Status::kPassed;
  row.labels = {"hbm", "mixed"};
  Accuracy accuracy;
  accuracy.max_ulp = 0.5078125;
  accuracy.tolerance_ulp = 1.000030517578125;
  accuracy.max_bound_ratio = 0.5;
  accuracy.kernel_max_abs = 1.785e-08;
  accuracy.kernel_rms = 1e-09;
  accuracy.kernel_nmse = 0;
  accuracy.table_max_abs = 2.9802322387695312e-08;
  accuracy.table_tolerance = 5.9604644775390625e-08;
  accuracy.total_max_abs = 0.015625;
  WorstElement worst;
  worst.tensor = "q";
  worst.token = 17;
  worst.head = 3;
  worst.dim = 64;
  worst.got = 1.25;
  worst.want = 1.2578125;
  worst.ulp = 0.5078125;
  worst.bound_ratio = 0.5;
  worst.x = 1.5;
  worst.y = -0.75;
  worst.cosine = 0.875;
  worst.sine = 0.0625;
  accuracy.worst = worst;
  WorstElement alone = worst;  // a dim that does not rotate
  alone.dim = 127;
  alone.bound_ratio = 0.25;
  alone.y = alone.cosine = alone.sine = std::nullopt;
  accuracy.worst_elements = {worst, alone};
  accuracy.num_compared = 4;
  accuracy.num_correctly_rounded = 3;
  accuracy.ulp_histogram.counts = {1, 0, 2, 0, 0, 0, 1};
  accuracy.num_tokens_compared = 4096;
  row.accuracy = accuracy;
  row.invariants = {{"norms_kept", Holds::kHeld, 0.5, 0.75, ""},
                    {"positions_add", Holds::kNotApplicable, 0, 0, "a norm changes lengths"}};
  Timing timing;
  timing.median_us = 22.25;
  timing.ci_low_us = 22.125;
  timing.ci_high_us = 22.5;
  timing.p5_us = 22;
  timing.p95_us = 23;
  timing.min_us = 21.875;
  timing.isolated_us = 26.5;
  timing.num_rounds = 31;
  timing.num_launches = 1234567;
  timing.stopped_by = "precision";
  timing.limit_us = 21.5;
  timing.limit_variant = "stream16x256";
  timing.round_times_us = {22, 22.25, 23};
  timing.round_limits_us = {21.5, 21.25, 21.75};
  timing.limit_ratio = 0.9662921348314607;
  timing.bandwidth_gb_s = 1234567.5;
  timing.percent_of_measured_peak = 12.0;
  timing.num_sets = 4;
  timing.mad_us = 0.0625;
  timing.first_tenth_us = 22.1875;
  timing.last_tenth_us = 22.3125;
  timing.num_dropped = 3;
  timing.dropped_reason = "3 of 34 rounds more than 2 % under the highest clock";
  timing.sm_clock_mhz = 1980;
  timing.memory_clock_mhz = 3201;
  timing.t_sol_us = 21.25;
  timing.percent_of_t_sol = 95.5;
  timing.injected_slowdown_percent = 5;
  row.label_reasons = {{"mixed", "all sets together take 80 % of the last-level cache"}};
  row.timing = timing;
  return row;
}

Result failed_row() {
  Result row = passed_row();
  row.rope_case.name = "sample/tokens=64";
  row.rope_case.tokens = 64;
  row.rope_case.dtype = Dtype::kF32;
  row.cache = CacheMode::kWarm;
  row.status = Status::kFailed;
  row.reason = "2 of 327680 elements are over their bound";
  row.labels.clear();
  row.label_reasons.clear();
  row.timing.reset();
  row.accuracy->max_ulp = std::numeric_limits<double>::infinity();
  row.accuracy->max_bound_ratio = std::numeric_limits<double>::infinity();
  row.accuracy->num_over = 2;
  row.accuracy->worst->got = std::numeric_limits<double>::quiet_NaN();
  row.accuracy->worst->y = row.accuracy->worst->cosine = row.accuracy->worst->sine = std::nullopt;
  row.accuracy->reference_angle = TableAngle::kFloat32;
  row.accuracy->sampled = true;
  row.accuracy->num_tokens_compared = 16;
  row.invariants.clear();
  row.diagnosis = {"negated_sin", "a rotation the other way: negated sines (in k alone)"};
  return row;
}

Result unsupported_row() {
  Result row = base_row("sample/\"quoted\", name", 1);
  row.status = Status::kUnsupported;
  row.reason = "variant \"fast\" has no op, yet\nsecond line";
  return row;
}

Result empty_row() {
  Result row = base_row("sample/tokens=0", 0);
  row.status = Status::kPassed;
  row.rope_case.seed = 18446744073709551615u;
  return row;
}

RunReport sample_report() {
  RunReport report;
  report.device.device = "cuda:0";
  report.device.model = "NVIDIA H200";
  report.device.details = {{"driver", "580.1"}};
  report.device.theoretical_peak_gb_s = 4800;
  report.device.measured_peak_gb_s = 4375.5;
  report.device.floor_us = 0.875;
  report.device.floor_isolated_us = 4.25;
  report.device.floor_host_launch_us = 1.5;
  report.device.l2_bytes = 62914560;
  report.device.memory_bytes = 150754820096;
  report.config_text = R"({"name": "sample", "tokens": [0, 1, 64, 4096]})";
  report.command_line = {"rope-bench", "--config", "sample"};
  report.results = {passed_row(), failed_row(), unsupported_row(), empty_row()};
  report.notes = {"a note"};
  return report;
}

ReportContext sample_context() {
  ReportContext context;
  context.tool.version = "1.2.3";
  context.tool.commit = "0123456789ab";
  context.tool.compiler = "GNU 12.2.0";
  context.started_utc = "2025-01-31T12:00:00Z";
  return context;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace rope_bench
