// Algorithmic bytes: each distinct byte read once and written once.
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

ByteCount bytes(const std::string& text) { return bytes_of(only_case(text)); }

TEST(Bytes, OneTokenInPlace) {  // C151
  const ByteCount count =
      bytes(R"({"model": {"num_heads": 32, "num_kv_heads": 8, "head_dim": 128}, "tokens": 1})");
  EXPECT_EQ(count.read, 10240);
  EXPECT_EQ(count.write, 10240);
  EXPECT_EQ(count.table, 512);
  EXPECT_EQ(count.positions, 4);
  EXPECT_EQ(count.total(), 20996);
}

TEST(Bytes, ManyTokensOutOfPlace) {  // C155
  const ByteCount count = bytes(
      R"({"model": {"num_heads": 16, "num_kv_heads": 16, "head_dim": 80}, "tokens": 49152,
          "layout": {"in_place": false}})");
  EXPECT_EQ(count.read + count.write, 503316480);
  EXPECT_EQ(count.total(), 519241728);
}

TEST(Bytes, PassThroughDimsCostOnlyOutOfPlace) {
  const std::string partial =
      R"({"model": {"num_heads": 32, "num_kv_heads": 2, "head_dim": 128}, "tokens": 10,
          "rope": {"rotary_dim": 64}, "layout": {"in_place": )";
  EXPECT_EQ(bytes(partial + "true}}").read, 10 * 34 * 64 * 2);
  EXPECT_EQ(bytes(partial + "true}}").write, 10 * 34 * 64 * 2);
  EXPECT_EQ(bytes(partial + "false}}").read, 10 * 34 * 128 * 2);
  EXPECT_EQ(bytes(partial + "false}}").table, 10 * 64 * 4);
}

TEST(Bytes, TableRowsOncePerDistinctPosition) {
  const std::string model = R"({"model": {"num_heads": 1, "head_dim": 8, "max_position": 50)";
  EXPECT_EQ(bytes(model + R"(, "batch": 4}, "tokens": 6})").table, 6 * 8 * 4);
  EXPECT_EQ(bytes(model + R"(}, "seq_lens": [3, 0, 5]})").table, 5 * 8 * 4);
  EXPECT_EQ(bytes(model + R"(}, "positions": [7, 7, 7, 2]})").table, 2 * 8 * 4);
  EXPECT_EQ(bytes(model + R"(}, "tokens": 10000, "positions": "random"})").table, 50 * 8 * 4);
  EXPECT_EQ(bytes(model + R"(}, "tokens": 3, "rope": {"table": {"dtype": "bf16"}}})").table,
            3 * 8 * 2);
  // Few positions out of many rows are counted one by one.
  const RopeCase sparse = only_case(
      R"({"model": {"num_heads": 1, "head_dim": 8, "max_position": 1000000000}, "tokens": 100,
          "positions": "random", "seed": 5})");
  EXPECT_EQ(bytes_of(sparse).table, 100 * 8 * 4);
}

TEST(Bytes, DtypesAndPositionTypes) {
  const std::string model = R"({"model": {"num_heads": 1, "head_dim": 8}, "tokens": 10)";
  EXPECT_EQ(bytes(model + R"(, "dtype": "f32"})").read, 10 * 2 * 8 * 4);
  EXPECT_EQ(bytes(model + R"(, "dtype": "f16"})").read, 10 * 2 * 8 * 2);
  EXPECT_EQ(bytes(model + R"(, "position_dtype": "int64"})").positions, 80);
}

// With rope.axes the table has a row for every token, and a token reads one position: its row.
TEST(Bytes, PositionAxesAreFoldedIntoRows) {
  const std::string text =
      R"({"model": {"num_heads": 1, "head_dim": 8, "batch": 2}, "tokens": 10,
          "rope": {"axes": {"kind": "mrope", "section": [2, 1, 1]}}})";
  EXPECT_EQ(bytes(text).table, 20 * 8 * 4);
  EXPECT_EQ(bytes(text).positions, 20 * 4);
}

TEST(Bytes, FusedOpsMoveV) {
  const std::string model =
      R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8}, "tokens": 10, "op": )";
  EXPECT_EQ(bytes(model + R"("split_rope"})").read, 10 * 8 * 8 * 2);
  EXPECT_EQ(bytes(model + R"("split_rope"})").write, 10 * 8 * 8 * 2);
  EXPECT_EQ(bytes(model + R"("split_rope", "qkv_bias": true})").read, (10 * 8 * 8 + 8 * 8) * 2);
  EXPECT_EQ(bytes(model + R"("norm_split_rope"})").read, (10 * 8 * 8 + 2 * 8) * 2);
  EXPECT_EQ(bytes(model + R"("norm_split_rope", "norm": {"span": "row"}})").read,
            (10 * 8 * 8 + 6 * 8) * 2);
  EXPECT_EQ(bytes(model + R"("rope_backward"})").read, 10 * 6 * 8 * 2);
}

