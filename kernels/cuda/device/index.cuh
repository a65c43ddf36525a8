// Index arithmetic: division by a number known only at run time, operands of a launch, and where a
// token lies in them.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_INDEX_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_INDEX_CUH_

#include "kernels/arguments.h"
#include "kernels/cuda/device/platform.cuh"
#include "kernels/kernel_api.h"

namespace rope_bench::device {

// n / d as one multiplication: magic = ceil(2^w / d) overshoots 2^w / d by less than 1, so n *
// magic / 2^w exceeds n / d by less than n / 2^w, and nothing is wrong while n * d < 2^w. w is 64,
// or 32 where the range allows: the short form is worth 0.1 us of a launch, since nothing can start
// before its index is known.
struct Divisor {
  uint64_t magic = 0;  // 0: divide by one
  uint32_t small_magic = 0;
  uint32_t divisor = 1;

  static Divisor of(uint32_t d) {
    Divisor result;
    result.divisor = d;
    if (d > 1) {
      result.magic = ~uint64_t{0} / d + 1;
      result.small_magic = static_cast<uint32_t>(~uint32_t{0} / d + 1);
    }
    return result;
  }
  ROPE_DEVICE uint64_t quotient(uint64_t n) const { return magic == 0 ? n : mul_hi(n, magic); }
  // For n * d < 2^32.
  ROPE_DEVICE uint32_t small_quotient(uint32_t n) const {
    return small_magic == 0 ? n : mul_hi(n, small_magic);
  }
};

// The sequence of a token: the last one that begins at or before it, empty ones passed over, or the
// first; -1 behind the last. `entry(i)` is cu_seqlens[i]; whatever they are, only [0,
// num_sequences] are asked for.
template <typename Entry>
ROPE_DEVICE int32_t find_sequence(const Entry& entry, int32_t num_sequences, int32_t token) {
  const int32_t end = entry(num_sequences);
  // Entry `low` is at or before the token, `high` behind. Seven entries are looked at together:
  // they arrive at once, where a search by halves would wait for one after the other.
  constexpr int32_t kParts = 8;
  int32_t low = 0, high = num_sequences;
  while (high - low > 1) {
    const int32_t step = (high - low + kParts - 1) / kParts;
    int32_t before = 0;  // entries low + step, low + 2 step .. that are at or before the token
#pragma unroll
    for (int32_t part = 1; part < kParts; ++part) {
      const int32_t at = low + part * step;
      before += entry(at < high ? at : high) <= token && at < high ? 1 : 0;
    }
    low += before * step;
    if (low + step < high) high = low + step;
  }
  return token < end ? low : -1;
}

// Where a token lies: entry `batch` and token `token` of it, in the inputs and in the outputs.
// Padding is not written.
struct Place {
  int64_t position = 0;
  int64_t in_batch = 0, in_token = 0, out_batch = 0, out_token = 0;
  bool is_padding = false;
};

// One of q, k and v, strides in bytes. The base points at dim `first` of a head: the first that is
// rotated, where some are.
struct Operand {
  const char* in = nullptr;
  char* out = nullptr;
  int64_t in_token_stride = 0, in_head_stride = 0, in_batch_stride = 0;
  int64_t out_token_stride = 0, out_head_stride = 0, out_batch_stride = 0;
  Divisor heads;

  static Operand of(const RopeTensor& tensor, int element_size, int64_t first) {
    Operand result;
    result.in = static_cast<const char*>(tensor.in) + first * element_size;
    result.out = static_cast<char*>(tensor.out) + first * element_size;
    result.in_token_stride = tensor.in_token_stride * element_size;
    result.in_head_stride = tensor.in_head_stride * element_size;
    result.in_batch_stride = tensor.in_batch_stride * element_size;
    result.out_token_stride = tensor.out_token_stride * element_size;
    result.out_head_stride = tensor.out_head_stride * element_size;
    result.out_batch_stride = tensor.out_batch_stride * element_size;
    result.heads = Divisor::of(static_cast<uint32_t>(tensor.num_heads));
    return result;
  }
  // Where tokens are one after the other in inputs and outputs.
  ROPE_DEVICE const char* in_row(int64_t token, int64_t head) const {
    return in + token * in_token_stride + head * in_head_stride;
  }
  ROPE_DEVICE char* out_row(int64_t token, int64_t head) const {
    return out + token * out_token_stride + head * out_head_stride;
  }
  // Anywhere.
  ROPE_DEVICE const char* in_row(const Place& at, int64_t head) const {
    return in_row(at.in_token, head) + (at.in_batch == 0 ? 0 : at.in_batch * in_batch_stride);
  }
  ROPE_DEVICE char* out_row(const Place& at, int64_t head) const {
    return out_row(at.out_token, head) + (at.out_batch == 0 ? 0 : at.out_batch * out_batch_stride);
  }
};

// Positions of tokens, and which rows they are.
struct TokenMap {
  const void* positions = nullptr;
  const int32_t* starts = nullptr;
  const int32_t* out_rows = nullptr;
  int32_t position_bits = 32;
  int32_t source = ROPE_POSITIONS_IDS;
  int32_t num_sequences = 0;
  int32_t padded_output = 0;
  Divisor in_batch_tokens, out_batch_tokens;
  bool in_batches = false, out_batches = false;
  bool in_is_out = false;  // the inputs lie where the outputs do
  bool plain = false;      // tokens are one after the other, and positions are ids

