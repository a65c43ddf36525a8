#include "tests/kernels/problem_specs.h"

#include <gtest/gtest.h>

#include <cctype>

namespace rope_bench::testing {

std::vector<ProblemSpec> dims_specs() {
  constexpr std::pair<int, int> kDims[] = {
      {2, 2},    {4, 4},     {6, 6},    {6, 2},     {16, 16},   {32, 24},   {40, 40},  {46, 46},
      {48, 46},  {48, 20},   {64, 64},  {64, 2},    {64, 16},   {64, 32},   {72, 72},  {80, 20},
      {80, 32},  {80, 80},   {96, 24},  {96, 96},   {100, 100}, {112, 112}, {128, 48}, {128, 64},
      {128, 96}, {128, 128}, {160, 40}, {160, 160}, {192, 64},  {224, 224}, {256, 64}, {256, 256},
      {512, 20}, {512, 512}, {576, 64}, {576, 576}};
  std::vector<ProblemSpec> specs;
  for (const auto& [head_dim, rotary_dim] : kDims) {
    for (const Dtype dtype : kAllDtypes) {
      for (const Pairing pairing : kBothPairings) {
        for (const bool in_place : {true, false}) {
          ProblemSpec spec;
          spec.dtype = dtype;
          spec.pairing = pairing;
          spec.head_dim = head_dim;
          spec.rotary_dim = rotary_dim;
          spec.in_place = in_place;
          spec.num_tokens = 2;
          spec.heads = 3;
          spec.kv_heads = 1;
          specs.push_back(spec);
        }
      }
    }
  }
  return specs;
}

std::vector<ProblemSpec> plain_specs(int op) {
  constexpr std::pair<int, int> kDims[] = {{16, 16},   {32, 16},   {64, 64},
                                           {96, 96},   {128, 128}, {128, 64},
                                           {256, 256}, {512, 512}, {2048, 2048}};
  constexpr Values kValues[] = {Values::kNormal, Values::kHuge, Values::kZeroRows, Values::kTiny};
  constexpr int32_t kSources[] = {ROPE_POSITIONS_IDS, ROPE_POSITIONS_OFFSET,
                                  ROPE_POSITIONS_CU_SEQLENS};
  const bool is_split = op != ROPE_OP_ROPE && op != ROPE_OP_ROPE_BACKWARD;
  std::vector<ProblemSpec> specs;
  for (const auto& [head_dim, rotary_dim] : kDims) {
    for (const Dtype dtype : kAllDtypes) {
      for (const Pairing pairing : kBothPairings) {
        for (const bool in_place : {true, false}) {
          for (const bool row : {false, true}) {
            if (row && op != ROPE_OP_NORM_SPLIT_ROPE) continue;
            const size_t n = specs.size();
            ProblemSpec spec;
            spec.op = op;
            spec.dtype = dtype;
            spec.pairing = pairing;
            spec.head_dim = head_dim;
            spec.rotary_dim = rotary_dim;
            spec.in_place = in_place;
            spec.packed = is_split;
            // Odd numbers of heads too: the last of a thread's two may be missing.
            spec.heads = head_dim >= 256 ? 2 : n % 5 == 0 ? 6 : 3;
            spec.kv_heads = n % 5 == 0 ? 2 : 1;
            spec.num_tokens = n % 3 == 0 ? 1 : n % 3 == 1 ? 5 : 17;
            if (head_dim > 512) spec.num_tokens = 1 + n % 2;
            spec.position_bits = n % 2 == 0 ? 32 : 64;
            spec.table_dtype = n % 7 == 0 ? Dtype::kBF16 : n % 7 == 1 ? Dtype::kF16 : Dtype::kF32;
            if (op == ROPE_OP_NORM_SPLIT_ROPE) {
              spec.norm = row ? ROPE_NORM_ROW : ROPE_NORM_HEAD;
              spec.norm_weights = n % 11 != 0;
              spec.weight_offset = n % 4 == 0 ? 1.0f : 0.0f;
              spec.values = kValues[n % 4];
            }
            if (op == ROPE_OP_VARLEN_SPLIT_ROPE) {
              spec.position_source = kSources[n / 3 % 3];
              spec.sequence_starts = n % 4 < 2;
              const bool skips =
                  spec.position_source == ROPE_POSITIONS_CU_SEQLENS && spec.num_tokens > 1;
              spec.skipped = skips ? n % 4 : 0;
              if (spec.sequence_starts && n % 5 == 3) spec.first_position = -2;
              spec.seq_lens = sequences_of(spec.num_tokens - spec.skipped, n % 5 < 2);
            }
            specs.push_back(spec);
          }
        }
      }
    }
  }
  return specs;
}

std::vector<ProblemSpec> wide_specs(int op) {
  std::vector<ProblemSpec> specs;
  ProblemSpec spec;
  spec.op = op;
  spec.packed = op != ROPE_OP_ROPE && op != ROPE_OP_ROPE_BACKWARD;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBF16}) {
    spec.dtype = dtype;
    for (const Pairing pairing : kBothPairings) {
      spec.pairing = pairing;
      if (op != ROPE_OP_NORM_SPLIT_ROPE) {
        spec.heads = 32;
        spec.kv_heads = 8;
        spec.head_dim = spec.rotary_dim = 2048;
        spec.num_tokens = specs.empty() ? 1 : 2;
        if (dtype == Dtype::kBF16 && pairing == Pairing::kNeox) spec.num_tokens = 50;
        specs.push_back(spec);
        continue;
      }
      spec.norm = ROPE_NORM_HEAD;
      spec.heads = 4;
      spec.kv_heads = 1;
      spec.head_dim = spec.rotary_dim = 2048;
      spec.num_tokens = 2;
      specs.push_back(spec);
      spec.norm = ROPE_NORM_ROW;
      spec.head_dim = spec.rotary_dim = 128;
      for (const auto& [heads, kv_heads] : {std::pair{96, 96}, {128, 8}, {300, 1}}) {
        spec.heads = heads;
        spec.kv_heads = kv_heads;
        for (const bool after : {false, true}) {
          spec.norm_after = after;
          spec.round_between = kv_heads == 1;
          specs.push_back(spec);
        }
      }
    }
  }
  return specs;
}

