// The problems that kernels are judged by: nothing in them may be forgotten by those who move them
// to other memory, and a check must see what is wrong.
#include <cstring>
#include <set>

#include "tests/kernels/cpu_test_kernels.h"

namespace rope_bench::testing {
namespace {

// Every address in the arguments is one of pointers(), whatever fields are added.
TEST(RopeProblem, PointersNameEveryPointer) {
  ProblemSpec spec;
  spec.op = ROPE_OP_NORM_SPLIT_ROPE;
  spec.norm = ROPE_NORM_HEAD;
  spec.bias = true;
  spec.in_place = false;
  spec.seq_lens = {1, 2};
  spec.padded = Padded::kOutRows;
  ProblemSpec with_axes = spec, with_starts = spec;
  with_axes.axes = 3;
  with_starts.position_source = ROPE_POSITIONS_CU_SEQLENS;
  with_starts.sequence_starts = true;
  for (const ProblemSpec& s : {with_axes, with_starts}) {
    Problem problem(s);
    RopeKernelArgs args = problem.args();
    size_t found = 0, listed = 0;
    const auto count_addresses = [&] {
      found = 0;
      for (size_t i = 0; i + sizeof(uintptr_t) <= sizeof(args); i += sizeof(uintptr_t)) {
        uintptr_t word;
        std::memcpy(&word, reinterpret_cast<const char*>(&args) + i, sizeof(word));
        for (const std::vector<std::byte>* buffer : problem.buffers()) {
          const auto begin = reinterpret_cast<uintptr_t>(buffer->data());
          found += word >= begin && word < begin + buffer->size() ? 1 : 0;
        }
      }
    };
    count_addresses();
    for (const void** pointer : pointers(args)) {
      listed += *pointer != nullptr ? 1 : 0;
      *pointer = nullptr;
    }
    EXPECT_EQ(found, listed);
    EXPECT_GE(listed, 13u);
    count_addresses();
    EXPECT_EQ(found, 0u);
  }
}

// No operand begins outside its buffer, tokens or not: the address might be that of another.
TEST(RopeProblem, OperandsBeginInsideBuffers) {
  for (const ProblemSpec& spec : all_op_specs()) {
    if (spec.num_tokens > 1) continue;
    Problem problem(spec);
    RopeKernelArgs args = problem.args();
    for (const void** pointer : pointers(args)) {
      if (*pointer == nullptr) continue;
      int owners = 0;
      for (const std::vector<std::byte>* buffer : problem.buffers()) {
        const auto* p = static_cast<const std::byte*>(*pointer);
        owners += p >= buffer->data() && p < buffer->data() + buffer->size() ? 1 : 0;
      }
      ASSERT_EQ(owners, 1) << spec.name();
    }
  }
}

// The names tell all specs apart, and there are as many as a sanitized run has time for.
TEST(RopeProblem, OpSpecsAreDistinctAndMeetPairwise) {
  const std::vector<ProblemSpec> specs = all_op_specs();
  std::set<std::string> names;
  std::set<std::string> pairs[6];  // per op
  for (const ProblemSpec& s : specs) {
    names.insert(s.name());
    const std::string features[] = {
        "T" + std::to_string(s.num_tokens),
        "source" + std::to_string(s.position_source) + (s.sequence_starts ? "+" : ""),
        "padded" + std::to_string(static_cast<int>(s.padded)),
        "layout" + std::to_string(s.heads_major) + std::to_string(s.out_heads_major),
        "batch" + std::to_string(s.batch_tokens),
        "place" + std::to_string(s.in_place) + std::to_string(s.packed),
        "offset" + std::to_string(s.q_rotary_offset > s.head_dim) +
            std::to_string(s.k_rotary_offset > 0),
        "norm" + std::to_string(s.norm) + std::to_string(s.norm_after) +
            std::to_string(s.round_between) + std::to_string(s.norm_weights),
        "bias" + std::to_string(s.bias),
        "values" + std::to_string(static_cast<int>(s.values)),
        "table" + std::to_string(static_cast<int>(s.table_dtype)),
        "axes" + std::to_string(s.axes) + std::to_string(s.reversed)};
    for (const std::string& a : features)
      for (const std::string& b : features) pairs[s.op].insert(a + ' ' + b);
  }
  EXPECT_EQ(names.size(), specs.size());
  EXPECT_GT(specs.size(), 1500u);
  EXPECT_LT(specs.size(), 5000u);
  for (int op = 0; op < 6; ++op) {
    EXPECT_EQ(pairs[op].count("T17 source2+"), 1u) << op;
    EXPECT_EQ(pairs[op].count("padded2 layout01"), 1u) << op;
    EXPECT_EQ(pairs[op].count("batch4 axes30"), 1u) << op;
    EXPECT_EQ(pairs[op].count("place11 values4"), 1u) << op;
    EXPECT_EQ(pairs[op].count("offset00 place01"), 1u) << op;
  }
  for (const char* pair : {"norm2111 bias1", "norm1010 values2", "norm1101 padded1"})
    EXPECT_EQ(pairs[ROPE_OP_NORM_SPLIT_ROPE].count(pair), 1u) << pair;
}

struct Fault {
  const char* name;
  void (*plant)(RopeKernelArgs& args);
};

// Runs a right kernel on arguments that are not the problem's.
std::string verdict(const ProblemSpec& spec, const Fault& fault) {
  size_t count = 0;
  const RopeVariant* rows = rope_cpu_variants(&count);
  for (size_t i = 0; i < count; ++i) {
    if (rows[i].op != spec.op || std::strcmp(rows[i].name, "naive") != 0) continue;
    Problem problem(spec);
    RopeKernelArgs args = problem.args();
    fault.plant(args);
    EXPECT_EQ(rows[i].launch(&args), 0) << fault.name;
    return problem.check(rows[i]);
  }
  return "no variant naive";
}

// A check sees what kernels get wrong, in every dtype.
TEST(RopeProblem, FaultsAreSeen) {
  const Fault kFaults[] = {
      {"the other pairing", [](RopeKernelArgs& a) { a.pairing = 1 - a.pairing; }},
      {"no bias", [](RopeKernelArgs& a) { a.bias = nullptr; }},
      {"bias of the head before",
       [](RopeKernelArgs& a) {
         a.bias = static_cast<const char*>(a.bias) - a.head_dim * (a.dtype == 0 ? 4 : 2);
       }},
      {"v left out", [](RopeKernelArgs& a) { a.v.num_heads = 0; }},
      {"k by the heads of q", [](RopeKernelArgs& a) { a.k.in = a.q.in; }},
      {"all in one sequence", [](RopeKernelArgs& a) { a.num_sequences = 1; }},
      {"starts left out", [](RopeKernelArgs& a) { a.sequence_starts = nullptr; }},
      {"a slice that begins elsewhere", [](RopeKernelArgs& a) { a.q.rotary_offset += 2; }},
      {"padded to another length",
       [](RopeKernelArgs& a) { a.q.out_batch_stride -= a.q.out_token_stride; }},
      {"k where q is", [](RopeKernelArgs& a) { a.k.out = a.q.out; }},
  };
  const Fault kPlainFaults[] = {
      {"the other direction", [](RopeKernelArgs& a) { a.op = ROPE_OP_SPLIT_ROPE_BACKWARD; }},
      {"one token fewer", [](RopeKernelArgs& a) { --a.num_tokens; }},
  };
  const Fault kNormFaults[] = {
      {"weights of q and k swapped", [](RopeKernelArgs& a) { std::swap(a.q_weight, a.k_weight); }},
      {"w without 1", [](RopeKernelArgs& a) { a.weight_offset = 0; }},
      {"no weights", [](RopeKernelArgs& a) { a.q_weight = nullptr; }},
      {"the other order", [](RopeKernelArgs& a) { a.norm_after = 1 - a.norm_after; }},
      {"ten times epsilon", [](RopeKernelArgs& a) { a.norm_eps *= 10; }},
  };
  const Fault kRoundFault = {"not rounded between", [](RopeKernelArgs& a) { a.round_between = 0; }};
  const Fault kNone = {"none", [](RopeKernelArgs&) {}};
  for (const Dtype dtype : kAllDtypes) {
    ProblemSpec spec;
    spec.op = ROPE_OP_VARLEN_SPLIT_ROPE;
    spec.dtype = dtype;
    spec.head_dim = 16;
    spec.rotary_dim = 8;
    spec.q_rotary_offset = 2;
    spec.num_tokens = 9;
    spec.in_place = false;
    spec.packed = true;
    spec.bias = true;
    spec.seq_lens = {2, 0, 5};
    spec.position_source = ROPE_POSITIONS_CU_SEQLENS;
    spec.sequence_starts = true;
    spec.padded = Padded::kBySequence;
    spec.base_offset = spec.head_dim;  // so that there is something to read before the bias
    EXPECT_EQ(verdict(spec, kNone), "");
    for (const Fault& fault : kFaults)
      EXPECT_NE(verdict(spec, fault), "") << fault.name << ": " << spec.name();

    ProblemSpec plain = spec;
    plain.bias = false;
    plain.seq_lens = {2, 0, 7};
    EXPECT_EQ(verdict(plain, kNone), "");
    for (const Fault& fault : kPlainFaults)
      EXPECT_NE(verdict(plain, fault), "") << fault.name << ": " << plain.name();

    ProblemSpec norm = spec;
    norm.op = ROPE_OP_NORM_SPLIT_ROPE;
    norm.norm = ROPE_NORM_ROW;
    norm.kv_heads = norm.heads;  // so that weights of the one have room for the other
    norm.weight_offset = 1;
    norm.values = Values::kTiny;
    norm.bias = false;
    norm.norm_eps = 1e-6f;
    EXPECT_EQ(verdict(norm, kNone), "");
    for (const Fault& fault : kNormFaults)
      EXPECT_NE(verdict(norm, fault), "") << fault.name << ": " << norm.name();
    if (dtype == Dtype::kF32) continue;  // nothing to round to
    for (const bool after : {false, true}) {
      norm.values = Values::kNormal;
      norm.norm_after = after;
      norm.round_between = true;
      EXPECT_EQ(verdict(norm, kNone), "");
      EXPECT_NE(verdict(norm, kRoundFault), "") << norm.name();
    }
  }
}

}  // namespace
}  // namespace rope_bench::testing
