#include "src/math/mistakes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/case/axes.h"

namespace rope_bench {
namespace {

using judging::Operand;
using judging::TokenAngles;

int64_t half_of(const TokenAngles& angles) {
  return static_cast<int64_t>(angles.judged.size()) / 2;
}

// A turn that changes every cosine and sine of a token.
template <typename Fn>
std::function<void(TokenAngles*)> each(Fn fn) {
  return [fn](TokenAngles* angles) {
    const int64_t half = half_of(*angles);
    for (int64_t i = 0; i < half; ++i) fn(&angles->judged[i], &angles->judged[half + i]);
  };
}

bool scaled(Belief* b, double factor) {
  b->turn = each([factor](double* c, double* s) {
    *c *= factor;
    *s *= factor;
  });
  return factor != 1;
}

double attention_factor(const Belief& b) { return frequencies_of(b.c).attention_factor; }

// Frequencies of a rotation of `rotary_dim` dims, as many of them as there are pairs.
bool frequencies_of_width(Belief* b, int64_t rotary_dim) {
  RopeCase other = b->c;
  if (rotary_dim <= other.rope.rotary_dim || other.rope.axes.kind != "none") return false;
  const auto pairs = static_cast<size_t>(other.rope.rotary_dim / 2);
  other.rope.rotary_dim = rotary_dim;
  Frequencies f = frequencies_of(other);
  f.exact.resize(pairs);
  f.float32.resize(pairs);
  for (FrequencySegment& segment : f.segments) {
    segment.exact.resize(pairs);
    segment.float32.resize(pairs);
  }
  b->frequencies = std::move(f);
  return true;
}

bool rotates_width(Belief* b, int64_t rotary_dim) {
  if (rotary_dim < 2 || rotary_dim % 2 != 0 || rotary_dim == b->c.rope.rotary_dim) return false;
  if (b->c.rope.axes.kind != "none") return false;
  if (std::max(b->c.layout.q.rotary_offset, b->c.layout.k.rotary_offset) + rotary_dim >
      b->c.head_dim)
    return false;
  b->c.rope.rotary_dim = rotary_dim;
  return true;
}

bool table_of(Belief* b, Dtype dtype) {
  if (!b->uses_table || b->c.rope.table.dtype == dtype) return false;
  b->c.rope.table.dtype = dtype;
  return true;
}

bool own_angles(Belief* b, int32_t precision) {
  if (!b->uses_table && b->precision == precision) return false;
  b->uses_table = false;
  b->precision = precision;
  return true;
}

bool rounds_more(Belief* b, double times) {
  if (b->c.dtype == Dtype::kF32) return false;
  b->roundings = times;
  b->precision = ROPE_PRECISION_UNFUSED;
  return true;
}

// The rows of every operand as [heads, tokens, dim] where they lie as [tokens, heads, dim].
void transpose(const RopeCase& c, RopeTensor* t) {
  t->in_head_stride = t->in_token_stride / std::max(t->num_heads, 1) * c.num_tokens();
  t->in_token_stride /= std::max(t->num_heads, 1);
}

// As k is, with its weights or without any; perhaps by a launch of its own.
template <bool kWeights>
bool normalises_v(Belief* b) {
  if (!has_norm(b->c) || b->launch.v.num_heads != b->c.num_kv_heads) return false;
  if (kWeights && b->launch.k_weight == nullptr) return false;
  b->precision = ROPE_PRECISION_UNFUSED;
  b->only_operand = 2;
  b->operands = [](std::vector<Operand>* all) {
    Operand &k = all->at(1), &v = all->at(2);
    v.count = v.width;
    v.factors.assign(static_cast<size_t>(v.heads * v.count), 1.0);
    if (kWeights && k.count == v.count) v.factors = k.factors;
    v.heads_per_span = k.heads_per_span;
  };
  return true;
}

const KnownMistake kMistakes[] = {
    {"not_rotated", "nothing was rotated",
     [](Belief* b) {
       b->turn = each([](double* c, double* s) { *c = 1, *s = 0; });
       return true;
     }},
    {"other_pairing", "the pairs of the other pairing",
     [](Belief* b) {
       b->c.rope.pairing = b->c.rope.pairing == Pairing::kNeox ? Pairing::kGptj : Pairing::kNeox;
       return b->c.rope.rotary_dim > 2;
     }},
    {"negated_sin", "a rotation the other way: negated sines",
     [](Belief* b) {
       b->turn = each([](double*, double* s) { *s = -*s; });
       return true;
     }},
    {"position_plus_one", "every position one too large",
     [](Belief* b) { return b->shift = 1, true; }},
    {"position_minus_one", "every position one too small",
     [](Belief* b) { return b->shift = -1, true; }},
    {"token_index", "the index of the token taken for its position",
     [](Belief* b) {
       b->positions_are_tokens = true;
       return b->c.rope.axes.kind == "none";
     }},
    {"halves_swapped", "cosines and sines exchanged",
     [](Belief* b) {
       b->turn = each([](double* c, double* s) { std::swap(*c, *s); });
       return true;
     }},
    {"cos_for_sin", "cosines taken for sines",
     [](Belief* b) {
       b->turn = each([](double* c, double* s) { *s = *c; });
       return true;
     }},
    {"rotated_twice", "the rotation applied twice",
     [](Belief* b) {
       b->turn = each([](double* c, double* s) {
         const double cosine = *c * *c - *s * *s;
         *s = 2 * *c * *s;
         *c = cosine;
       });
       b->roundings = 1;  // the first result is one of the dtype
       return true;
     }},
    {"attention_factor_missing", "the attention factor left out",
     [](Belief* b) { return scaled(b, 1 / attention_factor(*b)); }},
    {"attention_factor_squared", "the attention factor applied twice",
     [](Belief* b) { return scaled(b, attention_factor(*b)); }},
    {"attention_factor_doubled", "cosines and sines twice as large",
     [](Belief* b) { return scaled(b, 2); }},
    {"denominator_head_dim", "exponents over head_dim instead of rotary_dim",
     [](Belief* b) { return frequencies_of_width(b, b->c.head_dim); }},
    {"rotary_dim_is_head_dim", "all of head_dim rotated",
     [](Belief* b) { return rotates_width(b, b->c.head_dim); }},
    {"rotary_dim_halved", "half of rotary_dim rotated",
     [](Belief* b) { return rotates_width(b, b->c.rope.rotary_dim / 2); }},
    {"theta_default", "the base 10000 instead of theta",
     [](Belief* b) { return std::exchange(b->c.rope.theta, 10000.0) != 10000; }},
    {"scaling_missing", "frequencies without their scaling",
     [](Belief* b) { return std::exchange(b->c.rope.scaling, Scaling{}).type != "none"; }},
    {"section_order", "the sections of the position axes in reverse order",
     [](Belief* b) {
       auto& section = b->c.rope.axes.section;
       const auto before = section;
       std::reverse(section.begin(), section.end());
       return section != before;
     }},
    {"axis_order", "the positions of the last two axes exchanged",
     [](Belief* b) {
       auto& lists = b->c.positions.axis_lists;
       if (lists.size() < 2) return false;
       std::swap(lists[lists.size() - 1], lists[lists.size() - 2]);
       return true;
     }},
    {"axes_interleaved", "the other of mrope and mrope_interleaved",
     [](Belief* b) {
       std::string& kind = b->c.rope.axes.kind;
       if (kind != "mrope" && kind != "mrope_interleaved") return false;
       kind = kind == "mrope" ? "mrope_interleaved" : "mrope";
       return true;
     }},
    {"norm_order", "norm and rotation in the other order",
     [](Belief* b) {
       b->c.norm.after_rotation = !b->c.norm.after_rotation;
       return has_norm(b->c);
     }},
    {"norm_missing", "the norm left out",
     [](Belief* b) {
       b->operands = [](std::vector<Operand>* all) {
         for (Operand& o : *all) o.factors.clear();
       };
       return has_norm(b->c);
     }},
    {"eps_missing", "the norm's eps left out",
     [](Belief* b) {
       b->c.norm.eps = 0;
       return has_norm(b->c);
     }},
    {"weight_offset", "the norm's weight_offset left out, or added where there is none",
     [](Belief* b) {
       b->c.norm.weight_offset = b->c.norm.weight_offset == 0 ? 1 : 0;
       return has_norm(b->c) && b->launch.q_weight != nullptr;
     }},
    {"weights_missing", "the norm's weights left out",
     [](Belief* b) {
       b->launch.q_weight = b->launch.k_weight = nullptr;
       return has_norm(b->c);
     }},
    {"weights_swapped", "the norm's weights of q and k exchanged",
     [](Belief* b) {
       std::swap(b->launch.q_weight, b->launch.k_weight);
       return has_norm(b->c) && b->launch.q_weight != nullptr &&
              (!b->c.norm.span_row || b->c.num_heads == b->c.num_kv_heads);
     }},
    {"v_normalised", "v normalised as well", normalises_v<false>},
    {"v_normalised_as_k", "v normalised as well, with the weights of k", normalises_v<true>},
    {"bias_missing", "the bias left out",
     [](Belief* b) {
       b->operands = [](std::vector<Operand>* all) {
         for (Operand& o : *all) std::fill(o.bias.begin(), o.bias.end(), 0.0);
       };
       return has_bias(b->c);
     }},
    {"k_head_of_query", "heads of k indexed as if they were query heads",
     [](Belief* b) {
       const int64_t group = b->c.num_heads / std::max<int64_t>(b->c.num_kv_heads, 1);
       b->only_operand = 1;
       b->k_head = [group](int64_t head) { return head / group; };
       return group > 1 && !(has_norm(b->c) && b->c.norm.span_row);
     }},
    {"k_from_q", "k computed from q",
     [](Belief* b) {
       b->only_operand = 1;
       RopeTensor &q = b->launch.q, &k = b->launch.k;
       k.in = q.in;
       k.in_token_stride = q.in_token_stride;
       k.in_head_stride = q.in_head_stride;
       k.in_batch_stride = q.in_batch_stride;
       return b->c.num_kv_heads <= b->c.num_heads &&
              b->c.layout.q.rotary_offset == b->c.layout.k.rotary_offset;
     }},
    {"transposed", "rows read as [heads, tokens, dim] instead of [tokens, heads, dim]",
     [](Belief* b) {
       if (is_split(b->c.op) || b->launch.in_batch_tokens != 0) return false;
       for (RopeTensor* t : {&b->launch.q, &b->launch.k}) {
         if (t->in_token_stride != t->num_heads * t->in_head_stride) return false;
         transpose(b->c, t);
       }
       return true;
     }},
    {"float32_angle", "float32 angles where exact ones were promised, or the reverse",
     [](Belief* b) {
       TableSpec& table = b->c.rope.table;
       const bool exact = !b->uses_table || table.angle == TableAngle::kExact;
       table.angle = exact ? TableAngle::kFloat32 : TableAngle::kExact;
       b->uses_table = true;
       return true;
     }},
    {"table_bf16", "cosines and sines in bf16",
     [](Belief* b) { return table_of(b, Dtype::kBF16); }},
    {"table_f16", "cosines and sines in f16", [](Belief* b) { return table_of(b, Dtype::kF16); }},
    {"fast_math", "float32 angles with fast trigonometry",
     [](Belief* b) { return own_angles(b, ROPE_PRECISION_FAST_MATH); }},
    {"second_rounding", "results rounded to the dtype once too often",
     [](Belief* b) { return rounds_more(b, 1); }},
    {"dtype_arithmetic", "arithmetic in the dtype instead of float32",
     [](Belief* b) { return rounds_more(b, 3); }},
};

const Evidence kEvidences[] = {evidence::kUnwritten, evidence::kNanLost, evidence::kOutside,
                               evidence::kInput,     evidence::kPadding, evidence::kTable,
                               evidence::kSecond,    evidence::kTimed,   evidence::kNone};

}  // namespace

std::span<const KnownMistake> evaluated_mistakes() { return kMistakes; }
std::span<const Evidence> evidences() { return kEvidences; }

}  // namespace rope_bench