std::vector<ProblemSpec> shapes_specs() {
  constexpr std::pair<int, int> kHeads[] = {{1, 1}, {3, 0},  {0, 2},  {0, 0},  {4, 4},
                                            {8, 8}, {14, 2}, {15, 5}, {71, 1}, {232, 8}};
  constexpr std::pair<int, int> kGaps[] = {{0, 0}, {24, 0}, {6, 2}, {0, 3}, {0, 8}};
  std::vector<ProblemSpec> specs;
  for (const auto& [heads, kv_heads] : kHeads) {
    for (const int64_t tokens : {0, 1, 2, 7, 17}) {
      if (heads > 15 && tokens > 1) continue;  // fibers under sanitizers are slow
      for (const int base_offset : {0, 1, 4}) {
        for (const auto& [token_gap, head_gap] : kGaps) {
          for (const bool in_place : {true, false}) {
            ProblemSpec spec;
            spec.dtype = kAllDtypes[specs.size() % 3];
            spec.pairing = tokens % 2 == 0 ? Pairing::kNeox : Pairing::kGptj;
            spec.heads = heads;
            spec.kv_heads = kv_heads;
            spec.num_tokens = tokens;
            spec.head_dim = base_offset == 1 ? 40 : 32;
            spec.rotary_dim = head_gap == 3 ? 32 : 16;
            spec.base_offset = base_offset;
            spec.token_gap = token_gap;
            spec.head_gap = head_gap;
            spec.in_place = in_place;
            spec.position_bits = base_offset == 1 ? 64 : 32;
            specs.push_back(spec);
          }
        }
      }
    }
  }
  return specs;
}

std::vector<ProblemSpec> table_dtype_specs() {
  std::vector<ProblemSpec> specs;
  for (const Dtype table_dtype : kAllDtypes) {
    for (const Dtype dtype : kAllDtypes) {
      for (const Pairing pairing : kBothPairings) {
        for (const int rotary_dim : {2, 6, 20, 24, 64, 1040}) {
          for (const bool in_place : {true, false}) {
            ProblemSpec spec;
            spec.table_dtype = table_dtype;
            spec.dtype = dtype;
            spec.pairing = pairing;
            spec.head_dim = rotary_dim == 64 ? 64 : rotary_dim + 8;
            spec.rotary_dim = rotary_dim;
            spec.in_place = in_place;
            specs.push_back(spec);
          }
        }
      }
    }
  }
  return specs;
}

std::vector<ProblemSpec> far_position_specs() {
  std::vector<ProblemSpec> specs;
  for (int op = ROPE_OP_ROPE; op <= ROPE_OP_SPLIT_ROPE_BACKWARD; ++op) {
    for (const Pairing pairing : kBothPairings) {
      for (const int64_t position :
           {int64_t{0}, int64_t{131'000}, (int64_t{1} << 24) + 1, (int64_t{1} << 31) - 8}) {
        ProblemSpec spec;
        spec.op = op;
        spec.pairing = pairing;
        spec.head_dim = spec.rotary_dim = 64;
        spec.num_tokens = 7;
        spec.norm = op == ROPE_OP_NORM_SPLIT_ROPE ? ROPE_NORM_HEAD : ROPE_NORM_NONE;
        spec.position_bits = 64;
        spec.first_position = position;
        spec.reversed = position == 131'000;
        spec.attention_factor = position == 0 ? 1 : 1.25f;
        spec.has_table = false;
        specs.push_back(spec);
      }
    }
  }
  return specs;
}

namespace {

// A refusal without its numbers.
std::string without_numbers(const std::string& reason) {
  std::string text;
  for (const char c : reason) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      text += c;
    } else if (text.empty() || text.back() != 'N') {
      text += 'N';
    }
  }
  return text;
}

}  // namespace

SpecRun run_specs(const RopeVariant& variant, const std::vector<ProblemSpec>& specs,
                  const LaunchProblem& launch) {
  SpecRun run;
  int wrong = 0;
  for (const ProblemSpec& spec : specs) {
    if (spec.op != variant.op || (!spec.has_table && variant.uses_table != 0)) continue;
    Problem problem(spec);
    const RopeKernelArgs args = problem.args(variant.uses_table != 0);
    char reason[256] = "";
    if (variant.why_not(&args, reason, sizeof(reason)) != 0) {
      ++run.refused[without_numbers(reason)];
      continue;
    }
    ++run.computed;
    std::string fault = launch(problem, variant);
    if (fault.empty()) fault = problem.check(variant);
    if (fault.empty()) continue;
    ADD_FAILURE() << variant.name << ": " << spec.name() << "\n  " << fault;
    if (++wrong == 10) return run;  // enough to see a pattern
  }
  return run;
}

}  // namespace rope_bench::testing
