// What a launch is given beside its operands.
#include "src/measure/parameters.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/kernel_api.h"

namespace rope_bench {
namespace {

RopeCase sequences(const char* source) {
  RopeCase c;
  c.op = Op::kVarlenSplitRope;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 8;
  c.rope.rotary_dim = 8;
  c.seq_lens = {2, 0, 3};
  c.tokens = 6;
  c.positions.offset = 7;
  c.varlen.source = source;
  c.layout.in_place = false;
  return c;
}

HostParameters parameters(const RopeCase& c, bool uses_table = true) {
  static TableCache tables;
  const auto table = tables.get(c, 1);
  return HostParameters(c, uses_table, *table, token_rows_of(c));
}

template <typename T>
std::vector<T> values(const HostParameters& from, Parameter p) {
  std::vector<T> list(from.bytes(p) / sizeof(T));
  if (!list.empty()) std::memcpy(list.data(), from.data(p), from.bytes(p));
  return list;
}

using Ints = std::vector<int32_t>;

TEST(Parameters, PositionsInTheFormOfTheirSource) {
  const HostParameters cu = parameters(sequences("cu_seqlens"));
  EXPECT_EQ(values<int32_t>(cu, Parameter::kPositions), (Ints{0, 2, 2, 5}));
  EXPECT_EQ(values<int32_t>(cu, Parameter::kSequenceStarts), (Ints{7, 0, 7}));
  const HostParameters offsets = parameters(sequences("padding_offset"));
  EXPECT_EQ(values<int32_t>(offsets, Parameter::kPositions), (Ints{7, 7, 5, 5, 5, -6}));
  const HostParameters ids = parameters(sequences("position_ids"));
  EXPECT_EQ(values<int32_t>(ids, Parameter::kPositions), (Ints{7, 8, 7, 8, 9, -1}));
  RopeCase wide = sequences("position_ids");
  wide.positions.bits = 64;  // C056
  EXPECT_EQ(values<int64_t>(parameters(wide), Parameter::kPositions),
            (std::vector<int64_t>{7, 8, 7, 8, 9, -1}));
}

TEST(Parameters, RowsOfAPaddedOutputAreListedWhereCuSeqlensDoNotTell) {
  for (const char* source : {"padding_offset", "position_ids"}) {
    RopeCase c = sequences(source);
    c.varlen.padded_output = true;
    EXPECT_EQ(values<int32_t>(parameters(c), Parameter::kOutRows), (Ints{0, 1, 6, 7, 8, -1}));
  }
  RopeCase c = sequences("cu_seqlens");
  c.varlen.padded_output = true;
  EXPECT_EQ(parameters(c).bytes(Parameter::kOutRows), 0u);
}

TEST(Parameters, AVariantWithoutATableHasTurns) {
  RopeCase c = sequences("position_ids");
  c.rope.axes = {"mrope", {2, 1, 1}};
  const HostParameters p = parameters(c, false);
  EXPECT_EQ(values<uint64_t>(p, Parameter::kTurns).size(), 4u);
  EXPECT_EQ(values<float>(p, Parameter::kInvFreq)[0], 1.0f);
  EXPECT_EQ(values<uint8_t>(p, Parameter::kPairAxis), (std::vector<uint8_t>{0, 0, 1, 2}));
  EXPECT_EQ(values<int32_t>(p, Parameter::kAxisPositions).size(), 3u * 6);
  EXPECT_EQ(parameters(c, true).bytes(Parameter::kTurns), 0u);
}

// The layout of sets is planned from sizes alone: these are the sizes that come.
TEST(Parameters, SizesAreKnownBeforehand) {
  for (const bool uses_table : {true, false}) {
    for (const Op op : {Op::kRope, Op::kSplitRope, Op::kNormSplitRope, Op::kVarlenSplitRope,
                        Op::kSplitRopeBackward}) {
      for (const bool axes : {true, false}) {
        RopeCase c = sequences("cu_seqlens");
        c.op = op;
        if (op != Op::kVarlenSplitRope) c.tokens = 5;
        c.qkv_bias = true;
        c.norm.span_row = true;
        c.varlen.padded_output = true;
        if (axes) c.rope.axes = {"mrope", {2, 1, 1}};
        c.rope.table.dtype = axes ? Dtype::kF32 : Dtype::kBF16;
        const auto sizes = parameter_bytes(c, uses_table, table_rows_used(token_rows_of(c)));
        const HostParameters p = parameters(c, uses_table);
        for (size_t i = 0; i < kNumParameters; ++i) {
          const auto which = static_cast<Parameter>(i);
          // The judge has a table even where kernels have none.
          if (which == Parameter::kTable && !uses_table) continue;
          EXPECT_EQ(p.bytes(which), sizes[i]) << name(op) << ": " << name(which);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rope_bench
