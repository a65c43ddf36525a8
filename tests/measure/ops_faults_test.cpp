// Each way to get an op wrong fails its row.
#include <cstring>
#include <utility>

#include "tests/measure/op_cases.h"

namespace rope_bench {
namespace {

// What a wrong kernel gets: the launch, changed.
template <auto kChange>
int32_t changed_launch(const RopeKernelArgs* args) {
  RopeKernelArgs other = *args;
  kChange(&other);
  return right_launch(&other);
}

RopeCase with_bias(Op op) {
  RopeCase c = op_case(op);
  c.qkv_bias = true;
  return c;
}
RopeCase padded() {
  RopeCase c = sequences();
  c.varlen.source = "position_ids";
  c.varlen.padded_output = true;
  return c;
}
RopeCase in_place(RopeCase c) {
  c.layout.in_place = true;
  return c;
}

struct Fault {
  const char* name;
  RopeCase c;
  int32_t (*launch)(const RopeKernelArgs*);
  const char* reason;  // part of it
};

std::vector<Fault> faults() {
  const char* over = "beyond their bound";
  return {
      {"v is not written", op_case(Op::kSplitRope),
       changed_launch<[](RopeKernelArgs* a) { a->v.num_heads = 0; }>, over},
      {"v comes from k", op_case(Op::kSplitRope),
       changed_launch<[](RopeKernelArgs* a) { a->v.in = a->k.in; }>, over},
      {"v of a gradient is zero", op_case(Op::kSplitRopeBackward),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         std::memset(a->v.out, 0, 128);
         return 0;
       },
       over},
      {"v is changed in place", in_place(op_case(Op::kNormSplitRope)),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         out16(a->v)[7] ^= 1;
         return 0;
       },
       over},
      // C041: right for the first token, or the first head, only.
      {"the bias is one element further", with_bias(Op::kSplitRope),
       changed_launch<[](RopeKernelArgs* a) {
         a->bias = static_cast<const uint16_t*>(a->bias) - 1;
       }>,
       over},
      {"there is no bias", with_bias(Op::kNormSplitRope),
       changed_launch<[](RopeKernelArgs* a) { a->bias = nullptr; }>, over},
      {"the weights of q and k are swapped", op_case(Op::kNormSplitRope),  // C116, C184
       changed_launch<[](RopeKernelArgs* a) { std::swap(a->q_weight, a->k_weight); }>, over},
      {"the norm has no weights", op_case(Op::kNormSplitRope),
       changed_launch<[](RopeKernelArgs* a) { a->q_weight = nullptr; }>, over},
      {"the norm is over all heads",  // C111
       [] {
         RopeCase c = op_case(Op::kNormSplitRope);
         c.norm.weight = false;
         return c;
       }(),
       changed_launch<[](RopeKernelArgs* a) { a->norm = ROPE_NORM_ROW; }>, over},
      {"the norm is behind the rotation", op_case(Op::kNormSplitRope),
       changed_launch<[](RopeKernelArgs* a) { a->norm_after = 1; }>, over},
      {"a gradient turns forward", op_case(Op::kRopeBackward),  // C118
       [](const RopeKernelArgs* a) {
         RopeKernelArgs other = *a;
         other.op = ROPE_OP_ROPE;
         return right_launch(&other);
       },
       over},
      {"every sequence starts like the first",
       [] {
         RopeCase c = sequences();
         c.positions.kind = PositionKind::kDecode;
         return c;
       }(),
       changed_launch<[](RopeKernelArgs* a) { a->sequence_starts = nullptr; }>, over},
      {"positions go on from sequence to sequence", sequences(),  // C031
       [](const RopeKernelArgs* a) {
         const int32_t all[] = {0, 8};
         RopeKernelArgs other = *a;
         other.positions = all;
         other.num_sequences = 1;
         return right_launch(&other);
       },
       over},
      {"padded rows are one too low", padded(),
       [](const RopeKernelArgs* a) {
         int32_t rows[10];
         for (int t = 0; t < 10; ++t) rows[t] = a->out_rows[t] + 1;
         RopeKernelArgs other = *a;
         other.out_rows = rows;
         return right_launch(&other);
       },
       over},
      {"a row of padding is written", padded(),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         out16(a->v)[3 * a->v.out_token_stride] = 0;  // behind the first sequence's three
         return 0;
       },
       "rows of padding"},
      {"a padding token is written", sequences(),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         out16(a->q)[9 * a->q.out_token_stride + 5] = 0;
         return 0;
       },
       "rows of padding"},
      {"a padding token is rotated in place", in_place(sequences()),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         out16(a->k)[8 * a->k.out_token_stride + 5] ^= 1;
         return 0;
       },
       "rows of padding"},
      {"batch entries are one token apart",
       [] {
         RopeCase c = op_case(Op::kRope);
         c.layout.heads_tokens_dim = true;
         c.batch = 2;
         return c;
       }(),
       changed_launch<[](RopeKernelArgs* a) { a->in_batch_tokens = a->out_batch_tokens = 0; }>, ""},
      {"the packed input is changed", op_case(Op::kSplitRope),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         static_cast<uint16_t*>(const_cast<void*>(a->v.in))[1] = 0x4242;
         return 0;
       },
       "changed its input qkv"},
      {"the bias is changed", with_bias(Op::kSplitRope),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         static_cast<uint16_t*>(const_cast<void*>(a->bias))[3] = 0;
         return 0;
       },
       "changed the bias"},
      {"the weights are changed", op_case(Op::kNormSplitRope),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         static_cast<uint16_t*>(const_cast<void*>(a->k_weight))[3] = 0;
         return 0;
       },
       "changed the k weights"},
      {"cu_seqlens are changed", sequences(),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         static_cast<int32_t*>(const_cast<void*>(a->positions))[3] = 10;
         return 0;
       },
       "changed the positions"},
      {"one element behind the packed rows", op_case(Op::kSplitRopeBackward),
       [](const RopeKernelArgs* a) {
         right_launch(a);
         out16(a->q)[5 * a->q.out_token_stride] = 1;
         return 0;
       },
       "guard band"},
  };
}

TEST(OpsRun, PlantedFaultsFail) {
  for (const Fault& fault : faults()) {
    ASSERT_EQ(run_one(fault.c, right_launch).status, Status::kPassed) << fault.name;
    const Result r = run_one(fault.c, fault.launch);
    EXPECT_EQ(r.status, Status::kFailed) << fault.name;
    EXPECT_NE(r.reason.find(fault.reason), std::string::npos) << fault.name << ": " << r.reason;
  }
}

}  // namespace
}  // namespace rope_bench
