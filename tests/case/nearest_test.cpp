#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

TEST(Nearest, SlipsAreFoundAndStrangersAreNot) {
  const std::vector<std::string> known = {"num_heads", "num_kv_heads", "head_dim", "theta", "q"};
  struct Row {
    const char* word;
    const char* want;
  };
  const Row rows[] = {{"num_head", "num_heads"},
                      {"numheads", "num_heads"},
                      {"HEAD_DIM", "head_dim"},
                      {"haed_dim", "head_dim"},
                      {"thet", "theta"},
                      {"kv_heads", "num_kv_heads"},
                      {"heads", "num_heads"},
                      {"voltage", ""},
                      {"", ""},
                      {"x", ""}};
  for (const Row& row : rows) EXPECT_EQ(nearest(row.word, known), row.want) << row.word;
  EXPECT_EQ(nearest("theta", {}), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), known), "");
}

TEST(Nearest, KnowsOtherNames) {
  const std::vector<std::string> dtypes = {"f32", "f16", "bf16"};
  EXPECT_EQ(nearest("float32", dtypes), "f32");
  EXPECT_EQ(nearest("float16", dtypes), "f16");
  EXPECT_EQ(nearest("half", dtypes), "f16");
  EXPECT_EQ(nearest("bfloat16", dtypes), "bf16");
  EXPECT_EQ(nearest("gpu", {"auto", "cpu", "cuda"}), "cuda");
}

}  // namespace
}  // namespace rope_bench::testing
