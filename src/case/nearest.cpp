#include <algorithm>
#include <numeric>

#include "src/case/config.h"

namespace rope_bench {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Damerau-Levenshtein distance (adjacent swaps count once), letter case ignored.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(row);
  }
  return previous[b.size()];
}

// Other people's names for what is meant, which look like something else.
struct Synonym {
  const char* word;
  const char* meant;
};
constexpr Synonym kSynonyms[] = {{"float16", "f16"}, {"half", "f16"},      {"fp16", "f16"},
                                 {"float32", "f32"}, {"float", "f32"},     {"fp32", "f32"},
                                 {"single", "f32"},  {"bfloat16", "bf16"}, {"gpu", "cuda"}};

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > 100) return "";
  for (const Synonym& synonym : kSynonyms) {
    if (word != synonym.word) continue;
    if (std::find(known.begin(), known.end(), synonym.meant) != known.end()) return synonym.meant;
  }
  std::string best;
  size_t best_distance = 0;
  for (const std::string& candidate : known) {
    const size_t d = distance(word, candidate);
    // A typing slip is up to a third of the word; a word of two letters may have one wrong.
    const size_t allowed = std::max<size_t>(1, std::max(word.size(), candidate.size()) / 3);
    const bool near = d <= allowed && d < std::max(word.size(), candidate.size());
    if (near && (best.empty() || d < best_distance)) {
      best = candidate;
      best_distance = d;
    }
  }
  if (!best.empty() && best_distance <= 1) return best;
  // A part of the name, or the name with something around it: `heads` for `num_heads`.
  for (const std::string& candidate : known) {
    const bool inside = word.size() >= 4 && candidate.find(word) != std::string::npos;
    const bool around = candidate.size() >= 4 && word.find(candidate) != std::string::npos;
    if (inside || around) return candidate;
  }
  return best;
}

}  // namespace rope_bench
