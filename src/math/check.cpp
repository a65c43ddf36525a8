// Comparison of a kernel's output with the reference: blocks of tokens on threads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"
#include "src/math/angles.h"
#include "src/math/reference.h"
#include "src/math/row_judge.h"
#include "src/math/tolerance.h"

namespace rope_bench {
namespace {

using judging::Operand;
using judging::RowJudge;
using judging::Tally;
using judging::TokenAngles;

template <Dtype kDtype>
Tally check_rows(const RopeCase& c, bool uses_table, const CosSinTable& table,
                 const std::vector<int64_t>& positions, const std::vector<Operand>& operands,
                 int num_threads) {
  const int64_t r = c.rope.rotary_dim;
  const int64_t num_tokens = static_cast<int64_t>(positions.size());
  // Few enough blocks that their tallies stay small, whatever the number of tokens.
  const int64_t block = std::max<int64_t>(8, num_tokens / 4096);
  std::vector<Tally> blocks(static_cast<size_t>((num_tokens + block - 1) / block));
  const AngleRows exact_rows(table.frequencies, TableAngle::kExact, table.rule);
  parallel_for(num_threads, num_tokens, block, [&](int64_t begin, int64_t end) {
    RowJudge<kDtype> judge(c, uses_table, table.frequencies.attention_factor);
    TokenAngles angles;
    angles.judged.resize(static_cast<size_t>(r));
    angles.exact.resize(static_cast<size_t>(r));
    for (int64_t token = begin; token < end; ++token) {
      const int64_t position = positions[token];
      exact_rows.row(position, angles.exact.data(), angles.exact.data() + r / 2);
      if (uses_table) {
        std::copy_n(table.values.data() + position * r, r, angles.judged.data());
      } else {
        angles.judged = angles.exact;
      }
      for (const Operand& operand : operands) {
        for (int64_t head = 0; head < operand.heads; ++head) {
          judge.judge({&operand, token, head}, angles, &blocks[token / block]);
        }
      }
    }
  });
  Tally all;
  for (const Tally& one : blocks) all.add(one);
  return all;
}

void require_rows(const CosSinTable& table, const RopeCase& c,
                  const std::vector<int64_t>& positions) {
  if (table.rotary_dim != c.rope.rotary_dim) {
    throw DeviceError(fmt::format("the cos-sin table has {} pairs, rotary_dim / 2 is {}",
                                  table.rotary_dim / 2, c.rope.rotary_dim / 2));
  }
  for (size_t t = 0; t < positions.size(); ++t) {
    if (positions[t] < 0 || positions[t] >= table.rows) {
      throw DeviceError(fmt::format("position {} outside the table's {} rows at token {}",
                                    positions[t], table.rows, t));
    }
  }
}

}  // namespace

Accuracy check_rope(const RopeCase& c, bool uses_table, const CosSinTable& table,
                    const std::vector<int64_t>& positions, const RopeTensors& tensors,
                    int num_threads) {
  require_rows(table, c, positions);
  const std::vector<Operand> operands = {
      {"q", tensors.q_in, tensors.q_out, c.num_heads, c.layout.q.rotary_offset},
      {"k", tensors.k_in, tensors.k_out, c.num_kv_heads, c.layout.k.rotary_offset},
  };
  const auto check = c.dtype == Dtype::kF32   ? check_rows<Dtype::kF32>
                     : c.dtype == Dtype::kF16 ? check_rows<Dtype::kF16>
                                              : check_rows<Dtype::kBF16>;
  const Tally all = check(c, uses_table, table, positions, operands, num_threads);

  Accuracy accuracy;
  accuracy.max_ulp = all.max_ulp;
  accuracy.tolerance_ulp = rotation_tolerance_ulp(c.dtype);
  accuracy.max_bound_ratio = all.max_ratio;
  accuracy.num_over = all.num_over;
  accuracy.kernel_max_abs = all.max_abs;
  accuracy.total_max_abs = all.total_max_abs;
  if (all.count > 0) {
    accuracy.kernel_rms = std::sqrt(all.sum_error2 / static_cast<double>(all.count));
  }
  if (all.sum_want2 > 0) accuracy.kernel_nmse = all.sum_error2 / all.sum_want2;
  accuracy.worst = all.worst;
  if (uses_table) {
    const TableError error = table_error(table, positions, num_threads);
    accuracy.table_max_abs = error.max_abs;
    accuracy.table_tolerance = error.tolerance;
  }
  return accuracy;
}

}  // namespace rope_bench
