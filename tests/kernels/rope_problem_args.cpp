// What a problem looks like from outside: its name, its arguments, its memory.
#include <cstring>
#include <sstream>

#include "tests/kernels/rope_problem.h"

namespace rope_bench::testing {

std::string ProblemSpec::name() const {
  static const char* const kOps[] = {"rope",         "split",         "norm_split",
                                     "varlen_split", "rope_backward", "split_backward"};
  static const char* const kValues[] = {"", " zero rows", " huge", " tiny", " special"};
  static const char* const kSources[] = {"ids", "offset", "cu_seqlens"};
  static const char* const kPadded[] = {"", " padded by out_rows", " padded by sequence"};
  static const char* const kNorms[] = {"", " head norm", " row norm"};
  std::ostringstream text;
  text << kOps[op] << ' ' << info(dtype).name << ' ' << info(pairing).name << " T" << num_tokens
       << " h" << heads << '/' << kv_heads << " d" << head_dim << " r" << rotary_dim << '@'
       << q_rotary_offset << ',' << k_rotary_offset << kValues[static_cast<int>(values)]
       << (in_place ? " in place" : " out of place") << (packed ? " packed" : "") << " gaps "
       << token_gap << ',' << head_gap << " base+" << base_offset;
  if (batch_tokens > 0) text << " batches of " << batch_tokens;
  if (heads_major) text << " heads major";
  if (out_heads_major) text << " to heads major";
  text << kPadded[static_cast<int>(padded)] << ' ' << kSources[position_source] << position_bits
       << (sequence_starts ? " with starts" : "") << " from " << first_position << " lens";
  for (const int64_t length : seq_lens) text << ' ' << length;
  if (skipped > 0) text << " behind " << skipped;
  if (padding_every > 0) text << " padding every " << padding_every;
  if (axes > 0) text << " axes " << axes;
  text << (reversed ? " reversed" : "") << " af " << attention_factor << " table "
       << info(table_dtype).name << (bias ? " bias" : "") << kNorms[norm];
  if (norm != ROPE_NORM_NONE) {
    text << (norm_weights ? " w+" : " no w+") << weight_offset << " eps " << norm_eps
         << (norm_after ? " after" : "") << (round_between ? " rounded between" : "");
  }
  return text.str();
}

const void* Problem::at(size_t buffer, int64_t byte) {
  return buffers_[buffer].bytes.data() + byte;
}

RopeTensor Problem::view(const Operand& x) {
  RopeTensor t{};
  t.in = at(x.in.buffer, x.in.first);
  t.out = const_cast<void*>(at(x.out.buffer, x.out.first));
  t.in_token_stride = x.in.token_stride;
  t.in_head_stride = x.in.head_stride;
  t.in_batch_stride = x.in.batch_stride;
  t.out_token_stride = x.out.token_stride;
  t.out_head_stride = x.out.head_stride;
  t.out_batch_stride = x.out.batch_stride;
  t.num_heads = x.heads;
  t.rotary_offset = x.rotary_offset;
  return t;
}

RopeKernelArgs Problem::args(bool uses_table) {
  RopeKernelArgs a{};
  a.struct_size = sizeof(a);
  a.op = spec_.op;
  a.dtype = static_cast<int32_t>(spec_.dtype);
  a.pairing = static_cast<int32_t>(spec_.pairing);
  a.num_tokens = spec_.num_tokens;
  a.head_dim = spec_.head_dim;
  a.rotary_dim = spec_.rotary_dim;
  a.q = view(operands_[0]);
  a.k = view(operands_[1]);
  if (has_value()) a.v = view(operands_[2]);
  a.in_batch_tokens = operands_[0].in.batch_tokens;
  a.out_batch_tokens = operands_[0].out.batch_tokens;
  if (spec_.padded == Padded::kOutRows) a.out_rows = static_cast<const int32_t*>(at(out_rows_));
  a.padded_output = spec_.padded != Padded::kNo;
  a.position_source = spec_.position_source;
  if (uses_table) {
    a.table = at(table_, kGuard);
    a.table_rows = table_rows_;
    a.table_row_stride = spec_.rotary_dim;
    a.table_dtype = static_cast<int32_t>(spec_.table_dtype);
  }
  a.position_bits = spec_.position_bits;
  a.positions = at(positions_);
  if (spec_.position_source == ROPE_POSITIONS_CU_SEQLENS) {
    a.num_sequences = static_cast<int64_t>(spec_.seq_lens.size());
    if (spec_.sequence_starts) a.sequence_starts = static_cast<const int32_t*>(at(starts_));
  }
  a.turns = static_cast<const uint64_t*>(at(turns_));
  a.inv_freq = static_cast<const float*>(at(inv_freq_));
  a.attention_factor = spec_.attention_factor;
  a.num_axes = spec_.axes;
  if (spec_.axes > 0) {
    a.pair_axis = static_cast<const uint8_t*>(at(pair_axis_));
    a.axis_positions = at(axis_positions_);
  }
  if (spec_.bias) a.bias = at(bias_, values_first_);
  a.norm = spec_.norm;
  a.norm_after = spec_.norm_after;
  a.round_between = spec_.round_between;
  a.norm_eps = spec_.norm_eps;
  a.weight_offset = spec_.weight_offset;
  a.num_threads = 2;
  if (spec_.norm != ROPE_NORM_NONE && spec_.norm_weights) {
    a.q_weight = at(q_weight_, values_first_);
    a.k_weight = at(k_weight_, values_first_);
  }
  return a;
}

std::vector<const void**> pointers(RopeKernelArgs& a) {
  std::vector<const void**> all;
  const auto add = [&](auto*& field) {
    all.push_back(reinterpret_cast<const void**>(reinterpret_cast<std::byte*>(&field)));
  };
  for (RopeTensor* t : {&a.q, &a.k, &a.v}) {
    add(t->in);
    add(t->out);
  }
  add(a.out_rows);
  add(a.table);
  add(a.positions);
  add(a.sequence_starts);
  add(a.turns);
  add(a.inv_freq);
  add(a.pair_axis);
  add(a.axis_positions);
  add(a.bias);
  add(a.q_weight);
  add(a.k_weight);
  return all;
}

std::vector<std::vector<std::byte>*> Problem::buffers() {
  std::vector<std::vector<std::byte>*> all;
  for (Buffer& buffer : buffers_) all.push_back(&buffer.bytes);
  return all;
}

void Problem::run(const RopeVariant& variant) {
  const RopeKernelArgs a = args(variant.uses_table != 0);
  variant.launch(&a);
}

void Problem::reset() {
  for (Buffer& buffer : buffers_) buffer.bytes = buffer.pristine;
}

std::vector<std::byte> Problem::output_bytes() const {
  std::vector<std::byte> all;
  for (const Buffer& buffer : buffers_) {
    if (buffer.output) all.insert(all.end(), buffer.bytes.begin(), buffer.bytes.end());
  }
  return all;
}

std::vector<std::byte> Problem::rotated_rows() const {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  std::vector<std::byte> rows;
  for (const Operand& x : operands_) {
    if (!x.rotates && !has_value()) continue;
    for (const Token& token : tokens_) {
      for (int64_t head = 0; token.position >= 0 && head < x.heads; ++head) {
        const std::byte* row =
            buffers_[x.out.buffer].bytes.data() + byte_of(x.out, token.out_row, head);
        rows.insert(rows.end(), row, row + x.width * size);
      }
    }
  }
  return rows;
}

}  // namespace rope_bench::testing
