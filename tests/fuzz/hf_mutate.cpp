// hf_mutate FOLDER SEED COUNT: reads COUNT mutated files made from the models in FOLDER.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "src/hf/families.h"
#include "tests/fuzz/hf_target.h"
#include "tests/fuzz/mutator.h"

namespace rope_bench {
namespace {

using Json = Mutator::Json;

std::vector<Json> load(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same order on every machine
  std::vector<Json> corpus;
  for (const auto& file : files) corpus.push_back(Json::parse(std::ifstream(file)));
  return corpus;
}

void add_words(const Json& node, std::set<std::string>* words) {
  if (node.is_string()) {
    words->insert(node.get<std::string>());
    return;
  }
  if (node.is_array() && !node.empty() && node[0].is_number()) return;
  for (const auto& [key, value] : node.items()) {
    if (node.is_object()) words->insert(key);
    if (value.is_structured() || value.is_string()) add_words(value, words);
  }
}

std::vector<std::string> words_of(const std::vector<Json>& corpus) {
  std::set<std::string> words = {"n_head",
                                 "n_embd",
                                 "d_model",
                                 "rope_pct",
                                 "rope_ratio",
                                 "alibi",
                                 "multi_query",
                                 "attn_config",
                                 "vision_config",
                                 "rotary",
                                 "no_rope_layers",
                                 "no_rope_layer_interval",
                                 "partial_rotary_factors",
                                 "yarn_only_types",
                                 "linear",
                                 "dynamic",
                                 "llama3",
                                 "alpha",
                                 "xdrope_section",
                                 "llama_4_scaling_beta",
                                 "rope_scaling_factor",
                                 "position_embedding_type",
                                 "qk_rope_head_dim",
                                 "short_mscale"};
  for (const Json& document : corpus) {
    if (document.is_object()) add_words(document, &words);
  }
  for (const Family& row : families()) words.insert(row.type);
  return {words.begin(), words.end()};
}

int run(const std::string& folder, uint64_t seed, uint64_t count) {
  std::vector<Json> corpus = load(folder);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no models\n", folder.c_str());
    return 2;
  }
  const std::vector<std::string> words = words_of(corpus);
  Mutator mutator(std::move(corpus), words, seed << 32);
  uint64_t cases = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const unsigned how = static_cast<unsigned>(i);
    if (read_hostile_config(mutator.next(), how) == Outcome::kCases) ++cases;
  }
  std::printf("%llu files: %llu gave cases, %llu were refused in one line\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(count - cases));
  // Both must happen often, or the mutations test nothing.
  return cases > count / 10 && count - cases > count / 10 ? 0 : 1;
}

}  // namespace
}  // namespace rope_bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: hf_mutate FOLDER SEED COUNT\n");
    return 2;
  }
  return rope_bench::run(argv[1], std::strtoull(argv[2], nullptr, 10),
                         std::strtoull(argv[3], nullptr, 10));
}
