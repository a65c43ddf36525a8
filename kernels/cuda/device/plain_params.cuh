// What the plain kernels are told. Small, and little arithmetic away from addresses: at a few
// tokens a launch waits for little else.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_PARAMS_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_PARAMS_CUH_

#include "kernels/cuda/device/factors.cuh"
#include "kernels/cuda/device/plain_tokens.cuh"

namespace rope_bench::device {

// Room for the factors of a block's tokens. Where threads have two heads each, blocks are small and
// many share an SM.
constexpr int plain_shared_factors(int heads) {
  return heads == 1 ? kSharedFactors : kSharedFactors / 2;
}

// One of q, k and v. A row of threads has a group of heads of one token, as many as the kernel
// gives a thread, and thread i of the row two packets of each of them: the first `lanes` threads
// those that rotate together, the others two that pass through. Offsets and strides in bytes.
struct PlainOperand {
  const char* in = nullptr;  // the first rotated dim of a head, where the head rotates
  char* out = nullptr;
  uint32_t in_token_stride = 0, in_head_stride = 0;
  uint32_t out_token_stride = 0, out_head_stride = 0;
  Divisor groups;  // of heads, of one token
  uint32_t num_heads = 0;
  int32_t lanes = 0;
  // The first packet of thread i lies at i packets (i pairs of packets, where two make one pair of
  // elements) + first; the second a step behind.
  int32_t rotated_first = 0, passed_first = 0;
  int64_t rotated_step = 0, passed_step = 0;
  // Of the norm.
  const char* weights = nullptr;  // at the first rotated dim; null: 1
  float inverse_count = 0;        // 1 / head_dim
  float weight_offset = 0;        // 0 without weights
};

struct PlainParams {
  PlainOperand q, k, v;
  // The grid: rows (y) are chunks of tokens; of a chunk, first blocks that prefetch the rows of the
  // table, then those of q, of k, and of v, in memory order.
  uint32_t num_tokens = 0, chunk_tokens = 0;
  uint32_t prefetch_blocks = 0, q_blocks = 0, k_blocks = 0;
  // Row `positions[token]` of the table: cosines, and sines `sines` bytes behind.
  uint32_t position_bytes = 4;
  const char* positions = nullptr;
  // What positions mean, and how wide they are: `positions` are its values.
  PackedTokens packed;
  const char* table = nullptr;
  uint32_t table_rows = 0, row_stride = 0;
  int32_t sines = 0;
  uint32_t sine_flip = 0;
  bool is_bf16 = false;  // of a table of halves
  float eps = 0;
  uint32_t weight_bytes = 0;  // of q and of k; 0 without a norm
  Divisor row_lines;          // 128-byte lines of a table row, for prefetching
  uint32_t row_bytes = 0;     // of a table row
  Divisor half_dim;           // rotary_dim / 2
  Angles angles;
  // Blocks from one to that whose tensors it brings into L2 (tokens, where a block has one); 0: it
  // brings none. Of a head it reads `head_bytes`, which lie on `head_lines` lines at most.
  uint32_t ahead = 0, head_bytes = 0;
  Divisor head_lines;