  static TokenMap of(const RopeKernelArgs& args) {
    TokenMap result;
    result.positions = args.positions;
    result.starts = args.sequence_starts;
    result.out_rows = args.out_rows;
    result.position_bits = args.position_bits;
    result.source = args.position_source;
    result.num_sequences = static_cast<int32_t>(args.num_sequences);
    result.padded_output = args.padded_output;
    result.plain = is_plain(args);
    result.in_batches = args.in_batch_tokens > 0;
    result.out_batches = args.out_batch_tokens > 0;
    result.in_batch_tokens = Divisor::of(static_cast<uint32_t>(args.in_batch_tokens));
    result.out_batch_tokens = Divisor::of(static_cast<uint32_t>(args.out_batch_tokens));
    return result;
  }
  // Whether locate() may say something else than (token, position id).
  static bool is_plain(const RopeKernelArgs& args) {
    return !is_packed(args) && args.in_batch_tokens == 0 && args.out_batch_tokens == 0 &&
           args.out_rows == nullptr;
  }

  // A position on its way from memory, perhaps to be added to what is known of it, or here already:
  // value() waits for it.
  struct Asked {
    IntegerWords words;
    int64_t known;
    bool is_known;
    ROPE_DEVICE int64_t value() const { return is_known ? known : words.value() + known; }
  };
  ROPE_DEVICE static Asked ask(const void* values, int32_t bits, int64_t index) {
    const bool wide = bits == 64;
    return ask_at(static_cast<const char*>(values) + (index << (wide ? 3 : 2)), wide);
  }
  ROPE_DEVICE static Asked ask_at(const char* at, bool is_wide, uint32_t known = 0) {
    return {load_integer_words(at, is_wide), known, false};
  }
  ROPE_DEVICE static Asked known(int64_t position) { return {{}, position, true}; }
  // At once, and before anything that follows: branches keep the load where it stands, where
  // ask_at() lets it slide towards its use. For what waits longest, the way to a row of the table.
  ROPE_DEVICE int64_t id(int64_t token) const {
    if (position_bits == 64) {
      const auto* at = static_cast<const char*>(positions) + token * 8;
      const Packet<8> p = load_constant<8>(at);
      return static_cast<int64_t>(p.word[0] | static_cast<uint64_t>(p.word[1]) << 32);
    }
    return load_int32(positions, token);
  }
  ROPE_DEVICE static int32_t load_int32(const void* values, int64_t index) {
    return static_cast<int32_t>(
        load_constant<4>(static_cast<const char*>(values) + index * 4).word[0]);
  }

  ROPE_DEVICE Place locate(int64_t token) const {
    Place at;
    at.in_token = at.out_token = token;
    if (plain) {
      at.position = id(token);
      return at;
    }
    if (source == ROPE_POSITIONS_CU_SEQLENS) {
      const int32_t sequence = sequence_of(static_cast<int32_t>(token));
      at.is_padding = sequence < 0;
      if (at.is_padding) return at;
      const int64_t within = token - load_int32(positions, sequence);
      at.position = within + (starts == nullptr ? 0 : load_int32(starts, sequence));
      at.is_padding = within < 0 || at.position < 0;
      if (padded_output != 0 && out_rows == nullptr) {
        at.out_batch = sequence;
        at.out_token = within;
      }
    } else {
      at.position =
          source == ROPE_POSITIONS_OFFSET ? token + load_int32(positions, token) : id(token);
      at.is_padding = at.position < 0;
    }
    if (out_rows != nullptr) {
      const int32_t row = load_int32(out_rows, token);
      at.is_padding = at.is_padding || row < 0;
      at.out_token = row < 0 ? 0 : row;
    }
    const bool by_sequence =
        padded_output != 0 && out_rows == nullptr && source == ROPE_POSITIONS_CU_SEQLENS;
    if (out_batches && !by_sequence)
      split(out_batch_tokens, at.out_token, &at.out_batch, &at.out_token);
    if (in_is_out) {
      at.in_batch = at.out_batch;
      at.in_token = at.out_token;
    } else if (in_batches) {
      split(in_batch_tokens, token, &at.in_batch, &at.in_token);
    }
    return at;
  }

 private:
  ROPE_DEVICE static void split(const Divisor& tokens, int64_t index, int64_t* batch,
                                int64_t* token) {
    *batch = static_cast<int64_t>(tokens.quotient(static_cast<uint64_t>(index)));
    *token = index - *batch * tokens.divisor;
  }
  ROPE_DEVICE int32_t sequence_of(int32_t token) const {
    const auto entry = [this](int32_t i) { return load_int32(positions, i); };
    return find_sequence(entry, num_sequences, token);
  }
};

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_INDEX_CUH_
