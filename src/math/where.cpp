#include "src/math/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace rope_bench::judging {
namespace {

std::string ends_of(const std::set<int64_t>& numbers) {
  return numbers.size() == 1 ? fmt::format("{}", *numbers.begin())
                             : fmt::format("{} to {}", *numbers.begin(), *numbers.rbegin());
}

}  // namespace

void Where::add(const std::string& operand, int64_t token, int64_t head, const Tally& tally) {
  Seen& seen = seen_[operand];
  seen.all_heads.insert(head);
  tokens_.insert(token);
  if (tally.num_over == 0) return;
  seen.heads.insert(head);
  wrong_tokens_.insert(token);
  one_dim_ = one_dim_ && tally.num_over == 1;
  if (!tally.worst.empty()) dims_.insert(tally.worst.front().dim);
}

std::string Where::text() const {
  std::vector<std::string> parts, wrong;
  for (const auto& [name, seen] : seen_) {
    if (!seen.heads.empty()) wrong.push_back(name);
  }
  if (wrong.size() < seen_.size())
    parts.push_back(fmt::format("in {} alone", fmt::join(wrong, " and ")));
  for (const std::string& name : wrong) {
    const Seen& seen = seen_.at(name);
    if (seen.heads.size() < seen.all_heads.size()) {
      parts.push_back(fmt::format("in {} {} of {}", seen.heads.size() == 1 ? "head" : "heads",
                                  ends_of(seen.heads), name));
    }
  }
  if (wrong_tokens_.size() < tokens_.size()) {
    std::set<int64_t> right;
    std::set_difference(tokens_.begin(), tokens_.end(), wrong_tokens_.begin(), wrong_tokens_.end(),
                        std::inserter(right, right.end()));
    parts.push_back(
        fmt::format("in {} {}, {} {} right", wrong_tokens_.size() == 1 ? "token" : "tokens",
                    ends_of(wrong_tokens_), ends_of(right), right.size() == 1 ? "is" : "are"));
  }
  if (one_dim_ && dims_.size() == 1) parts.push_back(fmt::format("at dim {}", *dims_.begin()));
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

}  // namespace rope_bench::judging
