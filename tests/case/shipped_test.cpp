// Files: where configs are found, what files are refused, what is shipped.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

namespace fs = std::filesystem;

// A scratch folder that is the working directory while it lives.
class Scratch {
 public:
  Scratch() : before_(fs::current_path()) {
    dir_ = fs::path(::testing::TempDir()) / ("shipped_test_" + std::to_string(getpid()));
    fs::create_directories(dir_);
    fs::current_path(dir_);
  }
  ~Scratch() {
    fs::current_path(before_);
    fs::remove_all(dir_);
    unsetenv("ROPE_BENCH_CONFIG_DIR");
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name, std::ios::binary) << text;
  }
  const fs::path& dir() const { return dir_; }

 private:
  fs::path before_, dir_;
};

std::string find_error(const std::string& name) {
  try {
    return "found " + find_config(name);
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string load_error(const std::string& path) {
  try {
    load_config(path, catalog(), {});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

RopeCase shipped(const std::string& name) {
  const LoadedConfig config = load_config(find_config(name), catalog(), {});
  EXPECT_EQ(config.name, name);
  return config.cases.at(0);
}

TEST(Files, NamesAreLookedUpHereThenAmongTheShipped) {
  Scratch scratch;
  EXPECT_EQ(find_config("llama7b"), std::string(CONFIG_DIR) + "/llama7b.json");
  EXPECT_EQ(find_config("llama7b.json"), std::string(CONFIG_DIR) + "/llama7b.json");
  scratch.write("other/llama7b.json", "{}");
  setenv("ROPE_BENCH_CONFIG_DIR", (scratch.dir() / "other").c_str(), 1);
  EXPECT_EQ(find_config("llama7b"), (scratch.dir() / "other/llama7b.json").string());
  EXPECT_EQ(find_config("phi-2"), std::string(CONFIG_DIR) + "/phi-2.json");
  EXPECT_EQ(shipped_config_dirs().at(0), (scratch.dir() / "other").string());
  scratch.write("llama7b.json", "{}");
  EXPECT_EQ(find_config("llama7b"), "llama7b.json");
  EXPECT_EQ(find_config("llama7b.json"), "llama7b.json");
  EXPECT_EQ(find_config("./llama7b.json"), "./llama7b.json");
  // A folder of that name is in nobody's way.
  fs::create_directories(scratch.dir() / "phi-2");
  EXPECT_EQ(find_config("phi-2"), std::string(CONFIG_DIR) + "/phi-2.json");
}

TEST(Files, MissingOnesSuggestTheNearest) {
  Scratch scratch;
  expect_parts(find_error("lama7b"), {"--config lama7b", "no such file", "nearest: \"llama7b\""});
  expect_parts(find_error("dir/llama7b.json"), {"dir/llama7b.json", "no such file"});
  expect_parts(find_error("zzzzzzzz"), {"no such file", "list configs"});
  expect_parts(find_error("."), {"--config .", "is a directory"});
  expect_parts(find_error(""), {"--config", "empty"});
}

TEST(Files, UnusableOnesAreRefusedInOneLine) {
  Scratch scratch;
  expect_parts(load_error("absent.json"), {"absent.json: no such file"});
  expect_parts(load_error("."), {".: is a directory"});
  scratch.write("empty.json", "");
  expect_parts(load_error("empty.json"), {"empty.json: empty"});
  scratch.write("huge.json", std::string((size_t{16} << 20) + 1, ' '));
  expect_parts(load_error("huge.json"), {"huge.json", "16 MiB"});
  scratch.write("lists.json", "{\"positions\": [" + std::string(16000000, '0') + "]}");
  expect_parts(load_error("lists.json"), {"lists.json"});
  scratch.write("cut.json", "{\"model\": {\n");
  expect_parts(load_error("cut.json"), {"cut.json:1:12", "/model", "ends in the middle"});
  scratch.write("locked.json", "{}");
  fs::permissions("locked.json", fs::perms::none);
  if (geteuid() != 0) expect_parts(load_error("locked.json"), {"locked.json", "cannot be read"});
}

TEST(Shipped, AllLoadAndNothingIsSkipped) {
  const std::vector<std::string> names = shipped_configs();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  std::set<int64_t> head_dims;
  std::set<Pairing> pairings;
  bool mha = false, gqa = false, mqa = false, partial = false;
  int runs_today = 0;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const LoadedConfig config = load_config(find_config(name), catalog(), {});
    EXPECT_EQ(config.name, name);
    EXPECT_TRUE(config.warnings.empty());
    for (const RopeCase& c : config.cases) EXPECT_EQ(c.skip_reason, "");
    if (name == "smoke" || name == "fused" || name == "boundary") continue;
    std::vector<int64_t> tokens;
    for (const RopeCase& c : config.cases) tokens.push_back(c.tokens);
    EXPECT_EQ(tokens, (std::vector<int64_t>{1, 64, 1024, 4096}));
    const RopeCase& c = config.cases[0];
    head_dims.insert(c.head_dim);
    pairings.insert(c.rope.pairing);
    mha |= c.num_heads == c.num_kv_heads;
    mqa |= c.num_kv_heads == 1;
    gqa |= c.num_kv_heads > 1 && c.num_kv_heads < c.num_heads;
    partial |= c.rope.rotary_dim < c.head_dim;
    const std::string& type = c.rope.scaling.type;
    runs_today += type == "none" || type == "linear" || type == "ntk";
  }
  EXPECT_GE(runs_today, 16);
  EXPECT_EQ(pairings.size(), 2u);
  EXPECT_TRUE(mha && gqa && mqa && partial);
  for (const int64_t dim : {64, 80, 96, 128, 160, 192, 256})
    EXPECT_TRUE(head_dims.count(dim)) << dim;
}

TEST(Shipped, ModelsAreWhatTheyAre) {
  struct Row {
    const char* name;
    int64_t heads, kv_heads, head_dim, rotary_dim, max_position;
    Pairing pairing;
    double theta;
  };
  const Row rows[] = {
      {"llama7b", 32, 32, 128, 128, 4096, Pairing::kNeox, 1e4},
      {"llama3-8b", 32, 8, 128, 128, 8192, Pairing::kNeox, 5e5},
      {"glm-4-9b", 32, 2, 128, 64, 131072, Pairing::kGptj, 5e6},
      {"phi-2", 32, 32, 80, 32, 2048, Pairing::kNeox, 1e4},
      {"falcon-7b", 71, 1, 64, 64, 2048, Pairing::kNeox, 1e4},
      {"gpt-j-6b", 16, 16, 256, 64, 2048, Pairing::kGptj, 1e4},
      {"stablelm-2-12b", 32, 8, 160, 40, 4096, Pairing::kNeox, 1e4},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const RopeCase c = shipped(row.name);
    EXPECT_EQ(c.num_heads, row.heads);
    EXPECT_EQ(c.num_kv_heads, row.kv_heads);
    EXPECT_EQ(c.head_dim, row.head_dim);
    EXPECT_EQ(c.rope.rotary_dim, row.rotary_dim);
    EXPECT_EQ(c.max_position, row.max_position);
    EXPECT_EQ(c.rope.pairing, row.pairing);
    EXPECT_EQ(c.rope.theta, row.theta);
    EXPECT_EQ(c.dtype, Dtype::kBF16);
    EXPECT_TRUE(c.layout.in_place);
  }
}

}  // namespace
}  // namespace rope_bench::testing
