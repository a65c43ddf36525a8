#include "src/case/resolve.h"

#include <fmt/format.h>

#include <cmath>

#include "src/case/checked_math.h"
#include "src/case/key_values.h"
#include "src/case/positions.h"

namespace rope_bench {
namespace {

// The enumerator whose name() is `word`; the key table has made sure that there is one.
template <typename Enum>
Enum enum_of(const std::string& word, Enum last) {
  for (int i = 0; i < static_cast<int>(last); ++i) {
    if (word == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return last;
}

Dtype dtype_of(const std::string& word) {
  for (const DtypeInfo& row : kDtypes) {
    if (word == row.name) return row.dtype;
  }
  return Dtype::kBF16;
}

class Resolver {
 public:
  Resolver(const Values& values, ScalingCatalog scalings, Problems* problems,
           std::set<std::string>* warnings)
      : v_(values), scalings_(scalings), problems_(problems), warnings_(warnings) {}

  RopeCase run() {
    model();
    op_and_pairing();
    c_.rope.scaling = resolve_scaling(v_, scalings_, problems_, warnings_);
    rotary_dim();
    rope();
    norm_and_layout();
    tokens();
    position_dtype();
    measure();
    unused_parts();
    return std::move(c_);
  }

 private:
  void problem(std::string text, std::vector<std::string> keys) {
    problems_->push_back({std::move(text), std::move(keys)});
  }
  void require(std::string_view path) {
    if (v_.assign(path)) return;
    const Key& key = v_.table()[v_.table().find(path)];
    problem(fmt::format("missing; {} must be given: {}", path, allowed_text(key)),
            {std::string(path)});
  }

  void model() {
    require("model.num_heads");
    require("model.head_dim");
    c_.num_heads = v_.integer("model.num_heads").value_or(0);
    c_.head_dim = v_.integer("model.head_dim").value_or(0);
    c_.max_position = v_.integer("model.max_position");
    c_.batch = v_.integer("model.batch").value_or(1);
    c_.num_kv_heads = v_.integer("model.num_kv_heads").value_or(c_.num_heads);
    const std::optional<int64_t> ratio = v_.integer("model.gqa_ratio");
    if (c_.num_heads == 0) return;
    if (ratio && c_.num_heads % *ratio != 0) {
      problem(fmt::format("gqa_ratio {} does not divide num_heads {}", *ratio, c_.num_heads),
              {"model.gqa_ratio", "model.num_heads"});
    }
    if (ratio) c_.num_kv_heads = std::max<int64_t>(1, c_.num_heads / *ratio);
    if (c_.num_heads % c_.num_kv_heads != 0) {
      problem(fmt::format("num_kv_heads {} does not divide num_heads {}", c_.num_kv_heads,
                          c_.num_heads),
              {"model.num_kv_heads", "model.num_heads"});
    }
  }

  void op_and_pairing() {
    c_.op = enum_of(v_.word_or("op", "rope"), Op::kSplitRopeBackward);
    c_.variant = v_.word_or("variant", "fast");
    c_.dtype = dtype_of(v_.word_or("dtype", "bf16"));
    pairing_ = v_.word_or("rope.pairing", "neox");
    const bool adjacent = pairing_ == info(Pairing::kGptj).name || pairing_ == "interleaved";
    c_.rope.pairing = adjacent ? Pairing::kGptj : Pairing::kNeox;
    if (pairing_ != "fused_neox") return;
    if (v_.assign("op") && c_.op != Op::kSplitRope) {
      problem(fmt::format("pairing fused_neox is short for neox with op split_rope, but op is {}",
                          name(c_.op)),
              {"op", "rope.pairing"});
    }
    c_.op = Op::kSplitRope;
  }

  void rotary_dim() {
    const std::optional<int64_t> given = v_.integer("rope.rotary_dim");
    const std::optional<double> factor = v_.number("rope.partial_rotary_factor");
    if (c_.rope.scaling.type == "proportional") {
      c_.rope.rotary_dim = c_.head_dim;
      c_.rope.proportion = factor.value_or(1.0);
      if (given && *given != c_.head_dim) {
        problem(fmt::format("rotary_dim {} with scaling proportional, which keeps it at head_dim "
                            "{}; partial_rotary_factor says what share of pairs rotates",
                            *given, c_.head_dim),
                {"rope.rotary_dim", "model.head_dim", "rope.scaling.type"});
      }
      return;
    }
    std::string how = fmt::format("rotary_dim {}", c_.head_dim);
    c_.rope.rotary_dim = c_.head_dim;
    const char* key = "rope.rotary_dim";
    if (given) {
      c_.rope.rotary_dim = *given;
      how = fmt::format("rotary_dim {}", *given);
    } else if (factor) {
      const double product = *factor * static_cast<double>(c_.head_dim);
      c_.rope.rotary_dim = static_cast<int64_t>(product);
      key = "rope.partial_rotary_factor";
      how = fmt::format("partial_rotary_factor {} of head_dim {} is {}, truncated to rotary_dim {}",
                        *factor, c_.head_dim, product, c_.rope.rotary_dim);
    } else if (pairing_ == "partial") {
      c_.rope.rotary_dim = c_.head_dim / 2;
      key = "rope.pairing";
      how = fmt::format("pairing partial of head_dim {} is rotary_dim {}", c_.head_dim,
                        c_.rope.rotary_dim);
    }
    if (c_.head_dim == 0) return;  // missing: already said
    const std::vector<std::string> keys = {key, "model.head_dim"};
    if (c_.rope.rotary_dim > c_.head_dim) {
      problem(fmt::format("{} is above head_dim {}", how, c_.head_dim), keys);
    } else if (c_.rope.rotary_dim < 2 || c_.rope.rotary_dim % 2 != 0) {
      problem(fmt::format("{}; it must be even and at least 2", how), keys);
    }
  }

  void rope() {
    c_.rope.theta = v_.number("rope.theta").value_or(10000);
    c_.rope.reversed = v_.word_or("rope.direction", "forward") == "reversed";
    c_.rope.seq_len = v_.integer("rope.seq_len");
    c_.rope.table.angle = enum_of(v_.word_or("rope.table.angle", "exact"), TableAngle::kFloat32);
    const std::string table_dtype = v_.word_or("rope.table.dtype", "f32");
    c_.rope.table.dtype = table_dtype == "data" ? c_.dtype : dtype_of(table_dtype);
    c_.rope.table.rows = v_.integer("rope.table.rows");
    c_.rope.axes.kind = v_.word_or("rope.axes.kind", "none");
    c_.rope.axes.section = v_.integers("rope.axes.section");
    const char* beta = "rope.query_scale.beta";
    const char* length = "rope.query_scale.original_max_position_embeddings";
    if (!v_.assign(beta) && !v_.assign(length)) return;
    if (!v_.assign(beta) || !v_.assign(length)) {
      problem("query_scale needs both beta and original_max_position_embeddings", {beta, length});
    }
    c_.rope.query_scale = QueryScale{v_.number(beta).value_or(0), v_.integer(length).value_or(1)};
  }

  TensorLayout tensor_layout(const std::string& path) const {
    return {v_.integer(path + ".token_stride"), v_.integer(path + ".head_stride"),
            v_.integer(path + ".rotary_offset").value_or(0)};
  }

  void norm_and_layout() {
    for (const char* key : {"norm.given", "norm.eps", "norm.weight", "norm.weight_offset",
                            "norm.span", "norm.order", "norm.round_between"}) {
      if (v_.assign(key)) c_.norm.given = true;
    }
    c_.norm.weight = v_.flag("norm.weight", true);
    c_.norm.eps = v_.number("norm.eps").value_or(1e-6);
    c_.norm.weight_offset = static_cast<int>(v_.integer("norm.weight_offset").value_or(0));
    c_.norm.span_row = v_.word_or("norm.span", "head") == "row";
    c_.norm.after_rotation = v_.word_or("norm.order", "before") == "after";
    c_.norm.round_between = v_.flag("norm.round_between", false);
    c_.qkv_bias = v_.flag("qkv_bias", false);
    varlen();
    c_.layout.heads_tokens_dim =
        v_.word_or("layout.order", is_padded(c_) ? "heads_tokens_dim" : "tokens_heads_dim") ==
        "heads_tokens_dim";
    c_.layout.in_place = v_.flag("layout.in_place", c_.op == Op::kRope);
    c_.layout.q = tensor_layout("layout.q");
    c_.layout.k = tensor_layout("layout.k");
  }

  void varlen() {
    for (const char* key :
         {"varlen.given", "varlen.source", "varlen.output", "varlen.max_seqlen"}) {
      if (v_.assign(key)) c_.varlen.given = true;
    }
    c_.varlen.source = v_.word_or("varlen.source", "cu_seqlens");
    c_.varlen.padded_output = v_.word_or("varlen.output", "packed") == "padded";
    c_.varlen.max_seqlen = v_.integer("varlen.max_seqlen");
  }

  void tokens() {
    const Node* positions = v_.node("positions");
    if (positions && positions->list()) {
      c_.positions.kind = PositionKind::kExplicit;
      c_.positions.list = v_.integers("positions");
    } else {
      c_.positions.kind = enum_of(v_.word_or("positions", "sequential"), PositionKind::kExplicit);
    }
    if (const Node* lists = v_.node("rope.axes.positions")) {
      if (positions) {
        problem("axes positions beside positions; one of them says where tokens are",
                {"rope.axes.positions", "positions"});
      }
      c_.positions.kind = PositionKind::kExplicit;
      for (const Node& list : *lists->list()) c_.positions.axis_lists.push_back(integers_in(list));
      c_.positions.list = c_.positions.axis_lists[0];
    }
    c_.positions.offset = v_.integer("position_offset").value_or(0);
    c_.seq_lens = v_.integers("seq_lens");
    const std::optional<int64_t> tokens = v_.integer("tokens");
    if (tokens) {
      c_.tokens = *tokens;
      if (!c_.seq_lens.empty() && c_.num_tokens() > *tokens) {
        problem(fmt::format("tokens {} is below {}, the sum of seq_lens", *tokens, c_.num_tokens()),
                {"tokens", "seq_lens"});
      }
    } else if (!c_.seq_lens.empty()) {
      c_.tokens = 0;  // as many as these sequences have
    } else if (c_.positions.kind == PositionKind::kExplicit) {
      c_.tokens = static_cast<int64_t>(c_.positions.list.size());
    } else {
      require("tokens");
    }
    if (!c_.seq_lens.empty() && c_.batch > 1) {
      problem(fmt::format("batch {} with seq_lens, which already lists every sequence ({} of them)",
                          c_.batch, c_.seq_lens.size()),
              {"model.batch", "seq_lens"});
    }
  }

  void position_dtype() {
    const bool wide = largest_possible_position(c_) > std::numeric_limits<int32_t>::max();
    c_.positions.bits = v_.word_or("position_dtype", wide ? "int64" : "int32") == "int64" ? 64 : 32;
  }

  void measure() {
    c_.data = enum_of(v_.word_or("data", "normal"), DataKind::kSpecial);
    const std::string cache = v_.word_or("measure.cache", "cold");
    if (cache == "warm") c_.measure.cache = {CacheMode::kWarm};
    if (cache == "both") c_.measure.cache = {CacheMode::kCold, CacheMode::kWarm};
    c_.measure.min_time_ms = v_.number("measure.min_time_ms");
    c_.measure.max_time_s = v_.number("measure.max_time_s");
    if (c_.measure.min_time_ms && c_.measure.max_time_s &&
        *c_.measure.min_time_ms > 1e3 * *c_.measure.max_time_s) {
      problem(fmt::format("measure.min_time_ms {} is above measure.max_time_s {}, which is in s",
                          *c_.measure.min_time_ms, *c_.measure.max_time_s),
              {"measure.min_time_ms", "measure.max_time_s"});
    }
    c_.measure.precision = v_.number("measure.precision").value_or(0.005);
    c_.measure.timeout_s = v_.number("measure.timeout_s");
    const Node* seed = v_.node("seed");
    c_.seed = seed ? seed_value(*seed).value_or(0) : 0;
  }

  // What is written but plays no part in this op is said aloud.
  void unused_parts() {
    const auto note = [&](const char* what) {
      warnings_->insert(fmt::format("{} has no effect on op {}", what, name(c_.op)));
    };
    if (c_.norm.given && c_.op != Op::kNormSplitRope) note("norm");
    if (c_.qkv_bias && !has_bias(c_)) note("qkv_bias");
    if (c_.varlen.given && c_.op != Op::kVarlenSplitRope) note("varlen");
  }

  const Values& v_;
  ScalingCatalog scalings_;
  Problems* problems_;
  std::set<std::string>* warnings_;
  RopeCase c_;
  std::string pairing_;
};

}  // namespace

RopeCase resolve(const Values& values, ScalingCatalog scalings, const std::string& config_name,
                 Problems* problems, std::set<std::string>* warnings) {
  RopeCase c = Resolver(values, scalings, problems, warnings).run();
  c.config = config_name;
  if (!problems->empty()) return c;
  check_op(c, problems);
  check_shape(c, problems);
  check_axes(c, problems);
  check_scaling_lists(c, scalings, problems);
  if (problems->empty()) check_positions(c, problems);
  return c;
}

}  // namespace rope_bench