  ROPE_DEVICE uint32_t chunk_first() const { return block_y() * chunk_tokens; }
  ROPE_DEVICE uint32_t chunk_count() const {
    const uint32_t left = num_tokens - chunk_first();
    return left < chunk_tokens ? left : chunk_tokens;
  }
  // Of a table with fewer than 2^32 rows: the low word of a position is all of it.
  ROPE_DEVICE const char* position_at(uint32_t token) const {
    return positions + static_cast<uint64_t>(token) * position_bytes;
  }
  ROPE_DEVICE const char* row_at(uint32_t position) const {
    return table + static_cast<uint64_t>(position) * row_stride;
  }
};

// Brings into L2 what the launch will wait for longest, before the launch before has ended: these
// are hints, and nothing is used that it may still write.
inline constexpr uint32_t kLine = 128;
ROPE_DEVICE uint32_t thread_of_block() { return thread_y() * block_dim_x() + thread_x(); }

// The weights.
ROPE_DEVICE void prefetch_weights(const PlainParams& p) {
  for (uint32_t at = thread_of_block() * kLine; at < p.weight_bytes;
       at += block_dim_x() * block_dim_y() * kLine) {
    if (p.q.weights != nullptr) prefetch(p.q.weights + at);
    if (p.k.weights != nullptr) prefetch(p.k.weights + at);
  }
}
// A line of a row of the table. Any position: it is only a hint.
ROPE_DEVICE void prefetch_line(const PlainParams& p, uint32_t position, uint32_t line) {
  const char* row = p.row_at(position < p.table_rows ? position : 0);
  // Rows need not begin at a line: the last prefetch is of the last byte.
  const uint32_t last = p.row_bytes - 1;
  prefetch(row + (line * kLine < last ? line * kLine : last));
}
// The table rows of the block's share of a chunk: one line a thread.
template <Tokens kTokens>
ROPE_DEVICE void prefetch_rows(const PlainParams& p) {
  const uint32_t line = block_x() * (block_dim_x() * block_dim_y()) + thread_of_block();
  const uint32_t token = p.row_lines.small_quotient(line);
  if (token >= p.chunk_count()) return;
  const uint32_t within = line - token * p.row_lines.divisor;
  const uint32_t at = p.chunk_first() + token;
  if constexpr (kTokens == Tokens::kInOrder) {
    prefetch_line(p, peek_word(p.position_at(at)), within);
  } else {
    prefetch_line(p, p.packed.guess<kTokens>(at), within);
  }
}
// What the angles of a chunk are made of.
template <Tokens kTokens>
ROPE_DEVICE void prefetch_angles(const PlainParams& p) {
  const uint32_t step = block_dim_x() * block_dim_y() * kLine, first = thread_of_block() * kLine;
  const uint32_t steps = p.half_dim.divisor * p.angles.step_bytes;
  for (uint32_t at = first; at < steps; at += step) prefetch(p.angles.steps + at);
  if constexpr (kTokens == Tokens::kSequences) {
    for (uint32_t at = first; at < static_cast<uint32_t>(p.packed.num_sequences) * 4; at += step) {
      prefetch(p.packed.values + at);
      if (p.packed.starts != nullptr) prefetch(p.packed.starts + at);
    }
    return;
  }
  const uint32_t positions = p.chunk_count() * p.position_bytes;
  for (uint32_t at = first; at < positions; at += step)
    prefetch(p.position_at(p.chunk_first()) + at);
}

// What a row of threads works on: heads [head, head + heads of a thread) of a token.
struct PlainItem {
  const PlainOperand* operand;
  uint32_t index;  // of its group, in the operand's part of the chunk
  uint32_t token_in_chunk;
  uint32_t head;
  bool exists;  // the last blocks of an operand have rows to spare
};

// Of a row of threads of a block. `block`: of those behind the ones that prefetch.
template <int kHeads>
ROPE_DEVICE PlainItem plain_item(const PlainParams& p, uint32_t block, uint32_t row) {
  PlainItem item;
  item.operand = &p.q;
  if (block >= p.q_blocks) {
    block -= p.q_blocks;
    item.operand = &p.k;
    if (block >= p.k_blocks) {
      block -= p.k_blocks;
      item.operand = &p.v;
    }
  }
  const Divisor& groups = item.operand->groups;
  item.index = block * block_dim_y() + row;
  item.token_in_chunk = groups.small_quotient(item.index);
  item.head = (item.index - item.token_in_chunk * groups.divisor) * kHeads;
  item.exists = item.token_in_chunk < p.chunk_count();
  return item;
}

// The two packets of a thread in a head.
struct PlainSlice {
  bool rotates;
  int32_t first;  // bytes
  int64_t step;
};

// kAll: every thread rotates.
template <Pairing kPairing, int kBytes, int kElements, bool kAll>
ROPE_DEVICE PlainSlice plain_slice(const PlainOperand& o, int lane) {
  constexpr bool kSplitPair = kPairing == Pairing::kGptj && kElements == 1;
  PlainSlice slice;
  slice.rotates = kAll || lane < o.lanes;
  slice.first = lane * (kSplitPair ? 2 * kBytes : kBytes) + o.rotated_first;
  slice.step = o.rotated_step;
  if (!slice.rotates) {
    slice.first = lane * kBytes + o.passed_first;
    slice.step = o.passed_step;
  }
  return slice;
}

// Where a thread's packets are: those of its first head.
ROPE_DEVICE const char* plain_address(const PlainParams& p, const PlainItem& item,
                                      const PlainSlice& slice) {
  const PlainOperand& o = *item.operand;
  return o.in + static_cast<uint64_t>(p.chunk_first() + item.token_in_chunk) * o.in_token_stride +
         (item.head * o.in_head_stride + static_cast<uint32_t>(slice.first));
}

// Brings the tensors of a block to come into L2. Few threads do it, the last 32: mostly they have
// no factors to form.
template <int kHeads>
ROPE_DEVICE void prefetch_block(const PlainParams& p, uint32_t block) {
  const uint32_t threads = block_dim_x() * block_dim_y(), first = threads > 32 ? threads - 32 : 0;
  const uint32_t lines = block_dim_y() * kHeads * p.head_lines.divisor;
  for (uint32_t i = thread_of_block() - first; i < lines; i += threads - first) {
    const uint32_t head = p.head_lines.small_quotient(i), row = head / kHeads;
    const PlainItem item = plain_item<kHeads>(p, block, row);
    const PlainOperand& o = *item.operand;
    const uint32_t of_token = item.head + head % kHeads;
    // Behind the last operand may be one without heads.
    if (!item.exists || of_token >= o.num_heads) continue;
    const uint32_t at = (i - head * p.head_lines.divisor) * kLine, last = p.head_bytes - 1;
    prefetch(o.in + uint64_t{p.chunk_first() + item.token_in_chunk} * o.in_token_stride +
             (of_token * o.in_head_stride + (at < last ? at : last)));
  }
}

// The factors of the block's tokens, for threads that need those of kLanePairs pairs each; none
// where its heads do not turn. `likely`: the sequence of the warp's first token, once it has been
// looked up.
template <Tokens kTokens, int kLanePairs>
ROPE_DEVICE auto plain_factors(const PlainParams& p, const PlainItem& item, bool turns,
                               const PackedSequence& likely, BlockTokens* tokens) {
  if (turns) {
    const Divisor& groups = item.operand->groups;
    const uint32_t first = item.index - thread_y();
    tokens->first = groups.small_quotient(first);
    const uint32_t end = groups.small_quotient(first + block_dim_y() - 1) + 1;
    // Behind the end of the chunk there are none.
    const uint32_t last = end < p.chunk_count() ? end : p.chunk_count();
    tokens->count = last < tokens->first ? 0 : static_cast<int>(last - tokens->first);
  }
  const int64_t first_token = int64_t{p.chunk_first()} + tokens->first;
  const auto position_of = [&p, &likely, first_token](uint32_t row) {
    const auto token = static_cast<uint32_t>(first_token) + row;
    if constexpr (kTokens == Tokens::kSequences) {
      return TokenMap::known(p.packed.locate(token, likely));
    } else {
      return p.packed.ask_at<kTokens>(p.position_at(token), token);
    }
  };
  return BlockFactors<decltype(position_of), kLanePairs, kTokens == Tokens::kSequences>{
      p.angles, first_token, tokens->count, p.half_dim, p.sine_flip, position_of};
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_PARAMS_CUH_
