#include "tests/measure/random_config.h"

#include <array>

#include "nlohmann/json.hpp"
#include "src/math/hash.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

class Dice {
 public:
  explicit Dice(uint64_t number) : key_(combine(0x5eed, number)) {}
  // In [0, n).
  int64_t below(int64_t n) {
    return static_cast<int64_t>(combine(key_, count_++) % static_cast<uint64_t>(n));
  }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <typename T, size_t kCount>
  const T& pick(const T (&from)[kCount]) {
    return from[below(static_cast<int64_t>(kCount))];
  }

 private:
  uint64_t key_, count_ = 0;
};

class Drawn {
 public:
  explicit Drawn(uint64_t number) : dice_(number) {
    static constexpr const char* kOps[] = {
        "rope",          "split_rope",         "norm_split_rope", "varlen_split_rope",
        "rope_backward", "split_rope_backward"};
    static constexpr const char* kVariants[] = {"fast", "fast", "naive", "on_the_fly", "unfused"};
    static constexpr const char* kDtypes[] = {"f32", "f16", "bf16"};
    static constexpr const char* kData[] = {"normal",    "normal", "normal", "uniform",  "wide",
                                            "subnormal", "cancel", "large",  "constant", "special"};
    op_ = dice_.pick(kOps);
    json_ = {{"name", "drawn"},
             {"op", op_},
             {"variant", dice_.pick(kVariants)},
             {"dtype", dice_.pick(kDtypes)},
             {"data", dice_.pick(kData)},
             {"seed", dice_.below(1 << 30)}};
    draw_shape();
    draw_rope();
    draw_tokens();
    draw_layout();
    draw_steps();
  }
  std::string text() const { return json_.dump(); }

 private:
  void draw_shape() {
    static constexpr int64_t kDims[] = {64, 128, 96, 80, 46, 2, 256};
    head_dim_ = dice_.one_in(3) ? 2 * dice_.between(1, 80) : dice_.pick(kDims);
    const int64_t kv = dice_.between(1, 4);
    max_position_ = dice_.one_in(100) ? 131072 : 64 << dice_.below(6);
    json_["model"] = {{"num_heads", kv * dice_.between(1, 4)},
                      {"num_kv_heads", kv},
                      {"head_dim", head_dim_},
                      {"max_position", max_position_},
                      {"batch", dice_.one_in(4) ? dice_.between(2, 3) : 1}};
  }

  void draw_rope() {
    static constexpr double kThetas[] = {10000, 500000, 1e6, 100, 2};
    static constexpr const char* kTableDtypes[] = {"f32", "f32", "f32", "f16", "bf16", "data"};
    rotary_dim_ = dice_.one_in(2) ? head_dim_ : 2 * dice_.between(1, head_dim_ / 2);
    Json& rope = json_["rope"];
    rope = {
        {"pairing", dice_.one_in(2) ? "neox" : "gptj"},
        {"rotary_dim", rotary_dim_},
        {"theta", dice_.pick(kThetas)},
        {"direction", dice_.one_in(8) ? "reversed" : "forward"},
        {"table",
         {{"angle", dice_.one_in(3) ? "float32" : "exact"}, {"dtype", dice_.pick(kTableDtypes)}}}};
    if (dice_.one_in(2)) rope["scaling"] = scaling();
    const int64_t pairs = rotary_dim_ / 2;
    if (pairs < 3 || !dice_.one_in(5)) return;
    if (dice_.one_in(3) && pairs % 2 == 0) {
      rope["axes"] = {{"kind", "vision_2d"}};
      return;
    }
    const int64_t first = dice_.between(1, pairs - 2), second = dice_.between(1, pairs - first - 1);
    rope["axes"] = {{"kind", "mrope"}, {"section", {first, second, pairs - first - second}}};
  }

