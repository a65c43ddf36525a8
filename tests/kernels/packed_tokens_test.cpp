// The threads of a warp that look a sequence up together. A wrong one would cost time, not
// correctness: tokens that are not in it are looked up one by one.
#include <algorithm>

#include "gtest/gtest.h"
#include "kernels/cuda/device/plain_tokens.cuh"

namespace rope_bench::device {
namespace {

// cu_seqlens whose sequences have lengths 0, 1, 2, .. again and again, from token `first` on.
std::vector<int32_t> cu_seqlens(int32_t count, int32_t first, int32_t most) {
  std::vector<int32_t> result = {first};
  for (int32_t i = 0; i < count; ++i) result.push_back(result.back() + i % (most + 1));
  return result;
}

PackedSequence look_up(const PackedTokens& tokens, uint32_t token, int* agreeing) {
  PackedSequence found[32];
  host_cuda::Shape warp;
  warp.blocks = 1;
  warp.block_x = 32;
  EXPECT_EQ(host_cuda::run_grid(warp,
                                [&] {
                                  const PackedTokens::Entries entries =
                                      tokens.ask_in_warp(token, thread_x());
                                  found[thread_x()] =
                                      tokens.sequence_in_warp(entries, token, thread_x());
                                }),
            "");
  *agreeing = static_cast<int>(std::count_if(found, found + 32, [&](const PackedSequence& s) {
    return s.first == found[0].first && s.end == found[0].end && s.start == found[0].start;
  }));
  return found[0];
}

TEST(PackedTokens, AWarpFindsTheSequenceOfEveryToken) {
  for (const int32_t count : {1, 2, 30, 31, 32, 33, 63, 64, 65, 1022, 1023, 1024, 1025, 40000}) {
    for (const int32_t first : {0, 5}) {
      const std::vector<int32_t> entries = cu_seqlens(count, first, count < 1000 ? 9 : 2);
      std::vector<int32_t> starts;
      for (int32_t i = 0; i < count; ++i) starts.push_back(1000 - 7 * i);
      PackedTokens tokens;
      tokens.values = reinterpret_cast<const char*>(entries.data());
      tokens.starts = reinterpret_cast<const char*>(starts.data());
      tokens.num_sequences = count;
      const int32_t end = entries.back() + 3, step = std::max(1, end / 300);
      for (int32_t token = 0; token < end; token += token < 20 || end - token < 20 ? 1 : step) {
        int agreeing = 0;
        const PackedSequence got = look_up(tokens, static_cast<uint32_t>(token), &agreeing);
        ASSERT_EQ(agreeing, 32);
        const auto behind = std::upper_bound(entries.begin(), entries.end(), token);
        const bool in_sequence = behind != entries.begin() && behind != entries.end();
        ASSERT_EQ(got.has(static_cast<uint32_t>(token)), in_sequence) << count << ' ' << token;
        if (!in_sequence) continue;
        ASSERT_EQ(got.first, static_cast<uint32_t>(behind[-1]));
        ASSERT_EQ(got.end, static_cast<uint32_t>(behind[0]));
        ASSERT_EQ(got.start, starts[static_cast<size_t>(behind - entries.begin() - 1)]);
      }
    }
  }
}

TEST(PackedTokens, OfNoSequencesThereIsNone) {
  PackedTokens tokens;
  const int32_t entries[] = {0};
  tokens.values = reinterpret_cast<const char*>(entries);
  int agreeing = 0;
  EXPECT_FALSE(look_up(tokens, 0, &agreeing).has(0));
  EXPECT_LT(tokens.locate(0), 0);
}

}  // namespace
}  // namespace rope_bench::device
