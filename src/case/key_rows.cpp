// The rows of the key table, in the order in which the schema and the documentation list them.
#include "src/case/key_rows.h"

#include "src/case/rope_case.h"

namespace rope_bench {
namespace {

// Kernels take head counts, dims and offsets as 32-bit integers.
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
// Far above any model: what frequencies and tables of one head cost stays bounded.
constexpr int64_t kMaxDim = 65536;
// Tokens, strides and rows are 64-bit; a little room is left so that adding one never wraps.
constexpr int64_t kMaxCount = int64_t{1} << 62;
constexpr double kSmallestNormalFloat = 1.1754943508222875e-38;

Key integer(const char* path, int64_t min, int64_t max, const char* default_text, const char* doc) {
  Key key{path, KeyKind::kInteger, doc, default_text};
  key.integer_min = min;
  key.integer_max = max;
  return key;
}

Key even_integer(const char* path, const char* default_text, const char* doc) {
  Key key = integer(path, 2, kMaxDim, default_text, doc);
  key.even = true;
  return key;
}

Key integer_list(const char* path, const char* doc) {
  Key key = integer(path, 0, kMaxCount, "", doc);
  key.kind = KeyKind::kIntegerList;
  return key;
}

Key above(const char* path, double min, const char* default_text, const char* doc) {
  Key key{path, KeyKind::kNumber, doc, default_text};
  key.min = min;
  key.min_exclusive = true;
  return key;
}

Key word(const char* path, std::vector<std::string> words, const char* default_text,
         const char* doc) {
  Key key{path, KeyKind::kWord, doc, default_text};
  key.words = std::move(words);
  return key;
}

Key flag(const char* path, const char* default_text, const char* doc) {
  return {path, KeyKind::kFlag, doc, default_text};
}

Key text(const char* path, const char* doc) {
  Key key{path, KeyKind::kText, doc};
  key.may_be_axis = false;
  return key;
}

template <typename Enum>
std::vector<std::string> names_up_to(Enum last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.push_back(name(static_cast<Enum>(i)));
  return names;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const DtypeInfo& row : kDtypes) names.push_back(row.name);
  return names;
}

std::vector<std::string> table_dtype_names() {
  std::vector<std::string> names = dtype_names();
  names.push_back("data");
  return names;
}

std::vector<std::string> pairing_names() {
  std::vector<std::string> names;
  for (const PairingInfo& row : kPairings) names.push_back(row.name);
  names.insert(names.end(), {"interleaved", "partial", "fused_neox"});
  return names;
}

void add_model(std::vector<Key>* keys) {
  keys->push_back(text("$schema", "where an editor finds the schema; not read"));
  keys->push_back(text("name",
                       "name of the config, first part of every case name (default: the "
                       "file's name); in `cases`: name of the entry"));
  keys->push_back(text("description", "free text; not read"));
  keys->push_back(integer("model.num_heads", 1, kMaxInt32, "", "query heads; required"));
  keys->push_back(integer("model.num_kv_heads", 1, kMaxInt32, "num_heads",
                          "key/value heads; must divide num_heads"));
  keys->push_back(integer("model.gqa_ratio", 1, kMaxInt32, "",
                          "num_heads / num_kv_heads, instead of num_kv_heads"));
  keys->push_back(even_integer("model.head_dim", "", "dims of one head; required"));
  keys->push_back(integer("model.max_position", 1, kMaxCount, "",
                          "the model's declared maximum; enters formulas and the default of "
                          "rope.table.rows, limits nothing"));
  keys->push_back(integer("model.batch", 1, kMaxCount, "1", "sequences of `tokens` tokens each"));
}

void add_rope(std::vector<Key>* keys) {
  keys->push_back(word("rope.pairing", pairing_names(), "neox",
                       "which dims form a pair; interleaved = gptj, partial = neox with "
                       "rotary_dim head_dim/2, fused_neox = neox with op split_rope"));
  keys->push_back(even_integer("rope.rotary_dim", "head_dim", "rotated dims, at most head_dim"));
  Key factor = above("rope.partial_rotary_factor", 0, "",
                     "rotary_dim / head_dim instead of rotary_dim, the product truncated; for "
                     "scaling proportional the share of pairs that rotate");
  factor.max = 1;
  keys->push_back(factor);
  keys->push_back(above("rope.theta", 0, "10000", "base of the frequencies"));
  keys->push_back(word("rope.direction", {"forward", "reversed"}, "forward",
                       "reversed rotates by the negative angle"));
  keys->push_back(integer("rope.seq_len", 1, kMaxCount, "largest position + 1",
                          "current length, for methods that depend on it"));
  keys->push_back(word("rope.table.angle", names_up_to(TableAngle::kFloat32), "exact",
                       "angles in double, or rounded as transformers does"));
  keys->push_back(word("rope.table.dtype", table_dtype_names(), "f32",
                       "element type of the cos-sin table; data = the case's dtype"));
  keys->push_back(integer("rope.table.rows", 1, kMaxCount, "max(max_position, seq_len)",
                          "rows of the cos-sin table; positions must be below"));
  keys->push_back(word("rope.axes.kind",
                       {"none", "mrope", "mrope_interleaved", "ernie", "xdrope", "vision_2d"},
                       "none", "which position row drives which pair"));
  keys->push_back(integer_list("rope.axes.section",
                               "pairs per position row; their sum is "
                               "rotary_dim/2"));
  keys->push_back({"rope.axes.positions", KeyKind::kIntegerLists,
                   "positions of every token, one list per axis in the order of section; without "
                   "it `positions` says them, random ones drawn for each axis by itself"});
  Key beta{"rope.query_scale.beta", KeyKind::kNumber,
           "query * (1 + beta ln(1 + floor(position / original_max_position_embeddings)))"};
  beta.min = 0;
  keys->push_back(beta);
  keys->push_back(integer("rope.query_scale.original_max_position_embeddings", 1, kMaxCount, "",
                          "length after which queries are scaled"));
}

void add_case(std::vector<Key>* keys) {
  keys->push_back(word("op", names_up_to(Op::kSplitRopeBackward), "rope", "what is computed"));
  keys->push_back(word(
      "variant", {"naive", "per_head", "on_the_fly", "on_the_fly_fast_math", "unfused", "fast"},
      "fast", "implementation of the op"));
  keys->push_back(word("dtype", dtype_names(), "bf16", "element type of q and k"));
  Key eps{"norm.eps", KeyKind::kNumber, "added to the mean square", "1e-6"};
  eps.min = kSmallestNormalFloat;
  eps.max = std::numeric_limits<float>::max();  // kernels take a float
  keys->push_back(eps);
  keys->push_back(flag("norm.weight", "true", "false: a norm without weights"));
  keys->push_back(integer("norm.weight_offset", 0, 1, "0", "1: weights are stored minus one"));
  keys->push_back(word("norm.span", {"head", "row"}, "head", "what one mean square covers"));
  keys->push_back(word("norm.order", {"before", "after"}, "before", "than the rotation"));
  keys->push_back(flag("norm.round_between", "false", "round to dtype after the norm"));
  Key given = flag("norm.given", "false", "`norm` is present, if only as {}");
  given.hidden = true;
  keys->push_back(given);
  keys->push_back(flag("qkv_bias", "false", "add a bias before the rotation (fused ops)"));
}

void add_layout(std::vector<Key>* keys) {
  keys->push_back(word("layout.order", {"tokens_heads_dim", "heads_tokens_dim"}, "tokens_heads_dim",
                       "memory order of separate q, k and v; a padded output is "
                       "heads_tokens_dim unless this says otherwise"));
  keys->push_back(flag("layout.in_place", "true for op rope, else false", "output over input"));
  for (const char* tensor : {"q", "k"}) {
    const std::string path = std::string("layout.") + tensor;
    keys->push_back(integer((path + ".token_stride").c_str(), 0, kMaxCount, "packed",
                            "elements from one token to the next; that of q is also that of "
                            "packed QKV rows"));
    keys->push_back(integer((path + ".head_stride").c_str(), 0, kMaxCount, "packed",
                            "elements from one head to the next"));
    keys->push_back(integer((path + ".rotary_offset").c_str(), 0, kMaxInt32, "0",
                            "first dim of the rotated slice of each head"));
  }
}

void add_run(std::vector<Key>* keys) {
  keys->push_back(integer("tokens", 0, kMaxCount, "",
                          "tokens of each sequence; required unless "
                          "seq_lens or a list of positions says it; beside seq_lens all tokens, "
                          "those behind the last sequence being padding"));
  keys->push_back(integer_list("seq_lens", "tokens of each sequence, packed without padding"));
  keys->push_back(word("varlen.source", {"padding_offset", "cu_seqlens", "position_ids"},
                       "cu_seqlens", "where varlen_split_rope finds positions"));
  keys->push_back(word("varlen.output", {"packed", "padded"}, "packed", "shape of its outputs"));
  keys->push_back(integer("varlen.max_seqlen", 1, kMaxInt32, "the longest of seq_lens",
                          "rows that a sequence has in a padded output"));
  Key given = flag("varlen.given", "false", "`varlen` is present, if only as {}");
  given.hidden = true;
  keys->push_back(given);
  Key positions{
      "positions", KeyKind::kPositions,
      "position of every token; decode = one new token per sequence, of op "
      "varlen_split_rope all tokens of a sequence from a seeded start on; boundary = where "
      "tables and powers of two end",
      "sequential"};
  positions.words = {"sequential", "decode", "random", "boundary"};
  keys->push_back(positions);
  keys->push_back(
      integer("position_offset", -kMaxCount, kMaxCount, "0",
              "added to every position; lower end of random, decode and boundary positions"));
  keys->push_back(word("position_dtype", {"int32", "int64"},
                       "int32, int64 where a position needs it", "as kernels read them"));
  keys->push_back(word("data", names_up_to(DataKind::kSpecial), "normal", "values of the inputs"));
  keys->push_back(word("measure.cache", {"cold", "warm", "both"}, "cold",
                       "state of the caches before each launch"));
  Key min_time{"measure.min_time_ms", KeyKind::kNumber,
               "least time for the rounds of one row, in ms; at most max_time_s"};
  min_time.min = 0;
  min_time.max = 86'400'000;  // a day
  keys->push_back(min_time);
  keys->push_back(above("measure.max_time_s", 0, "", "most time for the rounds of one row, in s"));
  Key precision = above("measure.precision", 0, "0.005",
                        "wanted half-width of the 95 % interval of limit_ratio over its median");
  precision.max = 1;
  keys->push_back(precision);
  keys->push_back(above("measure.timeout_s", 0, "60",
                        "a kernel or copy that takes longer hangs: the run ends, in s"));
  keys->push_back({"seed", KeyKind::kSeed, "of inputs and drawn positions", "0"});
}

}  // namespace

std::vector<Key> key_rows(ScalingCatalog scalings) {
  std::vector<Key> keys;
  add_model(&keys);
  add_rope(&keys);
  add_scaling_rows(scalings, &keys);
  add_case(&keys);
  add_layout(&keys);
  add_run(&keys);
  return keys;
}

std::vector<KeyGroup> group_rows() {
  return {
      {"model", "attention shape"},
      {"rope", "the rotation"},
      {"rope.scaling", "a scaling method and its parameters; {} is none", true},
      {"rope.table", "the cos-sin table"},
      {"rope.axes", "position rows of multi-axis methods", true},
      {"rope.query_scale", "position-dependent scale of queries", true},
      {"norm", "RMSNorm of q and k (op norm_split_rope)", true},
      {"layout", "memory layout"},
      {"layout.q", "layout of q", true},
      {"layout.k", "layout of k", true},
      {"varlen", "op varlen_split_rope", true},
      {"measure", "how time is measured"},
  };
}

}  // namespace rope_bench
