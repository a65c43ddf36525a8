// What every vector kernel is told: operands, how their heads are shared among threads, where
// factors come from, and how the grid walks the items (token, head).
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_PARAMS_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_PARAMS_CUH_

#include "kernels/cuda/device/factors.cuh"
#include "kernels/cuda/device/head_slices.cuh"

namespace rope_bench::device {

// One of q, k and v, and its blocks.
struct Items {
  Operand operand;
  HeadSlices slices;
};

// The grid: rows (y) are chunks of tokens; of a chunk, first blocks that prefetch the rows of the
// table, then those of q, of k, and of v, in memory order.
struct Walk {
  int64_t num_tokens = 0;
  uint32_t chunk_tokens = 0;
  uint32_t prefetch_blocks = 0;
  uint32_t q_blocks = 0, k_blocks = 0;

  ROPE_DEVICE int64_t chunk_first() const { return static_cast<int64_t>(block_y()) * chunk_tokens; }
  // Tokens of this chunk.
  ROPE_DEVICE int64_t chunk_count() const {
    const int64_t left = num_tokens - chunk_first();
    return left < chunk_tokens ? left : chunk_tokens;
  }
};

struct VectorParams {
  Items q, k, v;
  TokenMap tokens;
  Table table;
  Angles angles;
  Walk walk;
  Divisor half_dim;        // rotary_dim / 2
  Divisor row_lines;       // 128-byte lines of a table row, for prefetching
  uint32_t row_bytes = 0;  // of a table row
  uint32_t sine_flip = 0;
  bool swaps_halves = false;  // to turn backwards by a table
};

// Brings the table rows of the block's share of a chunk into L2: one line a thread.
ROPE_DEVICE void prefetch_rows(const VectorParams& p) {
  constexpr uint32_t kLine = 128;
  const uint32_t thread = thread_y() * block_dim_x() + thread_x();
  const uint32_t line = block_x() * (block_dim_x() * block_dim_y()) + thread;
  const uint32_t token = p.row_lines.small_quotient(line);
  if (token >= p.walk.chunk_count()) return;
  const Place at = p.tokens.locate(p.walk.chunk_first() + token);
  if (at.is_padding) return;
  const uint32_t within = (line - token * p.row_lines.divisor) * kLine;
  // Rows need not begin at a line: the last prefetch is of the last byte.
  const uint32_t last = p.row_bytes - 1;
  prefetch(p.table.row(at.position) + (within < last ? within : last));
}

// What a row of threads works on.
enum class Role { kQ, kK, kV };
struct Item {
  Role role = Role::kQ;
  uint32_t token_in_chunk = 0, head = 0;
  bool exists = false;  // the last blocks of an operand have rows to spare
};

ROPE_DEVICE Item item_of(const VectorParams& p) {
  Item item;
  uint32_t block = block_x() - p.walk.prefetch_blocks;
  if (block >= p.walk.q_blocks) {
    block -= p.walk.q_blocks;
    item.role = Role::kK;
    if (block >= p.walk.k_blocks) {
      block -= p.walk.k_blocks;
      item.role = Role::kV;
    }
  }
  const Divisor& heads = item.role == Role::kQ   ? p.q.operand.heads
                         : item.role == Role::kK ? p.k.operand.heads
                                                 : p.v.operand.heads;
  const uint32_t index = block * block_dim_y() + thread_y();
  item.token_in_chunk = heads.small_quotient(index);
  item.head = index - item.token_in_chunk * heads.divisor;
  item.exists = item.token_in_chunk < p.walk.chunk_count();
  return item;
}

ROPE_DEVICE const Items& items_of(const VectorParams& p, Role role) {
  return role == Role::kQ ? p.q : role == Role::kK ? p.k : p.v;
}

ROPE_DEVICE BlockTokens block_tokens_of(const VectorParams& p, const Item& item) {
  const Divisor& heads = item.role == Role::kQ ? p.q.operand.heads : p.k.operand.heads;
  const uint32_t index = item.token_in_chunk * heads.divisor + item.head;
  const uint32_t first = index - thread_y();
  BlockTokens tokens;
  tokens.first = heads.small_quotient(first);
  const int64_t end = heads.small_quotient(first + block_dim_y() - 1) + 1;
  // Behind the end of the chunk there are none.
  const int64_t last = end < p.walk.chunk_count() ? end : p.walk.chunk_count();
  tokens.count = last < tokens.first ? 0 : static_cast<int>(last - tokens.first);
  return tokens;
}

// The factors of the block's tokens; none where the block needs none. All its threads come: a token
// is looked up once, and positions meet in shared memory.
ROPE_DEVICE auto block_factors(const VectorParams& p, const Item& item, BlockTokens* tokens,
                               float* shared_positions) {
  if (item.role != Role::kV) *tokens = block_tokens_of(p, item);
  const int64_t first = p.walk.chunk_first() + tokens->first;
  const uint32_t thread = thread_y() * block_dim_x() + thread_x();
  const uint32_t threads = block_dim_x() * block_dim_y();
  for (uint32_t row = thread; row < static_cast<uint32_t>(tokens->count); row += threads) {
    // Padding has any angle: nobody uses it.
    const auto bits = static_cast<uint64_t>(p.tokens.locate(first + row).position);
    shared_positions[2 * row] = float_from_bits(static_cast<uint32_t>(bits));
    shared_positions[2 * row + 1] = float_from_bits(static_cast<uint32_t>(bits >> 32));
  }
  sync_block();
  const auto position_of = [shared_positions](uint32_t row) {
    const uint64_t low = bits_of_float(shared_positions[2 * row]);
    const uint64_t high = bits_of_float(shared_positions[2 * row + 1]);
    return TokenMap::known(static_cast<int64_t>(low | high << 32));
  };
  return BlockFactors<decltype(position_of)>{p.angles,   first,       tokens->count,
                                             p.half_dim, p.sine_flip, position_of};
}

// Room for the positions of a block's tokens: two words each. A block has at most 256 rows of
// threads.
inline constexpr int kSharedPositions = 2 * 256;

// The row of an item among them.
template <Source kSource>
ROPE_DEVICE FactorRow<kSource> shared_row(const VectorParams& p, const Item& item,
                                          const BlockTokens& tokens, const float* shared) {
  const uint32_t half = p.half_dim.divisor;
  return FactorRow<kSource>::of_shared(shared + (item.token_in_chunk - tokens.first) * 2 * half,
                                       static_cast<int>(half));
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_PARAMS_CUH_
