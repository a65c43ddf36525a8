#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/thread_pool.h"
#include "src/math/angles.h"
#include "src/math/convert.h"
#include "src/math/table.h"

namespace rope_bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The model of a table, per element, with af the attention factor (derivation:
// docs/validation.md):
//   one rounding to the table's dtype    2^-(m + 1) af, since |value| <= af
//   float32 angles, in addition          af position (|inv32 - inv| + 2^-23 inv), and the second
//                                        order of the same
// The recipe's own frequency error |inv32 - inv| is a property of the model, not of the table;
// above 2^-16 inv it is no rounding any more and is not excused.
struct Allowance {
  double rounding;
  std::vector<double> per_position;  // rad of angle error per position, by pair; float32 only

  Allowance(const CosSinTable& table, const std::vector<long double>& exact,
            const std::vector<float>& float32)
      : rounding(pow2(-(info(table.dtype).mantissa_bits + 1)) *
                 std::abs(table.frequencies.attention_factor)),
        per_position(exact.size(), 0.0) {
    if (table.angle == TableAngle::kExact) return;
    for (size_t i = 0; i < exact.size(); ++i) {
      const double inv = std::abs(static_cast<double>(exact[i]));
      const double delta = static_cast<double>(std::abs(float32[i] - exact[i]));
      per_position[i] = (std::min(delta, 0x1p-16 * inv) + 0x1p-23 * inv) * (1 + 0x1p-20);
    }
  }
};

struct Worst {
  double error = 0, tolerance = 0;  // of the largest error
  double over_ratio = 1;            // of the element furthest beyond its allowance
  double over_error = 0, over_tolerance = 0;
};

class TableJudge {
 public:
  explicit TableJudge(const CosSinTable& table)
      : table_(table), exact_(table.frequencies, TableAngle::kExact, table.rule) {
    const Frequencies& f = table.frequencies;
    parts_.push_back(Allowance(table, f.exact, f.float32));
    for (const FrequencySegment& s : f.segments) {
      parts_.push_back(Allowance(table, s.exact, s.float32));
    }
  }

  void judge(int64_t row, std::vector<double>* scratch, Worst* worst) const {
    const int64_t pairs = exact_.num_pairs();
    exact_.row(row, scratch->data(), scratch->data() + pairs);
    const float* values = table_.values.data() + row * 2 * pairs;
    const double af = std::abs(table_.frequencies.attention_factor);
    for (int64_t j = 0; j < 2 * pairs; ++j) {
      const double difference = std::abs(values[j] - (*scratch)[j]);
      const double error = std::isnan(difference) ? kInfinity : difference;
      const int64_t pair = j < pairs ? j : j - pairs;
      const AngleRows::Place place = exact_.place(row, pair);
      const Allowance& allowance = parts_[place.part];
      const double angle = static_cast<double>(place.position) * allowance.per_position[pair];
      const double tolerance = allowance.rounding + af * angle;
      if (error > worst->error) {
        worst->error = error;
        worst->tolerance = tolerance;
      }
      if (error > tolerance * worst->over_ratio) {
        worst->over_ratio = error / tolerance;
        worst->over_error = error;
        worst->over_tolerance = tolerance;
      }
    }
  }

 private:
  const CosSinTable& table_;
  AngleRows exact_;
  std::vector<Allowance> parts_;
};

}  // namespace

TableError table_error(const CosSinTable& table, const std::vector<int64_t>& given,
                       int num_threads) {
  std::vector<int64_t> rows = given;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const TableJudge judge(table);
  const int64_t n = static_cast<int64_t>(rows.size());
  const int64_t block = std::max<int64_t>(64, n / 1024);
  std::vector<Worst> blocks(static_cast<size_t>((n + block - 1) / block));
  parallel_for(num_threads, n, block, [&](int64_t begin, int64_t end) {
    std::vector<double> scratch(static_cast<size_t>(table.rotary_dim));
    for (int64_t i = begin; i < end; ++i) judge.judge(rows[i], &scratch, &blocks[i / block]);
  });
  Worst all;
  for (const Worst& one : blocks) {
    if (one.error > all.error || all.tolerance == 0) {
      all.error = one.error;
      all.tolerance = one.tolerance;
    }
    if (one.over_ratio > all.over_ratio) {
      all.over_ratio = one.over_ratio;
      all.over_error = one.over_error;
      all.over_tolerance = one.over_tolerance;
    }
  }
  if (all.over_ratio > 1) return {all.over_error, all.over_tolerance};
  return {all.error, all.tolerance};
}

}  // namespace rope_bench
