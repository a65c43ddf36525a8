#include "src/cli/gate_binaries.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fmt/format.h"
#include "src/case/errors.h"
#include "src/cli/child.h"
#include "src/compare/likeness.h"
#include "src/measure/runner.h"

namespace rope_bench {
namespace {

std::optional<double> log_of(const ResultRow& row, Field field) {
  const std::optional<double> value = row.value(field);
  return value ? std::optional(std::log(*value)) : std::nullopt;
}

// What one run of a binary says of a case: logarithms of what is judged and of time.
struct Sample {
  std::optional<double> ratio, time;
};

struct Samples {
  std::vector<Sample> base, now;
};

// Mean difference of the two pairs of a round; nullopt where one of the four lacks it.
std::optional<double> difference(const Samples& s, size_t round,
                                 std::optional<double> Sample::*what) {
  double sum = 0;
  for (size_t i = 2 * round; i < 2 * round + 2; ++i) {
    if (!(s.base[i].*what) || !(s.now[i].*what)) return std::nullopt;
    sum += *(s.now[i].*what) - *(s.base[i].*what);
  }
  return sum / 2;
}

double median_us(const std::vector<Sample>& samples) {
  std::vector<double> times;
  for (const Sample& s : samples) {
    if (s.time) times.push_back(std::exp(*s.time));
  }
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[times.size() / 2];
}

class Session {
 public:
  void add(const ResultsFile& file, bool is_base) {
    for (const ResultRow& row : file.rows) {
      const std::string key = identity_of(row);
      if (!samples_.contains(key)) {
        order_.push_back(key);
        GateCase& c = cases_[key];
        c.name = row[Field::kName];
        c.variant = row[Field::kVariant];
        c.dtype = row[Field::kDtype];
        c.cache = row[Field::kCache];
        c.no_tokens = row[Field::kNumTokens] == "0";
      }
      GateCase& c = cases_[key];
      c.wrong |= !is_base && row[Field::kStatus] == "failed";
      c.error |= !is_base && row[Field::kStatus] == "error";
      if (!row[Field::kReason].empty()) c.reason = row[Field::kReason];
      Samples& s = samples_[key];
      (is_base ? s.base : s.now)
          .push_back({log_of(row, Field::kLimitRatio), log_of(row, Field::kTimeMedian)});
    }
  }

  std::vector<GateCase> cases(size_t rounds, bool by_ratio) {
    std::vector<GateCase> all;
    for (const std::string& key : order_) {
      const Samples& s = samples_[key];
      GateCase& c = cases_[key];
      if (s.base.size() != 2 * rounds || s.now.size() != 2 * rounds) {
        if (c.reason.empty()) c.reason = "not in every run";
      } else {
        for (size_t round = 0; round < rounds; ++round) {
          // A rising ratio is a falling time.
          const auto ratio = by_ratio ? difference(s, round, &Sample::ratio) : std::nullopt;
          const auto time = difference(s, round, &Sample::time);
          if (ratio) {
            c.log_ratios.push_back(-*ratio);
          } else if (time) {
            c.log_ratios.push_back(*time);
          }
        }
        if (c.log_ratios.empty() && c.reason.empty() && !c.no_tokens) c.reason = "no times";
      }
      c.base_us = median_us(s.base);
      c.new_us = median_us(s.now);
      all.push_back(c);
    }
    return all;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, GateCase> cases_;
  std::map<std::string, Samples> samples_;
};

std::string family_of(const ResultsFile& file) {
  return file.rows.empty() ? "" : file.rows.front()[Field::kLimitFamilyVersion];
}

void require_alike(const ResultsFile& base, const ResultsFile& now) {
  const std::vector<std::string> unlike = differences(base, now, match_rows(base, now, false));
  if (!unlike.empty()) {
    throw ConfigError(fmt::format("the two do not measure the same thing: {}", unlike.front()));
  }
}

}  // namespace

std::optional<ResultsFile> run_for_results(const std::string& program,
                                           const std::vector<std::string>& cases,
                                           double most_seconds) {
  std::vector<std::string> args = {"run", "-q", "-o", "json"};
  args.insert(args.end(), cases.begin(), cases.end());
  const std::optional<ChildResult> child = run_child(program, args, most_seconds);
  if (!child) return std::nullopt;
  if (child->out.empty()) {
    throw ConfigError(
        fmt::format("{} wrote no results; it ended with {}", program, child->exit_code));
  }
  return parse_results(fmt::format("results of {}", program), child->out);
}

double most_seconds_of(const std::vector<RopeCase>& cases) {
  constexpr double kStartSeconds = 60,
                   kMeasuredSeconds = 2;  // the default of a CPU, the longer one
  double seconds = kStartSeconds;
  for (const RopeCase& c : cases) {
    const double measured = std::max(c.measure.max_time_s.value_or(kMeasuredSeconds),
                                     c.measure.min_time_ms.value_or(0) * 1e-3);
    const double row = c.measure.timeout_s.value_or(kDefaultTimeoutSeconds) + 2 * measured;
    seconds += row * static_cast<double>(c.measure.cache.size());
  }
  return seconds;
}

std::vector<GateCase> run_binaries(const BinaryPair& pair, int64_t rounds) {
  Session session;
  bool by_ratio = true;
  for (int64_t round = 0; round < rounds; ++round) {
    std::optional<ResultsFile> last[2];
    for (int i = 0; i < 4; ++i) {
      const bool inner = i == 1 || i == 2;
      const bool is_base = inner == (round % 2 == 1);
      std::optional<ResultsFile>& file = last[is_base ? 0 : 1];
      std::vector<std::string> args = pair.cases;
      if (!is_base) args.insert(args.end(), pair.only_now.begin(), pair.only_now.end());
      file = run_for_results(is_base ? pair.base : pair.now, args, pair.most_seconds);
      if (!file) return {};
      session.add(*file, is_base);
    }
    if (round == 0) {
      require_alike(*last[0], *last[1]);
      by_ratio = family_of(*last[0]) == family_of(*last[1]);
    }
  }
  return session.cases(static_cast<size_t>(rounds), by_ratio);
}

std::vector<std::string> case_arguments(const CaseOptions& cases, const std::string& device) {
  std::vector<std::string> args = {"--device", device};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) args.insert(args.end(), {flag, value});
  };
  add("--config", cases.config);
  for (const std::string& file : cases.hf) add("--hf", file);
  for (const std::string& set : cases.overrides.set) add("--set", set);
  for (const std::string& axis : cases.overrides.axis) add("--axis", axis);
  add("--filter", cases.filter);
  add("--shard", cases.shard);
  if (cases.overrides.seed) add("--seed", fmt::format("{}", *cases.overrides.seed));
  if (cases.seq_len) add("--seq-len", fmt::format("{}", *cases.seq_len));
  return args;
}

std::string filter_of(const std::vector<std::string>& names) {
  std::string filter = "^(";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) filter += '|';
    for (const char c : names[i]) {
      if (std::string("^$\\.*+?()[]{}|").find(c) != std::string::npos) filter += '\\';
      filter += c;
    }
  }
  return filter + ")$";
}

}  // namespace rope_bench
