// Structure-aware changes of JSON documents: the same for the same seed on every machine.
#ifndef ROPE_BENCH_TESTS_FUZZ_MUTATOR_H_
#define ROPE_BENCH_TESTS_FUZZ_MUTATOR_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rope_bench {

class Mutator {
 public:
  using Json = nlohmann::ordered_json;

  // `words` are keys and model types to rename to.
  Mutator(std::vector<Json> corpus, std::vector<std::string> words, uint64_t seed)
      : corpus_(std::move(corpus)), words_(std::move(words)), state_(seed) {}

  // A document of the corpus with one to three changes: members dropped, renamed, taken from
  // another document, values of another type or size, nesting, NaN; now and then bytes are damaged.
  std::string next();

 private:
  uint64_t random();
  size_t below(size_t count) { return static_cast<size_t>(random() % count); }
  bool chance(size_t one_in) { return below(one_in) == 0; }

  Json& any_node(Json& root);
  const Json& any_document() { return corpus_[below(corpus_.size())]; }
  Json any_value();
  Json any_number();
  void change(Json& root);
  void change_object(Json& object);
  std::string damage(std::string text);

  std::vector<Json> corpus_;
  std::vector<std::string> words_;
  uint64_t state_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_FUZZ_MUTATOR_H_
