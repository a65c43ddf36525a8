// One fully resolved case: plain data, no axes, no defaults left open, aliases replaced.
#ifndef ROPE_BENCH_SRC_CASE_ROPE_CASE_H_
#define ROPE_BENCH_SRC_CASE_ROPE_CASE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/pairing.h"

namespace rope_bench {

enum class Op {
  kRope,
  kSplitRope,
  kNormSplitRope,
  kVarlenSplitRope,
  kRopeBackward,
  kSplitRopeBackward
};
const char* name(Op op);  // "rope", "split_rope", ...

// A scaling method and its parameters, under Hugging Face's names. Absent parameters are not in the
// map: the method's own row knows its defaults.
using ScalingValue = std::variant<double, bool, std::string, std::vector<double>>;
struct Scaling {
  std::string type = "none";  // canonical: aliases are resolved
  std::map<std::string, ScalingValue> params;
  bool operator==(const Scaling&) const = default;
};

struct Axes {
  std::string kind = "none";  // none | mrope | mrope_interleaved | ernie | xdrope | vision_2d
  std::vector<int64_t> section;
  bool operator==(const Axes&) const = default;
};

// query * (1 + beta * ln(1 + floor(position / original_max_position_embeddings)))
struct QueryScale {
  double beta = 0;
  int64_t original_max_position_embeddings = 0;
  bool operator==(const QueryScale&) const = default;
};

enum class TableAngle { kExact, kFloat32 };
const char* name(TableAngle angle);  // "exact", "float32"

// What is stored in the cos-sin table. dtype "data" is already resolved to the case's dtype.
struct TableSpec {
  TableAngle angle = TableAngle::kExact;
  Dtype dtype = Dtype::kF32;
  std::optional<int64_t> rows;  // absent: max(max_position, seq_len)
};

struct Rope {
  Pairing pairing = Pairing::kNeox;
  int64_t rotary_dim = 0;  // even, 2..head_dim
  double theta = 10000;
  Scaling scaling;
  double proportion = 1.0;  // scaling `proportional`: the share of pairs that rotate
  Axes axes;
  bool reversed = false;
  std::optional<QueryScale> query_scale;
  std::optional<int64_t> seq_len;  // absent: largest position + 1
  TableSpec table;
};

struct Norm {
  bool given = false;
  bool weight = true;  // false: normed values are not multiplied by anything
  double eps = 1e-6;
  int weight_offset = 0;
  bool span_row = false;
  bool after_rotation = false;
  bool round_between = false;
};

struct TensorLayout {
  std::optional<int64_t> token_stride;  // elements; absent: packed
  std::optional<int64_t> head_stride;
  int64_t rotary_offset = 0;
};

// Of tensors that hold q, k or v alone. Packed QKV rows, which split ops read, split_rope_backward
// writes and both change in place, hold every head of a token one behind the other; of `q` and `k`
// they take q's token stride, as that of a row, and the rotary offsets.
struct Layout {
  bool heads_tokens_dim = false;
  bool in_place = true;
  TensorLayout q, k;
};

enum class PositionKind { kSequential, kDecode, kRandom, kBoundary, kExplicit };
const char* name(PositionKind kind);

struct Positions {
  PositionKind kind = PositionKind::kSequential;
  std::vector<int64_t> list;  // kExplicit: one per token of one sequence, or one per token of all
  // rope.axes.positions: such a list for every axis; then `list` is that of the first axis.
  std::vector<std::vector<int64_t>> axis_lists;
  int64_t offset = 0;
  int bits = 32;
};

enum class DataKind { kNormal, kUniform, kWide, kSubnormal, kCancel, kLarge, kConstant, kSpecial };
const char* name(DataKind kind);

enum class CacheMode { kCold, kWarm };
const char* name(CacheMode mode);

struct MeasureSpec {
  std::vector<CacheMode> cache = {CacheMode::kCold};  // "both": cold, then warm
  std::optional<double> min_time_ms;
  std::optional<double> max_time_s;
  double precision = 0.005;
  std::optional<double> timeout_s;
};

struct Varlen {
  bool given = false;
  std::string source = "cu_seqlens";  // padding_offset | cu_seqlens | position_ids
  bool padded_output = false;
  std::optional<int64_t> max_seqlen;  // rows of a sequence in a padded output; absent: longest
};

struct RopeCase {
  std::string name;    // full and unique in a run
  std::string config;  // the config's `name`
  Op op = Op::kRope;
  std::string variant = "fast";
  Dtype dtype = Dtype::kBF16;

  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
  std::optional<int64_t> max_position;
  int64_t batch = 1;

