// Tokens of packed sequences for the plain kernels: which positions they have, and whether they are
// padding.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_TOKENS_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_TOKENS_CUH_

#include "kernels/cuda/device/index.cuh"

namespace rope_bench::device {

struct TokenPosition {
  int64_t position = 0;
  bool is_padding = false;
};

// A sequence that has been looked up: tokens [first, end), whose positions count from `start`.
struct PackedSequence {
  uint32_t first = 0, end = 0;
  int32_t start = 0;

  ROPE_DEVICE bool has(uint32_t token) const { return token >= first && token < end; }
};

struct PackedTokens {
  const char* values = nullptr;  // ids or offsets of tokens, or cu_seqlens [num_sequences + 1]
  const char* starts = nullptr;  // of sequences; null: all 0
  int32_t source = ROPE_POSITIONS_IDS;
  int32_t value_bytes = 4;
  int32_t num_sequences = 0;

  static PackedTokens of(const RopeKernelArgs& args) {
    PackedTokens result;
    result.values = static_cast<const char*>(args.positions);
    // Without sequences none is looked at, whatever a hint says.
    if (args.num_sequences > 0) result.starts = reinterpret_cast<const char*>(args.sequence_starts);
    result.source = args.position_source;
    result.value_bytes = args.position_source == ROPE_POSITIONS_IDS ? args.position_bits / 8 : 4;
    result.num_sequences = static_cast<int32_t>(args.num_sequences);
    return result;
  }

  // The sequence of a token, which the threads of a warp look for together, 32 entries at once; all
  // of them come, with the same token. None: it is in no sequence, or its position is its own.
  ROPE_DEVICE PackedSequence sequence_in_warp(uint32_t token, uint32_t lane) const {
    PackedSequence sequence;
    if (source != ROPE_POSITIONS_CU_SEQLENS || num_sequences == 0) return sequence;
    const auto entry = [this](uint32_t i) {
      return static_cast<uint32_t>(TokenMap::load_int32(values, i));
    };
    // The first `before` entries are at or before the token; of the next `left` it is to be found
    // out.
    uint32_t before = 0, left = static_cast<uint32_t>(num_sequences) + 1;
    while (left > 0) {
      const uint32_t step = (left + 31) / 32, at = (lane + 1) * step - 1;
      const uint32_t passed = count_in_warp(at < left && entry(before + at) <= token) * step;
      before += passed;
      left = left - passed < step ? left - passed : step - 1;
    }
    if (before == 0 || before > static_cast<uint32_t>(num_sequences)) return sequence;
    sequence.first = entry(before - 1);
    sequence.end = entry(before);
    if (starts != nullptr) sequence.start = TokenMap::load_int32(starts, before - 1);
    return sequence;
  }

  // `likely`: the sequence of a token nearby.
  ROPE_DEVICE TokenPosition locate(uint32_t token, const PackedSequence& likely) const {
    if (!likely.has(token)) return locate(token);
    const int64_t position = int64_t{token - likely.first} + likely.start;
    return {position, position < 0};
  }
  ROPE_DEVICE TokenPosition locate(uint32_t token) const {
    if (source != ROPE_POSITIONS_CU_SEQLENS) {
      const int64_t value = load_integer_words(value_at(token), value_bytes == 8).value();
      const int64_t position = source == ROPE_POSITIONS_OFFSET ? token + value : value;
      return {position, position < 0};
    }
    const auto entry = [this](int32_t i) { return TokenMap::load_int32(values, i); };
    const auto wanted = static_cast<int32_t>(token);
    if (wanted >= entry(num_sequences)) return {0, true};
    // By halves, which takes few registers: where threads look sequences up together, few tokens
    // are left for this.
    int32_t sequence = 0;
    for (int32_t end = num_sequences; end - sequence > 1;) {
      const int32_t middle = sequence + (end - sequence) / 2;
      if (entry(middle) <= wanted) {
        sequence = middle;
      } else {
        end = middle;
      }
    }
    const int32_t start = starts == nullptr ? 0 : TokenMap::load_int32(starts, sequence);
    const int64_t within = int64_t{token} - entry(sequence);
    return {within + start, within < 0 || within + start < 0};
  }

  // The low word of the position before the launch before has ended: for a hint only. Few threads
  // may ask: all of them look at the same words in L2.
  ROPE_DEVICE uint32_t guess(uint32_t token) const {
    if (source != ROPE_POSITIONS_CU_SEQLENS)
      return peek_word(value_at(token)) + (source == ROPE_POSITIONS_OFFSET ? token : 0);
    const auto entry = [this](int32_t i) {
      return static_cast<int32_t>(peek_word(values + int64_t{i} * 4));
    };
    const int32_t sequence = find_sequence(entry, num_sequences, static_cast<int32_t>(token));
    if (sequence < 0) return 0;
    return token - static_cast<uint32_t>(entry(sequence)) +
           (starts == nullptr ? 0 : peek_word(starts + int64_t{sequence} * 4));
  }

 private:
  ROPE_DEVICE const char* value_at(uint32_t token) const {
    return values + static_cast<uint64_t>(token) * static_cast<uint32_t>(value_bytes);
  }
};

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_TOKENS_CUH_
