// Inputs on which public kernels of fused ops went wrong, as configs that the program runs on the
// CPU: each row compares every element, pass-through dims and guard bands with the reference.
#include <algorithm>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

// Runs a config with --no-measure and expects `rows` rows, all passed.
Json all_pass(const std::string& config, size_t rows, const std::vector<std::string>& more = {}) {
  SCOPED_TRACE(config);
  ScratchFolder scratch;
  scratch.write("t.json", config);
  std::vector<std::string> args = {"-c",  scratch.file("t.json"), "-d", "cpu", "--no-measure", "-o",
                                   "json"};
  args.insert(args.end(), more.begin(), more.end());
  const ProcessResult result = rope_bench(args);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  if (result.exit_code != 0) return Json::object();
  Json results = Json::parse(result.out).at("results");
  EXPECT_EQ(results.size(), rows);
  for (const Json& row : results) {
    EXPECT_EQ(row.at("status"), "passed") << row.at("name") << ": " << row.at("reason");
  }
  return results;
}

// C009: per-head norms and partial NeoX, where more rows than a device holds at once begin and on
// both sides of it. (That a token does not depend on the others: tests/kernels.)
TEST(Cases, WarningsAreThoseOfTheSelectedCases) {
  const std::vector<std::string> all = {"-c", "fused", "--set", "varlen.output=padded",
                                        "--dry-run"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), all.begin(), all.end());
    return rope_bench(more);
  };
  const ProcessResult unfiltered = with({});
  EXPECT_NE(unfiltered.err.find("varlen has no effect on op norm_split_rope\n"), std::string::npos)
      << unfiltered.err;
  const ProcessResult filtered = with({"--filter", "/varlen/"});
  EXPECT_EQ(filtered.exit_code, 0);
  EXPECT_EQ(filtered.err.find("no effect"), std::string::npos) << filtered.err;
  const ProcessResult one = with({"--filter", "plain/rope/"});
  EXPECT_TRUE(one.err.starts_with("rope-bench: varlen has no effect on op rope\nrope-bench: 12 "))
      << one.err;
}

TEST(Cases, C009_NormAndPartialRotation) {
  const ProcessResult result = rope_bench(
      {"--hf", std::string(TEST_DATA_DIR) + "/hf/ling-mini-2.0.json", "-d", "cpu", "--no-measure",
       "--axis", "tokens=1,511,512,513", "--axis", "variant=fast,on_the_fly", "-o", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json results = Json::parse(result.out).at("results");
  ASSERT_EQ(results.size(), 8u);
  for (const Json& row : results) {
    EXPECT_EQ(row.at("status"), "passed") << row.at("name");
    EXPECT_NE(row.at("name").get<std::string>().find("/norm_split_rope/"), std::string::npos);
  }
  const Json c = Json::parse(rope_bench({"describe", "--hf",
                                         std::string(TEST_DATA_DIR) + "/hf/ling-mini-2.0.json",
                                         "--set", "tokens=512", "-o", "json"})
                                 .out)
                     .at("cases")
                     .at(0);
  EXPECT_EQ(c.at("rope").at("rotary_dim"), 64);
  EXPECT_EQ(c.at("rope").at("theta"), 600000);
  EXPECT_EQ(c.at("norm").at("eps"), 1e-6);
}

// C014: widths that no power of two fills, at the last row of a table with a guard band behind it.
TEST(Cases, C014_LastRowOfTheTable) {
  all_pass(R"({"model": {"num_heads": 2, "head_dim": 96}, "dtype": ["f16", "bf16", "f32"],
               "rope": {"table": {"rows": 512, "dtype": ["f32", "data"]}},
               "positions": [509, 510, 511], "variant": ["fast", "naive"]})",
           12);
}

// C015: in place, heads do not run into each other, wherever the rotated slice begins.
TEST(Cases, C015_SlicesInPlace) {
  all_pass(R"({"model": {"num_heads": 3, "head_dim": 64}, "dtype": "f32", "tokens": 2,
               "rope": {"rotary_dim": 48, "pairing": ["gptj", "neox"]},
               "op": ["rope", "split_rope", "rope_backward"],
               "layout": {"in_place": [true, false], "q": {"rotary_offset": [0, 16]},
                          "k": {"rotary_offset": [0, 16]}}})",
           48);
}

