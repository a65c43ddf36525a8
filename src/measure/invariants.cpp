#include "src/measure/invariants.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/case/token_rows.h"
#include "src/math/convert.h"
#include "src/math/error_model.h"
#include "src/math/hash.h"
#include "src/math/numeric.h"
#include "src/math/operands.h"
#include "src/math/table_norm.h"
#include "src/math/token_sample.h"
#include "src/measure/probe.h"

namespace rope_bench {
namespace {

constexpr int64_t kTokens = Probe::kTokens;
// Tokens of the checked output that are looked at, fewer where rows are long.
constexpr int64_t kMostTokens = 32, kMostElements = int64_t{1} << 18;
constexpr int64_t kMostProbeElements = int64_t{1} << 20;
// Errors of errors: all relative errors here are far below a part in 64, or nothing is claimed.
constexpr double kSecondOrder = 1 + 0x1p-5;

// By how much the length of a pair's error may come near to the pair's own.
class Allowance {
 public:
  Allowance(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table)
      : frequencies_(table.frequencies.exact) {
    const bool uses_table = variant.uses_table != 0;
    const auto angle = error_model::angle_error(uses_table, variant.precision);
    const double table_rounding =
        uses_table ? 0.5 * pow2(-info(table.dtype).mantissa_bits) : error_model::kUnit;
    result_ = 0.5 * pow2(-info(c.dtype).mantissa_bits);
    relative_ = result_ + std::sqrt(2.0) * (0x1p-22 + table_rounding) + 2 * angle.absolute;
    // The smallest numbers are a fixed distance apart.
    const DtypeInfo& kind = info(c.dtype);
    tiny_ = pow2(kind.min_exponent - kind.mantissa_bits) + 0x1p-147;
    per_radian_ = angle.per_radian;
    if (uses_table && table.angle == TableAngle::kFloat32) per_radian_ += 0x1p-23;
    if (has_bias(c)) before_ = error_model::kUnit;
    const bool unfused = variant.precision == ROPE_PRECISION_UNFUSED;
    if (has_bias(c) && unfused) before_ += result_;
    if (!has_norm(c)) return;
    const int64_t heads = c.norm.span_row ? std::max(c.num_heads, c.num_kv_heads) : 1;
    before_ = 2 * before_ + error_model::norm_relative(heads * c.head_dim);
    if (unfused || c.norm.round_between) before_ += result_;
  }

  // Of one rotation: the arithmetic, the table's rounding and the result's.
  double relative() const { return relative_; }
  double tiny() const { return tiny_; }
  // What comes before the rotation.
  double before() const { return before_; }
  // The angle itself is float32's: pair i at a position.
  double angle(int64_t pair, int64_t position) const {
    return per_radian_ * static_cast<double>(position) *
           std::abs(static_cast<double>(frequencies_[static_cast<size_t>(pair)]));
  }

 private:
  std::vector<long double> frequencies_;
  double result_ = 0, relative_ = 0, tiny_ = 0, per_radian_ = 0, before_ = 0;
};

// Keeps what is nearest to being too much.
class Finding {
 public:
  explicit Finding(const char* name) { found_.name = name; }

  void see(double value, double tolerance) {
    const double ratio = value / tolerance;
    if (seen_ && !(ratio > ratio_) && !std::isnan(ratio)) return;
    if (seen_ && std::isnan(ratio_)) return;
    seen_ = true;
    ratio_ = ratio;
    found_.value = value;
    found_.tolerance = tolerance;
    found_.holds = value <= tolerance ? Holds::kHeld : Holds::kViolated;
  }
  Invariant result(const char* nothing_seen) const {
    Invariant result = found_;
    if (!seen_) result.reason = nothing_seen;
    return result;
  }
  static Invariant not_applicable(const char* name, const std::string& reason) {
    Invariant i;
    i.name = name;
    i.reason = reason;
    return i;
  }

 private:
  Invariant found_;
  bool seen_ = false;
  double ratio_ = 0;
};

std::string changes_lengths(const RopeCase& c) {
  if (has_norm(c)) return "a norm changes lengths";
  if (has_bias(c)) return "a bias changes lengths";
  return {};
}

// Lengths of pairs in the checked output.
class Lengths {
 public:
  Lengths(const RopeCase& c, const Allowance& allowance, double factor, const RopeKernelArgs& view)
      : c_(c), allowance_(allowance), factor_(std::abs(factor)), view_(view) {}

