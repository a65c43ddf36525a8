#include "src/measure/parameters.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/thread_pool.h"
#include "kernels/kernel_api.h"
#include "src/case/axes.h"
#include "src/case/positions.h"
#include "src/math/inputs.h"
#include "src/math/turns.h"

namespace rope_bench {
namespace {

int64_t bias_elements(const RopeCase& c) {
  return has_bias(c) ? (c.num_heads + 2 * c.num_kv_heads) * c.head_dim : 0;
}

int64_t weight_elements(const RopeCase& c, int64_t heads) {
  if (!has_norm(c) || !c.norm.weight) return 0;
  return (c.norm.span_row ? heads : 1) * c.head_dim;
}

bool lists_out_rows(const RopeCase& c) {
  return is_padded(c) && position_source_of(c) != ROPE_POSITIONS_CU_SEQLENS;
}

std::vector<int32_t> narrowed(const std::vector<int64_t>& values) {
  return std::vector<int32_t>(values.begin(), values.end());
}

// What a kernel recovers positions from.
std::vector<int32_t> offsets_of(const std::vector<int64_t>& positions) {
  std::vector<int32_t> offsets;
  for (size_t t = 0; t < positions.size(); ++t)
    offsets.push_back(static_cast<int32_t>(positions[t] - static_cast<int64_t>(t)));
  return offsets;
}

std::vector<int32_t> cu_seqlens_of(const RopeCase& c) {
  std::vector<int32_t> ends = {0};
  for (const int64_t length : sequence_lengths_of(c))
    ends.push_back(ends.back() + static_cast<int32_t>(length));
  return ends;
}

}  // namespace

const char* name(Parameter parameter) {
  static constexpr const char* kNames[] = {"the table",
                                           "the positions",
                                           "the starts of sequences",
                                           "the rows of tokens",
                                           "the turns",
                                           "the frequencies",
                                           "the axes of pairs",
                                           "the positions on axes",
                                           "the bias",
                                           "the q weights",
                                           "the k weights"};
  return kNames[static_cast<size_t>(parameter)];
}

int32_t position_source_of(const RopeCase& c) {
  if (c.op != Op::kVarlenSplitRope || c.varlen.source == "position_ids") return ROPE_POSITIONS_IDS;
  return c.varlen.source == "cu_seqlens" ? ROPE_POSITIONS_CU_SEQLENS : ROPE_POSITIONS_OFFSET;
}

int64_t table_rows_used(const TokenRows& rows) {
  int64_t largest = 0;
  for (const int64_t row : rows.table_rows) largest = std::max(largest, row);
  return largest + 1;
}

std::array<size_t, kNumParameters> parameter_bytes(const RopeCase& c, bool uses_table,
                                                   int64_t table_rows_used) {
  std::array<size_t, kNumParameters> bytes{};
  const auto set = [&](Parameter p, int64_t count, size_t size) {
    bytes[static_cast<size_t>(p)] = static_cast<size_t>(count) * size;
  };
  const size_t element = info(c.dtype).size, position = static_cast<size_t>(c.positions.bits / 8);
  const int64_t pairs = c.rope.rotary_dim / 2;
  switch (position_source_of(c)) {
    case ROPE_POSITIONS_IDS:
      set(Parameter::kPositions, c.num_tokens(), position);
      break;
    case ROPE_POSITIONS_OFFSET:
      set(Parameter::kPositions, c.num_tokens(), 4);
      break;
    default:
      set(Parameter::kPositions, c.num_sequences() + 1, 4);
      if (has_sequence_starts(c)) set(Parameter::kSequenceStarts, c.num_sequences(), 4);
  }
  if (lists_out_rows(c)) set(Parameter::kOutRows, c.num_tokens(), 4);
  if (uses_table) {
    set(Parameter::kTable, table_rows_used * c.rope.rotary_dim, info(c.rope.table.dtype).size);
  } else {
    set(Parameter::kTurns, pairs, 8);
    set(Parameter::kInvFreq, pairs, 4);
    if (c.rope.axes.kind != "none") {
      set(Parameter::kPairAxis, pairs, 1);
      set(Parameter::kAxisPositions, num_axes(c.rope.axes) * c.num_tokens(), position);
    }
  }
  set(Parameter::kBias, bias_elements(c), element);
  set(Parameter::kQWeight, weight_elements(c, c.num_heads), element);
  set(Parameter::kKWeight, weight_elements(c, c.num_kv_heads), element);
  return bytes;
}

template <typename T>
void HostParameters::keep(Parameter p, const std::vector<T>& values) {
  const size_t i = static_cast<size_t>(p);
  owned_[i].resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(owned_[i].data(), values.data(), owned_[i].size());
  views_[i] = {owned_[i].data(), owned_[i].size()};
}

HostParameters::HostParameters(const RopeCase& c, bool uses_table, const CosSinTable& table,
                               const TokenRows& rows) {
  const auto keep_positions = [&](Parameter p, const std::vector<int64_t>& positions) {
    if (c.positions.bits == 64) {
      keep(p, positions);
    } else {
      keep(p, narrowed(positions));
    }
  };
  const int64_t used = table_rows_used(rows);
  View& table_view = views_[static_cast<size_t>(Parameter::kTable)];
  if (table.dtype == Dtype::kF32) {  // as it lies
    table_view = {reinterpret_cast<const std::byte*>(table.values.data()),
                  static_cast<size_t>(used * table.rotary_dim) * sizeof(float)};
  } else {
    keep(Parameter::kTable, stored_rows(table, used, available_threads()));
  }

  switch (position_source_of(c)) {
    case ROPE_POSITIONS_IDS:
      keep_positions(Parameter::kPositions, rows.table_rows);
      break;
    case ROPE_POSITIONS_OFFSET:
      keep(Parameter::kPositions, offsets_of(rows.table_rows));
      break;
    default:
      keep(Parameter::kPositions, cu_seqlens_of(c));
      if (has_sequence_starts(c)) keep(Parameter::kSequenceStarts, narrowed(sequence_starts_of(c)));
  }
  if (lists_out_rows(c)) keep(Parameter::kOutRows, narrowed(rows.out_rows));

  if (!uses_table) {
    keep(Parameter::kTurns, turns_of(c, table.frequencies));
    keep(Parameter::kInvFreq, radians_of(c, table.frequencies));
    if (c.rope.axes.kind != "none") {
      keep(Parameter::kPairAxis, axis_of_pairs(c));
      std::vector<int64_t> all;
      for (const std::vector<int64_t>& axis : axis_positions_of(c))
        all.insert(all.end(), axis.begin(), axis.end());
      keep_positions(Parameter::kAxisPositions, all);
    }
  }
  const auto fill = [&](Parameter p, TensorId id, int64_t count) {
    if (count == 0) return;
    std::vector<std::byte> values(static_cast<size_t>(count) * info(c.dtype).size);
    fill_parameters(c, id, count, values.data());
    keep(p, values);
  };
  fill(Parameter::kBias, TensorId::kBias, bias_elements(c));
  fill(Parameter::kQWeight, TensorId::kQWeight, weight_elements(c, c.num_heads));
  fill(Parameter::kKWeight, TensorId::kKWeight, weight_elements(c, c.num_kv_heads));
}

}  // namespace rope_bench