// C029: q is a slice of wide heads, k one narrow head, each with strides of its own.
TEST(Cases, C029_StridesOfEachTensor) {
  all_pass(R"({"model": {"num_heads": 64, "num_kv_heads": 1, "head_dim": 64}, "tokens": 8,
               "variant": ["fast", "naive", "on_the_fly"], "rope": {"pairing": ["neox", "gptj"]},
               "op": ["rope", "rope_backward"],
               "layout": {"q": {"token_stride": 16384, "head_stride": 256, "rotary_offset": 192},
                          "k": {"token_stride": 64, "head_stride": 64}}})",
           12);
}

// C043: the stride of the tokens of a single one.
TEST(Cases, C043_StrideOfASingleToken) {
  for (const char* stride : {"0", "512", "2147483648"}) {
    all_pass(std::string(R"({"model": {"num_heads": 8, "head_dim": 64}, "tokens": 1,
                             "layout": {"q": {"token_stride": )") +
                 stride + "}}}",
             1);
  }
}

// C049: nothing to do is done; an empty sequence among others has no token.
TEST(Cases, C049_NoTokens) {
  const std::string model = R"({"model": {"num_heads": 2, "head_dim": 32}, )";
  const std::string op = R"("op": "varlen_split_rope", "variant": ["fast", "on_the_fly"], )";
  for (const std::string& config : {model + R"("tokens": [0]})", model + op + R"("tokens": [0]})",
                                    model + op + R"("seq_lens": [0, 0]})"}) {
    SCOPED_TRACE(config);
    ScratchFolder scratch;
    scratch.write("t.json", config);
    const ProcessResult result = rope_bench({"-c", scratch.file("t.json"), "-d", "cpu", "-o",
                                             "json:" + scratch.file("t.out"), "-o", "csv"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const char* word : {"nan", "inf,", "NaN"})
      EXPECT_EQ(result.out.find(word), std::string::npos) << result.out;
    const Json document = Json::parse(scratch.read("t.out"));
    for (const Json& row : document.at("results")) {
      EXPECT_EQ(row.at("status"), "passed");
      EXPECT_EQ(row.at("num_tokens"), 0);
      EXPECT_TRUE(row.at("time_median_us").is_null());
      EXPECT_TRUE(row.at("bandwidth_gb_s").is_null());
    }
  }
  const Json rows = all_pass(model + op + R"("seq_lens": [3, 0, 5]})", 2);
  ASSERT_TRUE(rows.is_array());
  EXPECT_EQ(rows.at(0).at("num_tokens"), 8);
}

// C122: what each rank holds of two sequences, as rows of a table of packed tokens and as positions
// within the sequences.
TEST(Cases, C122_ChunksOfSequences) {
  for (const char* positions : {"[0, 3, 4, 7]", "[1, 2, 5, 6]", "[0, 3, 0, 3]", "[1, 2, 1, 2]"}) {
    all_pass(std::string(R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 32},
                             "op": "varlen_split_rope", "seq_lens": [2, 2],
                             "variant": ["fast", "naive"],
                             "varlen": {"source": ["position_ids", "padding_offset"]},
                             "rope": {"table": {"rows": 8}}, "positions": )") +
                 positions + "}",
             4);
  }
}

// C124, C125, C126: tokens that are padding, tables that end with the last position, rows of a
// padded output that belong to nobody.
TEST(Cases, C124_C126_PaddingAndShortTables) {
  const std::string base = R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 32},
                               "op": "varlen_split_rope", "dtype": ["bf16", "f32"],
                               "variant": ["fast", "naive", "on_the_fly", "unfused"], )";
  all_pass(base + R"("varlen": {"source": "position_ids"}, "positions": [4, -1, 5, 6, -1, 0]})", 8);
  all_pass(base + R"("seq_lens": [2, 3], "rope": {"table": {"rows": 3}},
                     "varlen": {"output": "padded", "max_seqlen": 8192}})",
           8);
  all_pass(base + R"("seq_lens": [16], "rope": {"table": {"rows": 16}},
                     "varlen": {"output": "padded", "max_seqlen": 128}})",
           8);
}

}  // namespace
}  // namespace rope_bench