  Invariant norms_kept() const {
    Finding finding("norms_kept");
    each_head([&](const Head& head) {
      for (int32_t i = 0; i < pairs(); ++i) {
        const double want = factor_ * length(*head.t, head.t->in, head.in(), i);
        if (!countable(want)) continue;
        finding.see(std::abs(length(*head.t, head.t->out, head.out, i) - want), tolerance(want));
      }
    });
    return finding.result("no pair is finite");
  }

  // Heads that hold the lengths of another head and not their own.
  Invariant head_map() const {
    int64_t moved = 0;
    each_head([&](const Head& head) {
      if (same_lengths(head, head.index)) return;
      for (int64_t other = 0; other < head.t->num_heads; ++other) {
        if (!same_lengths(head, other)) continue;
        ++moved;
        return;
      }
    });
    Finding finding("head_map");
    finding.see(static_cast<double>(moved), 0);
    return finding.result("");
  }

 private:
  int32_t pairs() const { return static_cast<int32_t>(c_.rope.rotary_dim / 2); }
  bool countable(double length) const {
    return length <= 0.25 * std::min(max_finite(c_.dtype), max_finite(Dtype::kF32));
  }
  double tolerance(double want) const {
    return want * allowance_.relative() * kSecondOrder + allowance_.tiny();
  }
  double length(const RopeTensor& t, const void* data, int64_t row, int32_t pair) const {
    const auto r = static_cast<int32_t>(c_.rope.rotary_dim);
    const int64_t begin = row + t.rotary_offset;
    return std::hypot(
        load_as_double(c_.dtype, data, begin + pair_first(c_.rope.pairing, pair)),
        load_as_double(c_.dtype, data, begin + pair_second(c_.rope.pairing, pair, r)));
  }
  // A head of a token: where the token begins in the input, and the head in the output.
  struct Head {
    const RopeTensor* t;
    int64_t index, token_in, out;
    int64_t in() const { return token_in + index * t->in_head_stride; }
  };

  // Its output holds the lengths of this head of the input.
  bool same_lengths(const Head& head, int64_t input) const {
    const RopeTensor& t = *head.t;
    for (int32_t i = 0; i < pairs(); ++i) {
      const double want = factor_ * length(t, t.in, head.token_in + input * t.in_head_stride, i);
      if (countable(want) && !(std::abs(length(t, t.out, head.out, i) - want) <= tolerance(want)))
        return false;
    }
    return true;
  }

  template <typename See>
  void each_head(const See& see) const {
    const TokenRows rows = token_rows_of(c_);
    const int64_t row = (c_.num_heads + c_.num_kv_heads) * c_.head_dim;
    const int64_t most = std::clamp<int64_t>(kMostElements / row, 8, kMostTokens);
    for (const int64_t token : sample_tokens(c_, rows, most)) {
      for (const RopeTensor* t : {&view_.q, &view_.k}) {
        const int64_t in = judging::in_start(view_, *t, token);
        const int64_t out = judging::out_start(view_, *t, rows.out_rows[token]);
        for (int64_t h = 0; h < t->num_heads; ++h) see({t, h, in, out + h * t->out_head_stride});
      }
    }
  }

  const RopeCase& c_;
  const Allowance& allowance_;
  double factor_;
  const RopeKernelArgs& view_;
};

// What takes launches of its own.
class Probed {
 public:
  Probed(Backend& backend, const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
         const Allowance& allowance, const RopeKernelArgs& args)
      : backend_(backend),
        c_(c),
        variant_(variant),
        table_(table),
        allowance_(allowance),
        factor_(std::abs(table.frequencies.attention_factor)),
        probe_(backend, c, args),
        in_(too_large() ? ProbeRows{} : probe_.inputs()) {}

