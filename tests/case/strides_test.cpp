// Strides and what an operand spans.
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

TensorExtent q_of(const RopeCase& c) { return extent_of(c, c.layout.q, c.num_heads); }
TensorExtent k_of(const RopeCase& c) { return extent_of(c, c.layout.k, c.num_kv_heads); }

TEST(Strides, PackedUnlessGiven) {
  const RopeCase c = only_case(config_with(""));  // 4 tokens, 8/2 heads of 64
  EXPECT_EQ(q_of(c).head_stride, 64);
  EXPECT_EQ(q_of(c).token_stride, 512);
  EXPECT_EQ(q_of(c).elements, 2048);
  EXPECT_EQ(k_of(c).token_stride, 128);
  EXPECT_EQ(k_of(c).elements, 512);
}

TEST(Strides, OfEachTensorByItself) {  // C029, C046
  const RopeCase mla = only_case(
      R"({"model": {"num_heads": 64, "num_kv_heads": 1, "head_dim": 64}, "tokens": 8,
          "layout": {"q": {"token_stride": 16384, "head_stride": 256, "rotary_offset": 192},
                     "k": {"token_stride": 64, "head_stride": 64}}})");
  EXPECT_EQ(q_of(mla).token_stride, 16384);
  EXPECT_EQ(q_of(mla).head_stride, 256);
  EXPECT_EQ(q_of(mla).elements, 8 * 16384);  // the last head ends at 256
  EXPECT_EQ(k_of(mla).elements, 8 * 64);
  const RopeCase view = only_case(
      R"({"model": {"num_heads": 64, "num_kv_heads": 8, "head_dim": 128}, "tokens": 209717,
          "layout": {"q": {"token_stride": 10240}}})");
  EXPECT_EQ(q_of(view).elements, int64_t{209716} * 10240 + 8192);
  EXPECT_EQ(k_of(view).elements, int64_t{209717} * 1024);
}

TEST(Strides, HeadsTokensDim) {
  const RopeCase c = only_case(
      R"({"model": {"num_heads": 3, "head_dim": 8, "batch": 2}, "tokens": 5,
          "layout": {"order": "heads_tokens_dim"}})");
  EXPECT_EQ(q_of(c).token_stride, 8);
  EXPECT_EQ(q_of(c).head_stride, 40);
  EXPECT_EQ(q_of(c).elements, 2 * 3 * 5 * 8);
}

TEST(Strides, ThatOverlapAreRefused) {
  struct Row {
    const char* layout;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {R"({"q": {"token_stride": 511}})", {"/layout/q/token_stride", "511", "512", "8 heads"}},
      {R"({"k": {"token_stride": 127}})", {"/layout/k/token_stride", "127", "128", "2 heads"}},
      {R"({"q": {"head_stride": 63}})", {"/layout/q/head_stride", "63", "64"}},
      {R"({"q": {"token_stride": 0}})", {"/layout/q/token_stride", "0"}},
      {R"({"q": {"rotary_offset": 32, "head_stride": 64}})", {"/layout/q/head_stride", "96"}},
      {R"({"q": {"rotary_offset": 32}})",
       {"/layout/q/rotary_offset", "head_dim 64", "head_stride"}},
      {R"({"q": {"head_stride": 128, "token_stride": 512}})", {"/layout/q/token_stride", "960"}},
      {R"({"order": "heads_tokens_dim", "q": {"token_stride": 63}})", {"63", "64"}},
      {R"({"order": "heads_tokens_dim", "q": {"head_stride": 255}})", {"255", "256"}},
  };
  for (const Row& row : rows) {
    expect_error(config_with(std::string(R"("layout": )") + row.layout), row.parts);
  }
  // The last head of a row needs no room behind it.
  EXPECT_EQ(error_of(config_with(R"("layout": {"q": {"head_stride": 128, "token_stride": 960}})")),
            "no error");
}

TEST(Strides, OfAnAxisOfSizeOneAreIgnored) {  // C043
  for (const char* stride : {"0", "512", "2147483648", "4611686018427387904"}) {
    const RopeCase c =
        only_case(std::string(R"({"model": {"num_heads": 8, "head_dim": 64}, "tokens": 1,
                        "layout": {"q": {"token_stride": )") +
                  stride + "}}}");
    EXPECT_EQ(q_of(c).elements, 512);
    EXPECT_EQ(q_of(c).token_stride, 512);
  }
  const RopeCase one_head = only_case(
      R"({"model": {"num_heads": 1, "head_dim": 64}, "tokens": 3,
          "layout": {"q": {"head_stride": 0}}})");
  EXPECT_EQ(q_of(one_head).elements, 192);
  // The token stride counts as soon as there is a second token, of whichever sequence.
  expect_error(R"({"model": {"num_heads": 8, "head_dim": 64, "batch": 2}, "tokens": 1,
                  "layout": {"q": {"token_stride": 0}}})",
               {"/layout/q/token_stride"});
}

}  // namespace
}  // namespace rope_bench::testing