// A bias changes every element, V's too; a norm those of Q and K.
TEST(Bytes, InPlaceWhatDoesNotChangeIsFree) {
  const std::string model =
      R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8}, "tokens": 10,
          "rope": {"rotary_dim": 4}, "layout": {"in_place": true}, "op": )";
  EXPECT_EQ(bytes(model + R"("split_rope"})").write, 10 * 6 * 4 * 2);
  EXPECT_EQ(bytes(model + R"("split_rope_backward"})").write, 10 * 6 * 4 * 2);
  EXPECT_EQ(bytes(model + R"("norm_split_rope"})").write, 10 * 6 * 8 * 2);
  EXPECT_EQ(bytes(model + R"("split_rope", "qkv_bias": true})").write, 10 * 8 * 8 * 2);
}

TEST(Bytes, ANormWithoutWeightsReadsNone) {
  const std::string model =
      R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8}, "tokens": 10,
          "op": "norm_split_rope", "norm": {"weight": false}})";
  EXPECT_EQ(bytes(model).read, 10 * 8 * 8 * 2);
}

// What several launches move: the split all heads, the norm Q and K, the rotation what rotates.
TEST(Bytes, UnfusedIsTheSumOfItsLaunches) {
  const std::string model =
      R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8}, "tokens": 10,
          "rope": {"rotary_dim": 4}, "variant": "unfused", "op": )";
  const int64_t split = 10 * 8 * 8 * 2, norm = 10 * 6 * 8 * 2, rotation = 10 * 6 * 4 * 2;
  const int64_t weights = 2 * 8 * 2, bias = 8 * 8 * 2;
  EXPECT_EQ(bytes(model + R"("split_rope"})").write, split + rotation);
  EXPECT_EQ(bytes(model + R"("split_rope_backward"})").write, split + rotation);
  EXPECT_EQ(bytes(model + R"("norm_split_rope"})").write, split + norm + rotation);
  EXPECT_EQ(bytes(model + R"("norm_split_rope"})").read, split + norm + rotation + weights);
  EXPECT_EQ(bytes(model + R"("split_rope", "layout": {"in_place": true}})").write, rotation);
  const ByteCount with_bias =
      bytes(model + R"("split_rope", "layout": {"in_place": true}, "qkv_bias": true})");
  EXPECT_EQ(with_bias.write, split + rotation);
  EXPECT_EQ(with_bias.read, split + rotation + bias);
}

TEST(Bytes, VariantsWithoutATableReadNone) {
  const RopeCase plain = only_case(
      R"({"model": {"num_heads": 4, "head_dim": 8}, "tokens": 10, "position_dtype": "int64"})");
  EXPECT_EQ(bytes_of(plain, false).table, 0);
  EXPECT_EQ(bytes_of(plain, false).positions, 80);
  EXPECT_EQ(bytes_of(plain, false).read, bytes_of(plain).read);
  // With axes they read the position on each of these.
  const RopeCase axes = only_case(
      R"({"model": {"num_heads": 4, "head_dim": 8}, "tokens": 10,
          "rope": {"axes": {"kind": "mrope", "section": [2, 1, 1]}}})");
  EXPECT_EQ(bytes_of(axes, false).positions, 3 * 10 * 4);
}

TEST(Bytes, SourcesOfPositions) {
  const std::string model =
      R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8}, "seq_lens": [3, 0, 5],
          "op": "varlen_split_rope", )";
  EXPECT_EQ(bytes(model + R"("dtype": "f16"})").positions, 4 * 4);
  EXPECT_EQ(bytes(model + R"("position_offset": 3})").positions, (4 + 3) * 4);
  EXPECT_EQ(bytes(model + R"("varlen": {"source": "padding_offset"}})").positions, 8 * 4);
  EXPECT_EQ(bytes(model + R"("varlen": {"source": "position_ids"}, "position_dtype": "int64"})")
                .positions,
            8 * 8);
  // Where rows of the output are not found from cu_seqlens they are listed.
  EXPECT_EQ(bytes(model + R"("varlen": {"source": "position_ids", "output": "padded"}})").positions,
            8 * (4 + 4));
  EXPECT_EQ(bytes(model + R"("varlen": {"output": "padded"}})").positions, 4 * 4);
}

TEST(Bytes, StridesAndOffsetsDoNotChangeWhatMoves) {
  const std::string mla =
      R"({"model": {"num_heads": 64, "num_kv_heads": 1, "head_dim": 64}, "tokens": 8,
          "layout": {"q": {"token_stride": 16384, "head_stride": 256, "rotary_offset": 192}}})";
  EXPECT_EQ(bytes(mla).read, 8 * 65 * 64 * 2);  // C029
}

}  // namespace
}  // namespace rope_bench::testing