  // The same rows at positions m, n and at m + d, n + d: their scores are the same.
  Invariant relative_position() {
    const char* name = "relative_position";
    std::string why = why_not_by_position();
    if (why.empty() && has_norm(c_) && c_.norm.after_rotation)
      why = "the norm follows the rotation";
    if (!why.empty()) return Finding::not_applicable(name, why);
    ProbeRows same = in_;
    for (std::vector<double>* rows : {&same.q, &same.k}) {
      const size_t row = rows->size() / kTokens;
      for (size_t i = row; i < rows->size(); ++i) (*rows)[i] = (*rows)[i - row];
    }
    std::vector<int64_t> positions;  // m, n, m + d, n + d; twice
    for (uint64_t i = 0; positions.size() < static_cast<size_t>(kTokens); ++i) {
      const int64_t d = drawn(3 * i, 1, probe_.num_rows());
      const int64_t m = drawn(3 * i + 1, 0, probe_.num_rows() - d);
      const int64_t n = drawn(3 * i + 2, 0, probe_.num_rows() - d);
      positions.insert(positions.end(), {m, n, m + d, n + d});
    }
    const ProbeRows out = launch(variant_, c_.rope.pairing, same, positions, &why);
    if (!why.empty()) return Finding::not_applicable(name, why);
    Finding finding(name);
    for (int64_t first = 0; first < kTokens; first += 4) {
      for (int64_t h = 0; h < c_.num_heads; ++h) {
        const Score near = score(out, positions, first, first + 1, h);
        const Score far = score(out, positions, first + 2, first + 3, h);
        finding.see(std::abs(near.value - far.value), near.tolerance + far.tolerance);
      }
    }
    return finding.result("no heads");
  }

  // Forward, then the gradient's rotation (or the other way): the input times af^2.
  Invariant backward_inverts() {
    const char* name = "backward_inverts";
    std::string why = why_not_probed();
    if (why.empty()) why = changes_lengths(c_);
    if (!why.empty()) return Finding::not_applicable(name, why);
    const RopeVariant* other = other_direction(&why);
    if (other == nullptr) return Finding::not_applicable(name, why);
    std::vector<int64_t> positions;
    for (uint64_t i = 0; i < static_cast<uint64_t>(kTokens); ++i)
      positions.push_back(drawn(100 + i, 0, probe_.num_rows()));
    positions.back() = probe_.num_rows() - 1;
    const ProbeRows there = launch(variant_, c_.rope.pairing, in_, positions, &why);
    const ProbeRows back =
        why.empty() ? launch(*other, c_.rope.pairing, there, positions, &why) : ProbeRows{};
    if (!why.empty()) return Finding::not_applicable(name, why);
    Finding finding(name);
    const double af2 = factor_ * factor_;
    each_pair([&](const Two& at, int64_t token, int32_t pair) {
      const double length = at.length(in_);
      const double off = 2 * (allowance_.relative() + angle(pair, positions[token]));
      finding.see(at.distance(back, in_, af2),
                  af2 * length * off * kSecondOrder + (factor_ + 1) * allowance_.tiny());
    });
    return finding.result("no pairs");
  }

  // At p1, then at p2: as at p1 + p2, times af once more.
  Invariant positions_add() {
    const char* name = "positions_add";
    std::string why = why_not_by_position();
    if (why.empty()) why = changes_lengths(c_);
    if (!why.empty()) return Finding::not_applicable(name, why);
    std::vector<int64_t> first, second, sum;
    for (uint64_t i = 0; i < static_cast<uint64_t>(kTokens); ++i) {
      sum.push_back(i == 0 ? probe_.num_rows() - 1 : drawn(200 + 2 * i, 0, probe_.num_rows()));
      first.push_back(drawn(201 + 2 * i, 0, sum.back() + 1));
      second.push_back(sum.back() - first.back());
    }
    const ProbeRows once = launch(variant_, c_.rope.pairing, in_, sum, &why);
    const ProbeRows half =
        why.empty() ? launch(variant_, c_.rope.pairing, in_, first, &why) : ProbeRows{};
    const ProbeRows twice =
        why.empty() ? launch(variant_, c_.rope.pairing, half, second, &why) : ProbeRows{};
    if (!why.empty()) return Finding::not_applicable(name, why);
    Finding finding(name);
    const double af2 = factor_ * factor_;
    each_pair([&](const Two& at, int64_t t, int32_t pair) {
      const double off = 3 * allowance_.relative() + angle(pair, first[t]) +
                         angle(pair, second[t]) + angle(pair, sum[t]);
      finding.see(at.distance(twice, once, factor_), af2 * at.length(in_) * off * kSecondOrder +
                                                         (2 * factor_ + 1) * allowance_.tiny());
    });
    return finding.result("no pairs");
  }

