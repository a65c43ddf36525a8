// Rows of the key table that come from the catalog of scaling methods.
#include <algorithm>

#include "src/case/key_rows.h"

namespace rope_bench {
namespace {

KeyKind kind_of(const ScalingParamSpec& param) {
  switch (param.kind) {
    case ParamKind::kNumber:
      return KeyKind::kNumber;
    case ParamKind::kFlag:
      return KeyKind::kFlag;
    case ParamKind::kList:
      return KeyKind::kNumberList;
    case ParamKind::kNumberOrList:
      return KeyKind::kNumberOrList;
    case ParamKind::kText:
      return param.choices.empty() ? KeyKind::kText : KeyKind::kWord;
  }
  return KeyKind::kNumber;
}

}  // namespace

Key scaling_key(const ScalingParamSpec& param) {
  Key key{"rope.scaling." + param.name, kind_of(param), param.summary};
  key.min = param.min;
  key.min_exclusive = param.min_exclusive;
  key.max = param.max;
  key.words = param.choices;
  return key;
}

// Methods share parameter names. The row of the table allows what any of them does; what the
// chosen method allows is checked when it is known.
void widen(const Key& other, Key* key) {
  if (other.min < key->min || (other.min == key->min && !other.min_exclusive)) {
    key->min = other.min;
    key->min_exclusive = other.min_exclusive;
  }
  key->max = std::max(key->max, other.max);
  for (const std::string& choice : other.words) {
    if (std::find(key->words.begin(), key->words.end(), choice) == key->words.end()) {
      key->words.push_back(choice);
    }
  }
  const auto numeric = [](KeyKind kind) {
    return kind == KeyKind::kNumber || kind == KeyKind::kNumberList ||
           kind == KeyKind::kNumberOrList;
  };
  const bool numbers = numeric(key->kind) && numeric(other.kind);
  if (key->kind != other.kind && numbers) key->kind = KeyKind::kNumberOrList;
}

void add_scaling_rows(ScalingCatalog scalings, std::vector<Key>* rows) {
  Key type{"rope.scaling.type", KeyKind::kWord, "scaling method", "none"};
  for (const ScalingMethodSpec& method : scalings) {
    type.words.push_back(method.name);
    type.words.insert(type.words.end(), method.aliases.begin(), method.aliases.end());
  }
  rows->push_back(type);
  type.path = "rope.scaling.rope_type";
  type.doc = "the other spelling of type";
  type.default_text.clear();
  rows->push_back(type);
  for (const ScalingMethodSpec& method : scalings) {
    for (const ScalingParamSpec& param : method.params) {
      const std::string path = "rope.scaling." + param.name;
      Key* known = nullptr;
      for (Key& key : *rows) known = key.path == path ? &key : known;
      if (!known) {
        rows->push_back(scaling_key(param));
      } else {
        widen(scaling_key(param), known);
      }
    }
  }
}

}  // namespace rope_bench
