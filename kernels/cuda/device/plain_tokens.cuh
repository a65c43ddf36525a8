// Tokens of the plain kernels: which positions they have, and whether they are padding.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_TOKENS_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_TOKENS_CUH_

#include "kernels/cuda/device/index.cuh"

namespace rope_bench::device {

enum class Tokens {
  kInOrder,    // each has a position
  kOwn,        // of packed sequences; the same, or padding (negative), or an offset to its number
  kSequences,  // of packed sequences; looked up in cu_seqlens
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

  // The position of a token, `at` where its value lies. Not of kSequences.
  template <Tokens kTokens>
  ROPE_DEVICE TokenMap::Asked ask_at(const char* at, uint32_t token) const {
    const bool adds = kTokens == Tokens::kOwn && source == ROPE_POSITIONS_OFFSET;
    return TokenMap::ask_at(at, value_bytes == 8, adds ? token : 0);
  }

  // Of kSequences alone:

  // Of the `count` entries among which a warp finds the sequence of a token, one for each thread,
  // and where the sequence starts that begins there; on their way from memory.
  struct Entries {
    uint32_t entry = 0, start = 0;
    uint32_t count = 0;
  };
  // All threads of the warp come, with the same token.
  ROPE_DEVICE Entries ask_in_warp(uint32_t token, uint32_t lane) const {
    Entries asked;
    // The last entry at or before the token, and the one behind, are among `count` from `at` on.
    uint32_t at = 0;
    asked.count = static_cast<uint32_t>(num_sequences) + 1;
    while (asked.count > 32) {
      const uint32_t step = (asked.count + 31) / 32, mine = lane * step;
      const uint32_t passed = count_in_warp(mine < asked.count && entry(at + mine) <= token);
      const uint32_t skipped = passed == 0 ? 0 : (passed - 1) * step;
      at += skipped;
      asked.count = asked.count - skipped < step + 1 ? asked.count - skipped : step + 1;
    }
    if (lane < asked.count) at += lane;
    asked.entry = entry(at);
    const bool starts_there = starts != nullptr && at < static_cast<uint32_t>(num_sequences);
    asked.start = load_word_if((starts_there ? starts : values) + uint64_t{at} * 4, starts_there);
    return asked;
  }
  // None: the token is in no sequence. The same threads come.
  ROPE_DEVICE PackedSequence sequence_in_warp(const Entries& asked, uint32_t token,
                                              uint32_t lane) const {
    PackedSequence sequence;
    const uint32_t passed = count_in_warp(lane < asked.count && asked.entry <= token);
    if (passed == 0 || passed == asked.count) return sequence;
    sequence.first = value_in_warp(asked.entry, passed - 1);
    sequence.end = value_in_warp(asked.entry, passed);
    sequence.start = static_cast<int32_t>(value_in_warp(asked.start, passed - 1));
    return sequence;
  }

  // The position of a token; negative: it is padding. `likely`: the sequence of a token nearby.
  ROPE_DEVICE int64_t locate(uint32_t token, const PackedSequence& likely) const {
    return likely.has(token) ? int64_t{token - likely.first} + likely.start : locate(token);
  }
  // Looked up alone. By halves, which takes few registers: where threads look sequences up
  // together, few tokens are left for this.
  ROPE_DEVICE int64_t locate(uint32_t token) const {
    const auto entry_at = [this](int32_t i) { return static_cast<int32_t>(entry(i)); };
    const auto wanted = static_cast<int32_t>(token);
    if (wanted >= entry_at(num_sequences)) return -1;
    int32_t sequence = 0;
    for (int32_t end = num_sequences; end - sequence > 1;) {
      const int32_t middle = sequence + (end - sequence) / 2;
      if (entry_at(middle) <= wanted) {
        sequence = middle;
      } else {
        end = middle;
      }
    }
    const int32_t start = starts == nullptr ? 0 : TokenMap::load_int32(starts, sequence);
    const int64_t within = int64_t{token} - entry_at(sequence);
    return within < 0 ? -1 : within + start;
  }

  // The low word of the position before the launch before has ended: for a hint only. Few threads
  // may ask: all of them look at the same words in L2.
  template <Tokens kTokens>
  ROPE_DEVICE uint32_t guess(uint32_t token) const {
    if constexpr (kTokens == Tokens::kOwn)
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
  ROPE_DEVICE uint32_t entry(uint32_t i) const {
    return static_cast<uint32_t>(TokenMap::load_int32(values, i));
  }
  ROPE_DEVICE const char* value_at(uint32_t token) const {
    return values + static_cast<uint64_t>(token) * static_cast<uint32_t>(value_bytes);
  }
};

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_TOKENS_CUH_