  Rope rope;
  Norm norm;
  bool qkv_bias = false;
  Layout layout;
  int64_t tokens = 0;             // per sequence
  std::vector<int64_t> seq_lens;  // tokens of each sequence; then `tokens`, where larger than their
                                  // sum, counts the padding tokens behind the last one as well
  Varlen varlen;
  Positions positions;
  DataKind data = DataKind::kNormal;
  MeasureSpec measure;
  uint64_t seed = 0;

  std::string
      skip_reason;  // not empty: an invalid combination of axis values, reported as `skipped`
  std::vector<std::string> warnings;  // of its values, one line each: what has no effect on it ...

  int64_t num_tokens() const;       // of all sequences, padding tokens included
  int64_t num_real_tokens() const;  // without padding tokens: those that are computed
  int64_t num_sequences() const;
};

bool is_split(Op op);               // q, k and v come from packed rows, or go there
bool is_backward(Op op);            // rotation by the negative angle
bool has_bias(const RopeCase& c);   // asked for, and the op adds one
bool has_norm(const RopeCase& c);   // whether or not `norm` is given
bool is_padded(const RopeCase& c);  // the output is one of padded sequences

// Tokens of each sequence: seq_lens, or `batch` times `tokens`.
std::vector<int64_t> sequence_lengths_of(const RopeCase& c);

// Rows that a sequence has in a padded output.
int64_t padded_length_of(const RopeCase& c);

// Position of every token, [num_tokens]; with rope.axes that of the first axis; -1 for a padding
// token. Deterministic in the case alone. Random and decode positions are drawn below the table's
// rows from the case's seed.
std::vector<int64_t> positions_of(const RopeCase& c);

// rope.seq_len, or largest position + 1 (at least 1).
int64_t seq_len_of(const RopeCase& c);

// rope.table.rows, or max(max_position, seq_len): positions lie below.
int64_t table_rows_of(const RopeCase& c);

// What kernels are given. Without rope.axes a row of the table is a position. With it the table has
// one row per token, made of that token's positions, and token t reads row t. Padding tokens: -1.
int64_t kernel_table_rows_of(const RopeCase& c);
std::vector<int64_t> kernel_positions_of(const RopeCase& c);

// Algorithmic bytes of one launch: each distinct byte read once and written once, table rows once
// per distinct position, pass-through dims free in place and read + written out of place. Padding
// tokens are free. The variant `unfused` is several launches, and its bytes are theirs:
//   split     reads and writes q, k and v; in place only where there is a bias to add
//   norm      reads and writes q and k, in place
//   rotation  reads and writes the rotated dims of q and k, in place, with table and positions
struct ByteCount {
  int64_t read = 0;   // tensors
  int64_t write = 0;  // tensors
  int64_t table = 0;
  int64_t positions = 0;
  bool in_place = false;  // what is written was read
  int64_t total() const { return read + write + table + positions; }
  // Different bytes: what a cache would have to hold.
  int64_t footprint() const { return read + table + positions + (in_place ? 0 : write); }
};
// `uses_table`: of the variant; one that forms its own angles reads no table.
ByteCount bytes_of(const RopeCase& c, bool uses_table = true);

// Smallest stride between heads and tokens of one operand, and the elements that one operand spans.
struct TensorExtent {
  int64_t token_stride = 0;
  int64_t head_stride = 0;
  int64_t batch_stride = 0;  // 0: one batch entry
  int64_t elements = 0;      // index of the last element + 1; 0 for no tokens
};
TensorExtent extent_of(const RopeCase& c, const TensorLayout& layout, int64_t heads);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_ROPE_CASE_H_
