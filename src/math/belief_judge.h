// Judges spans of an output by what a kernel with some belief would compute.
#ifndef ROPE_BENCH_SRC_MATH_BELIEF_JUDGE_H_
#define ROPE_BENCH_SRC_MATH_BELIEF_JUDGE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/case/token_rows.h"
#include "src/math/angles.h"
#include "src/math/mistakes.h"
#include "src/math/operands.h"
#include "src/math/row_judge.h"
#include "src/math/row_rule.h"

namespace rope_bench::judging {

// Cosines and sines as the kernel takes them to be.
class BelievedAngles {
 public:
  explicit BelievedAngles(const Belief& b)
      : belief_(b),
        frequencies_(b.frequencies ? *b.frequencies : frequencies_of(b.c)),
        angles_(frequencies_, b.uses_table ? b.c.rope.table.angle : TableAngle::kExact, rule_of(b)),
        backward_(is_backward(b.c.op)),
        error_(error_model::angle_error(b.uses_table, b.precision)) {}

  // False: there is no such row.
  bool at(int64_t token, int64_t row, TokenAngles* to) const {
    const int64_t half = angles_.num_pairs();
    if (belief_.positions_are_tokens) row = token;
    if (!by_axes()) row += belief_.shift;
    if (row < 0) return false;
    to->judged.resize(static_cast<size_t>(2 * half));
    angles_.row(row, to->judged.data(), to->judged.data() + half);
    if (belief_.uses_table) {
      for (double& value : to->judged) value = round_to(belief_.c.rope.table.dtype, value);
    }
    allow(row, &to->allowance);
    if (backward_) {
      for (int64_t i = half; i < 2 * half; ++i) to->judged[i] = -to->judged[i];
    }
    if (belief_.turn) belief_.turn(to);
    to->exact = to->judged;  // nobody asks
    return true;
  }

 private:
  bool by_axes() const { return belief_.c.rope.axes.kind != "none"; }

  static std::shared_ptr<const RowRule> rule_of(const Belief& b) {
    const std::shared_ptr<const RowRule> rule = row_rule_of(b.c);
    if (rule == nullptr || b.shift == 0) return rule;
    RowRule shifted = *rule;
    for (std::vector<int64_t>& positions : shifted.positions) {
      for (int64_t& position : positions) position = std::max<int64_t>(position + b.shift, 0);
    }
    return std::make_shared<const RowRule>(std::move(shifted));
  }

  void allow(int64_t row, std::vector<double>* allowance) const {
    const double factor = std::abs(frequencies_.attention_factor);
    const double rounding =
        belief_.roundings * 0.5 * pow2(-info(belief_.c.dtype).mantissa_bits) * factor;
    allowance->resize(static_cast<size_t>(angles_.num_pairs()));
    for (size_t i = 0; i < allowance->size(); ++i) {
      const AngleRows::Place place = angles_.place(row, static_cast<int64_t>(i));
      const auto& exact =
          place.part == 0 ? frequencies_.exact : frequencies_.segments[place.part - 1].exact;
      const double radians =
          static_cast<double>(place.position) * std::abs(static_cast<double>(exact[i]));
      (*allowance)[i] = rounding + factor * (error_.absolute + error_.per_radian * radians);
    }
  }

  const Belief& belief_;
  Frequencies frequencies_;
  AngleRows angles_;
  bool backward_;
  error_model::AngleError error_;
};

// A span of an output: heads from `head` on of one token.
struct SpanPlace {
  size_t operand;
  int64_t token, head;
};

template <Dtype kDtype>
class Examiner {
 public:
  using Storage = typename Element<kDtype>::Storage;

  Examiner(const Belief& b, const RopeKernelArgs& written, const TokenRows& rows)
      : belief_(b),
        written_(written),
        rows_(rows),
        operands_(operands_of(b.c, b.launch)),
        angles_(b) {
    if (b.operands) b.operands(&operands_);
    int64_t most = 0;
    for (const Operand& o : operands_) most = std::max(most, o.heads_per_span * o.count);
    judge_.emplace(rules_of(b.c, b.precision), most);
  }

  const std::vector<Operand>& operands() const { return operands_; }
  const Storage* out(const SpanPlace& p) const {
    const Operand& o = operands_[p.operand];
    return static_cast<const Storage*>(o.tensor.out) +
           out_start(written_, o.tensor, rows_.out_rows[p.token]) +
           p.head * o.tensor.out_head_stride;
  }

  // nullopt: it would have read a row that does not exist.
  std::optional<Tally> judge(const SpanPlace& p) {
    const Operand& o = operands_[p.operand];
    if (!angles_.at(p.token, rows_.table_rows[p.token], &at_)) return std::nullopt;
    const int64_t head = p.operand == 1 && belief_.k_head ? belief_.k_head(p.head) : p.head;
    const auto* in = static_cast<const Storage*>(o.tensor.in) +
                     in_start(belief_.launch, o.tensor, p.token) + head * o.tensor.in_head_stride;
    Tally tally;
    judge_->judge({&o, p.token, p.head, in, out(p)}, at_, &tally);
    return tally;
  }

 private:
  const Belief& belief_;
  const RopeKernelArgs& written_;
  const TokenRows& rows_;
  std::vector<Operand> operands_;
  BelievedAngles angles_;
  std::optional<RowJudge<kDtype>> judge_;
  TokenAngles at_;
};

}  // namespace rope_bench::judging

#endif  // ROPE_BENCH_SRC_MATH_BELIEF_JUDGE_H_