  // The other pairing, of elements that change places before and after.
  Invariant pairings_agree() {
    const char* name = "pairings_agree";
    std::string why = why_not_probed();
    if (why.empty() && (has_norm(c_) || has_bias(c_)))
      why = "bias and norm follow the order of dims";
    if (!why.empty()) return Finding::not_applicable(name, why);
    std::vector<int64_t> positions;
    for (uint64_t i = 0; i < static_cast<uint64_t>(kTokens); ++i)
      positions.push_back(drawn(300 + i, 0, probe_.num_rows()));
    const Pairing other = c_.rope.pairing == Pairing::kNeox ? Pairing::kGptj : Pairing::kNeox;
    ProbeRows moved = in_;
    each_pair([&](const Two& at, int64_t, int32_t pair) { at.move(in_, other, pair, &moved); });
    const ProbeRows own = launch(variant_, c_.rope.pairing, in_, positions, &why);
    const ProbeRows out =
        why.empty() ? launch(variant_, other, moved, positions, &why) : ProbeRows{};
    if (!why.empty()) return Finding::not_applicable(name, why);
    ProbeRows moved_own = own;
    each_pair([&](const Two& at, int64_t, int32_t pair) { at.move(own, other, pair, &moved_own); });
    Finding finding(name);
    each_pair([&](const Two& at, int64_t t, int32_t pair) {
      const Two there = at.in(other, pair);
      const double off = 2 * (allowance_.relative() + angle(pair, positions[t]));
      finding.see(there.distance(out, moved_own, 1),
                  factor_ * at.length(in_) * off * kSecondOrder + 2 * allowance_.tiny());
    });
    return finding.result("no pairs");
  }

 private:
  // A pair of q or of k: where its two elements are.
  struct Two {
    std::vector<double> ProbeRows::*operand;
    int64_t begin;  // of the rotated dims
    int32_t rotary_dim;
    size_t first, second;

    double length(const ProbeRows& rows) const {
      return std::hypot((rows.*operand)[first], (rows.*operand)[second]);
    }
    double distance(const ProbeRows& a, const ProbeRows& b, double factor) const {
      return std::hypot((a.*operand)[first] - factor * (b.*operand)[first],
                        (a.*operand)[second] - factor * (b.*operand)[second]);
    }
    Two in(Pairing pairing, int32_t pair) const {
      return {operand, begin, rotary_dim, static_cast<size_t>(begin + pair_first(pairing, pair)),
              static_cast<size_t>(begin + pair_second(pairing, pair, rotary_dim))};
    }
    // This pair of `from` to where the other pairing has it.
    void move(const ProbeRows& from, Pairing pairing, int32_t pair, ProbeRows* to) const {
      const Two there = in(pairing, pair);
      (to->*operand)[there.first] = (from.*operand)[first];
      (to->*operand)[there.second] = (from.*operand)[second];
    }
  };

  Two pair_at(std::vector<double> ProbeRows::*operand, int64_t heads, int64_t offset, int64_t token,
              int64_t head, int32_t pair) const {
    const int64_t begin = (token * heads + head) * probe_.width() + offset;
    return Two{operand, begin, static_cast<int32_t>(c_.rope.rotary_dim), 0, 0}.in(c_.rope.pairing,
                                                                                  pair);
  }

  template <typename See>
  void each_pair(const See& see) const {
    const auto half = static_cast<int32_t>(c_.rope.rotary_dim / 2);
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t h = 0; h < c_.num_heads; ++h)
        for (int32_t i = 0; i < half; ++i)
          see(pair_at(&ProbeRows::q, c_.num_heads, c_.layout.q.rotary_offset, t, h, i), t, i);
      for (int64_t h = 0; h < c_.num_kv_heads; ++h)
        for (int32_t i = 0; i < half; ++i)
          see(pair_at(&ProbeRows::k, c_.num_kv_heads, c_.layout.k.rotary_offset, t, h, i), t, i);
    }
  }

  // q of a head at one token times k of its group's head at another, over the rotated dims.
  struct Score {
    double value = 0, tolerance = 0;
  };
  Score score(const ProbeRows& out, const std::vector<int64_t>& positions, int64_t q_token,
              int64_t k_token, int64_t head) const {
    const int64_t group =
        std::max<int64_t>(c_.num_heads / std::max<int64_t>(c_.num_kv_heads, 1), 1);
    Score s;
    for (int32_t i = 0; i < c_.rope.rotary_dim / 2; ++i) {
      const Two q =
          pair_at(&ProbeRows::q, c_.num_heads, c_.layout.q.rotary_offset, q_token, head, i);
      const Two k = pair_at(&ProbeRows::k, c_.num_kv_heads, c_.layout.k.rotary_offset, k_token,
                            head / group, i);
      s.value += out.q[q.first] * out.k[k.first] + out.q[q.second] * out.k[k.second];
      const double off = 2 * (allowance_.relative() + allowance_.before()) +
                         angle(i, positions[q_token]) + angle(i, positions[k_token]);
      const double q_length = q.length(out), k_length = k.length(out);
      s.tolerance +=
          q_length * k_length * off * kSecondOrder + 2 * (q_length + k_length) * allowance_.tiny();
    }
    return s;
  }