  Json scaling() {
    const double factor = static_cast<double>(dice_.between(2, 16)) / 2;
    switch (dice_.below(6)) {
      case 0:
        return {{"type", "linear"}, {"factor", factor}};
      case 1:
        return {{"type", "ntk"}, {"factor", factor}};
      case 2:
        return {{"type", "dynamic_ntk"},
                {"factor", factor},
                {"original_max_position_embeddings", max_position_ / 2}};
      case 3:
        return {{"type", "llama3"},
                {"factor", factor},
                {"low_freq_factor", 1},
                {"high_freq_factor", 4},
                {"original_max_position_embeddings", 32}};
      case 4: {
        Json list = Json::array(), longer = Json::array();
        for (int64_t i = 0; i < rotary_dim_ / 2; ++i) {
          list.push_back(1 + static_cast<double>(i) / 8);
          longer.push_back(2 + static_cast<double>(i) / 4);
        }
        return {{"type", "longrope"},
                {"short_factor", list},
                {"long_factor", longer},
                {"original_max_position_embeddings", 32}};
      }
      default:
        return {{"type", "yarn"}, {"factor", factor}, {"original_max_position_embeddings", 32}};
    }
  }

  void draw_tokens() {
    static constexpr const char* kPositions[] = {"sequential", "sequential", "random", "decode",
                                                 "boundary"};
    const int64_t offset = dice_.one_in(2) ? 0 : dice_.below(max_position_ - 48);
    json_["position_offset"] = offset;
    if (dice_.one_in(4)) json_["position_dtype"] = "int64";
    json_["positions"] = dice_.pick(kPositions);
    if (op_ != "varlen_split_rope") {
      json_["tokens"] = dice_.one_in(30) ? 0 : dice_.between(1, 24);
      return;
    }
    json_["model"].erase("batch");
    Json lengths = Json::array();
    int64_t all = 0;
    for (int64_t i = dice_.between(1, 4); i > 0; --i) {
      lengths.push_back(dice_.below(9));
      all += lengths.back().get<int64_t>();
    }
    json_["seq_lens"] = lengths;
    if (dice_.one_in(2)) json_["tokens"] = all + dice_.below(4);
    static constexpr const char* kSources[] = {"cu_seqlens", "padding_offset", "position_ids"};
    json_["varlen"] = {{"source", dice_.pick(kSources)},
                       {"output", dice_.one_in(3) ? "padded" : "packed"}};
  }

  void draw_layout() {
    const bool in_place = dice_.one_in(2);
    Json layout = {{"in_place", in_place}};
    const bool separate = op_ == "rope" || op_ == "rope_backward";
    if (separate && dice_.one_in(4)) layout["order"] = "heads_tokens_dim";
    if (rotary_dim_ < head_dim_ && dice_.one_in(3))
      layout["q"]["rotary_offset"] = dice_.below(head_dim_ - rotary_dim_ + 1);
    if (separate && !layout.contains("order") && dice_.one_in(3)) {
      const int64_t heads = json_["model"]["num_heads"];
      layout["q"]["token_stride"] = heads * head_dim_ + dice_.between(1, 40);
    }
    json_["layout"] = layout;
  }

  void draw_steps() {
    if (op_.ends_with("split_rope")) json_["qkv_bias"] = dice_.one_in(3);
    if (op_ != "norm_split_rope") return;
    static constexpr double kEps[] = {1e-6, 1e-5, 1e-12, 0.1};
    json_["norm"] = {{"eps", dice_.pick(kEps)},
                     {"weight", !dice_.one_in(4)},
                     {"span", dice_.one_in(3) ? "row" : "head"},
                     {"order", dice_.one_in(3) ? "after" : "before"},
                     {"round_between", dice_.one_in(4)}};
    if (json_["norm"]["weight"] == true) json_["norm"]["weight_offset"] = dice_.below(2);
  }

  Dice dice_;
  Json json_;
  std::string op_;
  int64_t head_dim_ = 0, rotary_dim_ = 0, max_position_ = 0;
};

}  // namespace

std::string random_config(uint64_t number) { return Drawn(number).text(); }

}  // namespace rope_bench
