// Comparison of a launch's output with the reference: blocks of tokens on threads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"
#include "src/case/token_rows.h"
#include "src/math/angles.h"
#include "src/math/convert.h"
#include "src/math/operands.h"
#include "src/math/reference.h"
#include "src/math/row_judge.h"
#include "src/math/tolerance.h"

namespace rope_bench {
namespace {

using judging::Operand;
using judging::OpRules;
using judging::RowJudge;
using judging::Tally;
using judging::TokenAngles;

// cos and sin of one token at a time, and what a variant without a table may be off.
class AngleSource {
 public:
  AngleSource(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table)
      : table_(table),
        uses_table_(variant.uses_table != 0),
        backward_(c.op == Op::kRopeBackward || c.op == Op::kSplitRopeBackward),
        exact_(table.frequencies, TableAngle::kExact, table.rule),
        error_(error_model::angle_error(uses_table_, variant.precision)) {}

  void at(int64_t row, TokenAngles* angles) const {
    const int64_t r = table_.rotary_dim;
    angles->judged.resize(static_cast<size_t>(r));
    angles->exact.resize(static_cast<size_t>(r));
    angles->allowance.assign(static_cast<size_t>(r / 2), 0.0);
    exact_.row(row, angles->exact.data(), angles->exact.data() + r / 2);
    if (uses_table_) {
      std::copy_n(table_.values.data() + row * r, r, angles->judged.data());
    } else {
      angles->judged = angles->exact;
      allow(row, &angles->allowance);
    }
    if (!backward_) return;
    for (std::vector<double>* values : {&angles->judged, &angles->exact})
      for (int64_t i = r / 2; i < r; ++i) (*values)[i] = -(*values)[i];
  }

 private:
  void allow(int64_t row, std::vector<double>* allowance) const {
    const Frequencies& f = table_.frequencies;
    for (size_t i = 0; i < allowance->size(); ++i) {
      const AngleRows::Place place = exact_.place(row, static_cast<int64_t>(i));
      const auto& exact = place.part == 0 ? f.exact : f.segments[place.part - 1].exact;
      const double radians =
          static_cast<double>(place.position) * std::abs(static_cast<double>(exact[i]));
      (*allowance)[i] =
          std::abs(f.attention_factor) * (error_.absolute + error_.per_radian * radians);
    }
  }

  const CosSinTable& table_;
  bool uses_table_, backward_;
  AngleRows exact_;
  error_model::AngleError error_;
};

template <Dtype kDtype>
Tally check_rows(const OpRules& rules, const AngleSource& source, const TokenRows& rows,
                 const std::vector<Operand>& operands, const RopeKernelArgs& launch,
                 std::span<const int64_t> tokens, int num_threads) {
  using Storage = typename Element<kDtype>::Storage;
  const auto num_tokens =
      static_cast<int64_t>(tokens.empty() ? rows.table_rows.size() : tokens.size());
  // Few enough blocks that their tallies stay small, whatever the number of tokens.
  const int64_t block = std::max<int64_t>(8, num_tokens / 4096);
  std::vector<Tally> blocks(static_cast<size_t>((num_tokens + block - 1) / block));
  int64_t most = 0;
  for (const Operand& o : operands) most = std::max(most, o.heads_per_span * o.count);
  parallel_for(num_threads, num_tokens, block, [&](int64_t begin, int64_t end) {
    RowJudge<kDtype> judge(rules, most);
    TokenAngles angles;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t token = tokens.empty() ? i : tokens[static_cast<size_t>(i)];
      if (rows.table_rows[token] < 0) continue;  // padding
      source.at(rows.table_rows[token], &angles);
      for (const Operand& o : operands) {
        const auto* in =
            static_cast<const Storage*>(o.tensor.in) + judging::in_start(launch, o.tensor, token);
        const auto* out = static_cast<const Storage*>(o.tensor.out) +
                          judging::out_start(launch, o.tensor, rows.out_rows[token]);
        for (int64_t head = 0; head < o.heads; head += o.heads_per_span) {
          judge.judge({&o, token, head, in + head * o.tensor.in_head_stride,
                       out + head * o.tensor.out_head_stride},
                      angles, &blocks[i / block]);
        }
      }
    }
  });
  Tally all;
  for (const Tally& one : blocks) all.add(one);
  return all;
}

void require_rows(const CosSinTable& table, const RopeCase& c, const TokenRows& rows) {
  if (table.rotary_dim != c.rope.rotary_dim) {
    throw DeviceError(fmt::format("the cos-sin table has {} pairs, rotary_dim / 2 is {}",
                                  table.rotary_dim / 2, c.rope.rotary_dim / 2));
  }
  for (int64_t t = 0; t < rows.sequence_tokens; ++t) {
    const int64_t row = rows.table_rows[t];
    const bool may_be_padding = c.op == Op::kVarlenSplitRope;
    if ((row < 0 && !may_be_padding) || row >= table.rows) {
      throw DeviceError(
          fmt::format("position {} outside the table's {} rows at token {}", row, table.rows, t));
    }
  }
}

}  // namespace

Accuracy check_launch(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                      const RopeKernelArgs& launch, int num_threads,
                      std::span<const int64_t> tokens) {
  const TokenRows rows = token_rows_of(c);
  require_rows(table, c, rows);
  const auto check = c.dtype == Dtype::kF32   ? check_rows<Dtype::kF32>
                     : c.dtype == Dtype::kF16 ? check_rows<Dtype::kF16>
                                              : check_rows<Dtype::kBF16>;
  const Tally all = check(judging::rules_of(c, variant.precision), AngleSource(c, variant, table),
                          rows, judging::operands_of(c, launch), launch, tokens, num_threads);

  Accuracy accuracy;
  accuracy.max_ulp = all.max_ulp;
  accuracy.tolerance_ulp = tolerance_ulp(c, variant.precision);
  accuracy.max_bound_ratio = all.max_ratio();
  accuracy.num_over = all.num_over;
  accuracy.kernel_max_abs = all.max_abs;
  accuracy.total_max_abs = all.total_max_abs;
  if (all.count > 0) {
    accuracy.kernel_rms = std::sqrt(all.sum_error2 / static_cast<double>(all.count));
  }
  if (all.sum_want2 > 0) accuracy.kernel_nmse = all.sum_error2 / all.sum_want2;
  accuracy.worst_elements = all.worst;
  if (!all.worst.empty()) accuracy.worst = all.worst.front();
  accuracy.num_compared = all.count;
  accuracy.num_correctly_rounded = all.correctly_rounded;
  accuracy.ulp_histogram = all.histogram;
  accuracy.sampled = !tokens.empty();
  accuracy.num_tokens_compared =
      tokens.empty() ? c.num_real_tokens() : static_cast<int64_t>(tokens.size());
  if (variant.uses_table != 0) {
    accuracy.reference_angle = table.angle;
    std::vector<int64_t> read = rows.table_rows;
    std::erase_if(read, [](int64_t row) { return row < 0; });
    const TableError error = table_error(table, read, num_threads);
    accuracy.table_max_abs = error.max_abs;
    accuracy.table_tolerance = error.tolerance;
  }
  return accuracy;
}

}  // namespace rope_bench