  double angle(int64_t pair, int64_t position) const { return allowance_.angle(pair, position); }

  // Uniform in [least, end), from the case's seed.
  int64_t drawn(uint64_t counter, int64_t least, int64_t end) const {
    const auto count = static_cast<uint64_t>(std::max<int64_t>(end - least, 1));
    return least + static_cast<int64_t>(combine(c_.seed ^ 0x70726f6265u, counter) % count);
  }

  bool too_large() const {
    return (c_.num_heads + 2 * c_.num_kv_heads) * probe_.width() * kTokens > kMostProbeElements;
  }

  std::string why_not_probed() const {
    if (too_large()) return "rows are too long";
    if (c_.rope.axes.kind != "none" && variant_.uses_table == 0)
      return "the variant forms its angles from position axes";
    return {};
  }

  // Positions are added and subtracted.
  std::string why_not_by_position() const {
    if (std::string why = why_not_probed(); !why.empty()) return why;
    if (c_.rope.axes.kind != "none")
      return "a row of the table is a token, with a position per axis";
    if (!table_.frequencies.segments.empty()) return "frequencies change with the position";
    if (probe_.num_rows() < 2) return "position 0 is the only one in use";
    return {};
  }

  const RopeVariant* other_direction(std::string* why) const {
    const std::pair<Op, Op> both[] = {{Op::kRope, Op::kRopeBackward},
                                      {Op::kSplitRope, Op::kSplitRopeBackward}};
    for (const auto& [forward, backward] : both) {
      if (c_.op != forward && c_.op != backward) continue;
      const Op other = c_.op == forward ? backward : forward;
      for (const RopeVariant& row : backend_.variants()) {
        if (row.op == static_cast<int32_t>(other) && row.name == std::string(variant_.name))
          return &row;
      }
      *why = std::string("no variant ") + variant_.name + " of op " + name(other);
      return nullptr;
    }
    *why = std::string("op ") + name(c_.op) + " has no other direction";
    return nullptr;
  }

  ProbeRows launch(const RopeVariant& variant, Pairing pairing, const ProbeRows& in,
                   const std::vector<int64_t>& positions, std::string* why) {
    return probe_.launch(variant, pairing, in, positions, why);
  }

  Backend& backend_;
  const RopeCase& c_;
  const RopeVariant& variant_;
  const CosSinTable& table_;
  const Allowance& allowance_;
  double factor_;
  Probe probe_;
  ProbeRows in_;
};

// norms_kept and head_map.
std::vector<Invariant> kept_lengths(const RopeCase& c, const CosSinTable& table,
                                    const Allowance& allowance, const RopeKernelArgs& view) {
  std::string why = changes_lengths(c);
  if (why.empty()) why = why_no_rotation(table, token_rows_of(c).table_rows);
  if (!why.empty())
    return {Finding::not_applicable("norms_kept", why), Finding::not_applicable("head_map", why)};
  const Lengths lengths(c, allowance, table.frequencies.attention_factor, view);
  return {lengths.norms_kept(), lengths.head_map()};
}

}  // namespace

std::vector<Invariant> find_invariants(Backend& backend, const RopeCase& c,
                                       const RopeVariant& variant, const CosSinTable& table,
                                       const RopeKernelArgs& view, const RopeKernelArgs& args) {
  const Allowance allowance(c, variant, table);
  std::vector<Invariant> found = kept_lengths(c, table, allowance, view);
  Probed probed(backend, c, variant, table, allowance, args);
  found.push_back(probed.relative_position());
  found.push_back(probed.backward_inverts());
  found.push_back(probed.positions_add());
  found.push_back(probed.pairings_agree());
  return found;
}

std::vector<Invariant> find_invariants(const RopeCase& c, const RopeVariant& variant,
                                       const CosSinTable& table, const RopeKernelArgs& view) {
  std::vector<Invariant> found = kept_lengths(c, table, Allowance(c, variant, table), view);
  for (const char* name :
       {"relative_position", "backward_inverts", "positions_add", "pairings_agree"})
    found.push_back(Finding::not_applicable(name, "it takes launches"));
  return found;
}

}  // namespace rope_bench
