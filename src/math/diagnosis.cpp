#include "src/math/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "src/case/errors.h"
#include "src/math/belief_judge.h"
#include "src/math/token_sample.h"
#include "src/math/where.h"

namespace rope_bench {
namespace {

using judging::Examiner;
using judging::Operand;
using judging::SpanPlace;
using judging::Tally;

// All heads of so many tokens are looked at.
constexpr int64_t kFewestTokens = 8, kMostTokens = 64;
constexpr int64_t kMostElements = int64_t{1} << 19;

std::vector<int64_t> sampled_tokens(const RopeCase& c, const TokenRows& rows,
                                    const std::optional<WorstElement>& worst) {
  const int64_t row = (c.num_heads + 2 * c.num_kv_heads) * c.head_dim;
  const int64_t most = std::clamp(kMostElements / row, kFewestTokens, kMostTokens);
  return sample_tokens(c, rows, most, worst ? std::optional<int64_t>(worst->token) : std::nullopt);
}

template <Dtype kDtype>
class Diagnoser {
 public:
  Diagnoser(const RopeCase& c, const RopeVariant& variant, const RopeKernelArgs& launch,
            std::optional<uint8_t> poison)
      : launch_(launch), rows_(token_rows_of(c)), poison_(poison) {
    truth_.c = c;
    truth_.launch = launch;
    truth_.precision = variant.precision;
    truth_.uses_table = variant.uses_table != 0;
  }

  Diagnosis run(const std::optional<WorstElement>& worst) {
    find_wrong(worst);
    if (wrong_.empty()) return {};
    const auto found = [&](const auto& what) {
      return Diagnosis{what.name, what.text + where_.text()};
    };
    if (unwritten_) return found(evidence::kUnwritten);
    if (nan_lost_) return found(evidence::kNanLost);
    for (const KnownMistake& mistake : evaluated_mistakes()) {
      if (explains(mistake)) return found(mistake);
    }
    return found(evidence::kNone);
  }

 private:
  void find_wrong(const std::optional<WorstElement>& worst) {
    Examiner<kDtype> examiner(truth_, launch_, rows_);
    unwritten_ = poison_.has_value();
    nan_lost_ = true;
    for (const int64_t token : sampled_tokens(truth_.c, rows_, worst)) {
      for (size_t i = 0; i < examiner.operands().size(); ++i) {
        const Operand& o = examiner.operands()[i];
        for (int64_t head = 0; head < o.heads; head += o.heads_per_span) {
          const SpanPlace place = {i, token, head};
          const std::optional<Tally> tally = examiner.judge(place);
          if (!tally) continue;
          where_.add(o.name, token, head, *tally);
          if (tally->num_over == 0) continue;
          wrong_.push_back(place);
          unwritten_ = unwritten_ && holds_poison(o, examiner.out(place));
          nan_lost_ = nan_lost_ && !tally->worst.empty() && std::isnan(tally->worst.front().want) &&
                      std::isfinite(tally->worst.front().got);
        }
      }
    }
  }

  template <typename Storage>
  bool holds_poison(const Operand& o, const Storage* out) const {
    for (int64_t h = 0; h < o.heads_per_span; ++h) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(out + h * o.tensor.out_head_stride);
      const auto end = static_cast<size_t>(o.width) * sizeof(Storage);
      if (!std::all_of(bytes, bytes + end, [&](uint8_t byte) { return byte == *poison_; }))
        return false;
    }
    return true;
  }

  bool explains(const KnownMistake& mistake) const {
    try {
      Belief belief = truth_;
      if (!mistake.change(&belief)) return false;
      Examiner<kDtype> examiner(belief, launch_, rows_);
      bool any = false;
      for (const SpanPlace& place : wrong_) {
        const bool concerned =
            belief.only_operand < 0 || place.operand == static_cast<size_t>(belief.only_operand);
        if (!concerned) return false;
        const std::optional<Tally> tally = examiner.judge(place);
        if (tally && tally->num_over > 0) return false;
        any = any || tally;
      }
      return any;
    } catch (const ConfigError&) {
      return false;  // there is no such rotation
    }
  }

  const RopeKernelArgs& launch_;
  TokenRows rows_;
  std::optional<uint8_t> poison_;
  Belief truth_;
  std::vector<SpanPlace> wrong_;
  judging::Where where_;
  bool unwritten_ = false, nan_lost_ = false;
};

}  // namespace

Diagnosis to_diagnosis(const Evidence& evidence) { return {evidence.name, evidence.text}; }

Diagnosis diagnose(const RopeCase& c, const RopeVariant& variant, const RopeKernelArgs& launch,
                   std::optional<uint8_t> poison, const std::optional<WorstElement>& worst) {
  switch (c.dtype) {
    case Dtype::kF32:
      return Diagnoser<Dtype::kF32>(c, variant, launch, poison).run(worst);
    case Dtype::kF16:
      return Diagnoser<Dtype::kF16>(c, variant, launch, poison).run(worst);
    case Dtype::kBF16:
      break;
  }
  return Diagnoser<Dtype::kBF16>(c, variant, launch, poison).run(worst);
}

}  // namespace rope_bench
