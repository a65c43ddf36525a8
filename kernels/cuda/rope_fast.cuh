// rope, variant `fast`: rotates Q and K in one launch at the speed of a plain copy.
//
//   (x', y') = (x cos - y sin, y cos + x sin)      q [T, Hq, d], k [T, Hkv, d], table [rows, r]
//   f32, f16, bf16 in memory, tensors and table; float32 arithmetic; one rounding.
//
// Mapping. The items (token, head) of Q and then of K are laid out in memory order; thread row y of
// a block takes one item, and its `lanes` threads one packet of each half of the rotated dims: 2
// packets of up to 16 bytes a thread. Consecutive blocks touch consecutive bytes, as a streaming
// kernel does. Each element is loaded once and stored once; the row of the table is shared by the
// heads of a token through L1. Out of place, further threads of the row copy the pass-through dims.
//
// What hides the way position -> table row, two cold accesses one after the other, while a plain
// copy has one:
// * the position is asked for first, and its index is computed with 32-bit arithmetic alone;
// * the first blocks bring the table rows of a chunk of tokens into L2, ahead of the blocks that
// want them;
// * the launch overlaps the end of the one before (programmatic dependent launch);
// * few registers (two packets and a piece of a table row at a time), so that many threads wait at
// once. Chunks (grid y) also keep the table rows in L2 from Q to K, and offsets within 32 bits.
//
// Bytes: 2 * T * (Hq + Hkv) * r elements (d instead of r out of place), T table rows, T positions.
// Limits: why_not_fast().
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_

#include "kernels/cuda/device/index.cuh"
#include "kernels/cuda/device/rotation.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

struct FastParams {
  Operand q, k;
  TableRef table;
  int64_t num_tokens = 0;
  uint32_t chunk_tokens = 0;     // tokens of one row of the grid
  uint32_t prefetch_blocks = 0;  // of a chunk: these first, then q_blocks, then those of k
  uint32_t q_blocks = 0;
  Divisor row_lines;         // 128-byte lines of a table row, for prefetching
  int32_t lanes = 0;         // threads of an item that rotate
  int32_t packets = 0;       // of the rotated dims of one head
  int32_t pass_packets = 0;  // of the pass-through dims; 0 in place
  int32_t pass_lanes = 0;    // threads of an item that copy
  int32_t half_dim = 0;      // rotary_dim / 2
  uint32_t row_bytes = 0;    // of a table row
};

// Brings the table rows of tokens [first, first + count) into L2: one line a thread.
ROPE_DEVICE void prefetch_rows(const FastParams& p, int64_t first, int64_t count) {
  constexpr uint32_t kLine = 128;
  const uint32_t thread = thread_y() * block_dim_x() + thread_x();
  const uint32_t line = block_x() * (block_dim_x() * block_dim_y()) + thread;
  const uint32_t token = p.row_lines.small_quotient(line);
  if (token >= count) return;
  const uint32_t within = (line - token * p.row_lines.divisor) * kLine;
  // Rows need not begin at a line: the last prefetch is of the last byte.
  const uint32_t last = p.row_bytes - 1;
  prefetch(p.table.row(first + token) + (within < last ? within : last));
}

enum class FastMode {
  kInPlace,     // every thread rotates two packets
  kOutOfPlace,  // the last threads of a row copy two packets of the pass-through dims
  kOdd,         // either, with a last thread that has one packet
};

template <typename T, int kTableSize, Pairing kPairing, int kBytes, FastMode kMode>
ROPE_KERNEL void ROPE_MAX_REGISTERS(40) rope_fast_kernel(ROPE_ARGUMENT FastParams p) {
  constexpr int kElements = kBytes / T::kSize;
  // In place, a line is next touched by its store. Out of place, two halves of a line may be loaded
  // by two instructions: L1 keeps it from one to the other.
  constexpr Hint kLoad = kMode == FastMode::kInPlace ? Hint::kStream : Hint::kKeep;

  // Locate: which token and head this row of threads has.
  const int64_t chunk_first = static_cast<int64_t>(block_y()) * p.chunk_tokens;
  const int64_t chunk_count = p.num_tokens - chunk_first;  // or chunk_tokens, if that is less
  if (block_x() < p.prefetch_blocks) {
    wait_for_previous_launch();
    prefetch_rows(p, chunk_first, chunk_count < p.chunk_tokens ? chunk_count : p.chunk_tokens);
    return;
  }
  const uint32_t block = block_x() - p.prefetch_blocks;
  const bool is_q = block < p.q_blocks;
  const Operand& operand = is_q ? p.q : p.k;
  const uint32_t item = (is_q ? block : block - p.q_blocks) * block_dim_y() + thread_y();
  const uint32_t token_in_chunk = operand.heads.small_quotient(item);
  const uint32_t head = item - token_in_chunk * operand.heads.divisor;
  wait_for_previous_launch();
  if (token_in_chunk >= p.chunk_tokens || token_in_chunk >= chunk_count) return;
  const int64_t token = chunk_first + token_in_chunk;
  const char* in = operand.in_row(token, head);
  char* out = operand.out_row(token, head);
  const int lane = static_cast<int>(thread_x());
  const auto row = FactorRow<kTableSize>::of(p.table, token, p.half_dim);

  // Load two packets: of the rotated dims or, in the last lanes, of those to be copied. A packet of
  // one element holds no gptj pair: then a thread has the two elements of one pair.
  constexpr bool kHalves = kPairing == Pairing::kNeox || kElements == 1;
  constexpr bool kSplitPair = kPairing == Pairing::kGptj && kElements == 1;
  int first = kSplitPair ? 2 * lane : lane;
  int second = kSplitPair ? 2 * lane + 1 : p.lanes + lane;
  const bool rotates = kMode == FastMode::kInPlace || lane < p.lanes;
  if (!rotates) {
    first = p.packets + lane - p.lanes;
    second = first + p.pass_lanes;
  }
  const bool has_second =
      kMode != FastMode::kOdd || second < (rotates ? p.packets : p.packets + p.pass_packets);
  Packet<kBytes> x = load<kBytes, kLoad>(in + first * kBytes);
  Packet<kBytes> y = has_second ? load<kBytes, kLoad>(in + second * kBytes) : x;
  let_next_launch_start();

  // Rotate.
  if (rotates) {
    if constexpr (kHalves) {
      rotate_halves<T>(x, y, row.from(lane * kElements));
    } else {
      constexpr int kPairs = kElements / 2;
      rotate_adjacent<T>(x, row.from(first * kPairs));
      if (has_second) rotate_adjacent<T>(y, row.from(second * kPairs));
    }
  }

  // Store.
  store<Hint::kStream>(out + first * kBytes, x);
  if (has_second) store<Hint::kStream>(out + second * kBytes, y);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_
