#include "src/cli/verify_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/cpu/thread_pool.h"
#include "src/case/axes.h"
#include "src/case/errors.h"
#include "src/math/row_rule.h"
#include "src/math/scaling.h"

namespace rope_bench {
VerifyFiles::VerifyFiles(const VerifyPaths& paths, const RopeCase& config) : c_(config) {
  c_.layout.in_place = false;
  for (TensorLayout* layout : {&c_.layout.q, &c_.layout.k})
    layout->token_stride = layout->head_stride = std::nullopt;
  launch_.struct_size = sizeof(launch_);
  read_inputs(paths);
  launch_.op = static_cast<int32_t>(c_.op);
  launch_.dtype = static_cast<int32_t>(c_.dtype);
  launch_.pairing = static_cast<int32_t>(c_.rope.pairing);
  launch_.num_tokens = c_.num_tokens();
  launch_.head_dim = static_cast<int32_t>(c_.head_dim);
  launch_.rotary_dim = static_cast<int32_t>(c_.rope.rotary_dim);
  launch_.q.rotary_offset = static_cast<int32_t>(c_.layout.q.rotary_offset);
  launch_.k.rotary_offset = static_cast<int32_t>(c_.layout.k.rotary_offset);
  read_outputs(paths);
  read_parameters(paths);
  if (!paths.positions.empty()) read_positions(paths.positions);
  read_table(paths.table);
}

// The first tensor says how many tokens there are, and of how many sequences.
void VerifyFiles::take_tokens(const char* flag, const std::string& path, const FileTensor& t,
                              int64_t heads) {
  const std::vector<int64_t>& s = t.shape;
  const bool heads_first = heads_first_in();
  if (s.size() < 3 || s.size() > 4) {
    refuse_file(flag, path,
                fmt::format("shape {}, expected {} or the same behind a batch", shape_text(s),
                            heads_first ? "(heads, tokens, dim)" : "(tokens, heads, dim)"));
  }
  const size_t first = s.size() - 3;
  if (s[first + (heads_first ? 0 : 1)] != heads || s.back() != c_.head_dim) {
    const std::string order =
        heads_first ? fmt::format("{}, tokens", heads) : fmt::format("tokens, {}", heads);
    refuse_file(flag, path,
                fmt::format("shape {}, expected ({}{}, {}): {} heads of {} dims in the config, "
                            "layout.order {}",
                            shape_text(s), first == 0 ? "" : "batch, ", order, c_.head_dim, heads,
                            c_.head_dim, heads_first ? "heads_tokens_dim" : "tokens_heads_dim"));
  }
  num_tokens_ = s[first + (heads_first ? 1 : 0)];
  const int64_t batch = first == 0 ? 1 : s[0];
  if (c_.seq_lens.empty()) {
    c_.batch = batch;
    c_.tokens = num_tokens_;
  } else if (c_.num_tokens() != batch * num_tokens_) {
    refuse_file(flag, path,
                fmt::format("shape {} has {} tokens, seq_lens and tokens of the config {}",
                            shape_text(s), batch * num_tokens_, c_.num_tokens()));
  } else {
    num_tokens_ = c_.num_tokens();
  }
}

void VerifyFiles::require_shape(const char* flag, const std::string& path, const FileTensor& t,
                                const std::vector<int64_t>& want, int64_t heads,
                                const char* what) const {
  if (t.shape == want) return;
  refuse_file(flag, path,
              fmt::format("shape {}, expected {}{}: {} heads of {} dims in the config",
                          shape_text(t.shape), shape_text(want), what, heads, c_.head_dim));
}

const std::byte* VerifyFiles::input(const char* flag, const std::string& path, int64_t heads,
                                    const char* what) {
  if (path.empty()) throw ConfigError(fmt::format("verify: {} FILE is missing", flag));
  FileTensor& t = tensors_[flag] = read_elements(flag, path, c_.dtype);
  if (num_tokens_ < 0) {
    take_tokens(flag, path, t, heads);
    return t.data.data();
  }
  std::vector<int64_t> want = {num_tokens_, heads, c_.head_dim};
  if (heads_first_in()) std::swap(want[0], want[1]);
  if (t.shape.size() == 4 || c_.batch > 1) want.insert(want.begin(), c_.batch);
  require_shape(flag, path, t, want, heads, what);
  return t.data.data();
}

std::byte* VerifyFiles::output(const char* flag, const std::string& path, int64_t heads) {
  if (path.empty()) throw ConfigError(fmt::format("verify: {} FILE is missing", flag));
  FileTensor& t = tensors_[flag] = read_elements(flag, path, c_.dtype);
  std::vector<int64_t> want = {out_rows(), heads, c_.head_dim};
  if (heads_first_out()) std::swap(want[0], want[1]);
  const bool padded = is_padded(c_);
  if (padded || t.shape.size() == 4 || c_.batch > 1)
    want.insert(want.begin(), padded ? c_.num_sequences() : c_.batch);
  require_shape(flag, path, t, want, heads, padded ? ", a row of each sequence" : ", as the input");
  return t.data.data();
}

void VerifyFiles::in_strides(RopeTensor* t, int64_t heads, int64_t row_heads) const {
  const int64_t d = c_.head_dim;
  t->num_heads = static_cast<int32_t>(heads);
  t->in_token_stride = heads_first_in() ? d : row_heads * d;
  t->in_head_stride = heads_first_in() ? num_tokens_ * d : d;
  t->in_batch_stride = row_heads * num_tokens_ * d;
}

void VerifyFiles::out_strides(RopeTensor* t, int64_t row_heads) const {
  const int64_t d = c_.head_dim;
  t->out_token_stride = heads_first_out() ? d : row_heads * d;
  t->out_head_stride = heads_first_out() ? out_rows() * d : d;
  t->out_batch_stride = row_heads * out_rows() * d;
}

void VerifyFiles::read_inputs(const VerifyPaths& paths) {
  const int64_t hq = c_.num_heads, hk = c_.num_kv_heads, d = c_.head_dim;
  for (const auto& [layout, name] : {std::pair{&c_.layout.q, "q"}, {&c_.layout.k, "k"}}) {
    if (layout->rotary_offset + c_.rope.rotary_dim > d)
      throw ConfigError(fmt::format("verify: {} rotates dims behind head_dim {}", name, d));
  }
  const bool has_v = !paths.v.empty() || !paths.qkv.empty();
  if (!paths.qkv.empty()) {
    if (!is_split(c_.op)) {
      throw ConfigError(fmt::format("--qkv {}: op {} reads --q and --k; --set op=split_rope?",
                                    paths.qkv, name(c_.op)));
    }
    for (const std::string* other : {&paths.q, &paths.k, &paths.v}) {
      if (!other->empty())
        throw ConfigError(fmt::format("--qkv and {} contradict each other", *other));
    }
    const std::byte* all = input("--qkv", paths.qkv, hq + 2 * hk, "");
    const auto step = (heads_first_in() ? num_tokens_ : 1) * d * info(c_.dtype).size;
    launch_.q.in = all;
    launch_.k.in = all + hq * step;
    launch_.v.in = all + (hq + hk) * step;
  } else {
    launch_.q.in = input("--q", paths.q, hq, "");
    launch_.k.in = input("--k", paths.k, hk, ", the tokens of --q");
    if (has_v) launch_.v.in = input("--v", paths.v, hk, ", the tokens of --q");
  }
  const int64_t row = paths.qkv.empty() ? 0 : hq + 2 * hk;
  in_strides(&launch_.q, hq, row == 0 ? hq : row);
  in_strides(&launch_.k, hk, row == 0 ? hk : row);
  if (has_v) in_strides(&launch_.v, hk, row == 0 ? hk : row);
  launch_.in_batch_tokens = c_.batch > 1 ? num_tokens_ : 0;
}

void VerifyFiles::read_outputs(const VerifyPaths& paths) {
  launch_.out_batch_tokens = is_padded(c_) || c_.batch > 1 ? out_rows() : 0;
  if (!paths.qkv_out.empty()) return read_packed_outputs(paths);
  launch_.q.out = output("--q-out", paths.q_out, c_.num_heads);
  launch_.k.out = output("--k-out", paths.k_out, c_.num_kv_heads);
  out_strides(&launch_.q, c_.num_heads);
  out_strides(&launch_.k, c_.num_kv_heads);
  if (paths.v_out.empty()) {
    launch_.v = {};  // not compared
  } else if (launch_.v.num_heads == 0) {
    throw ConfigError(
        fmt::format("--v-out {}: there is no --v or --qkv to compare it with", paths.v_out));
  } else {
    launch_.v.out = output("--v-out", paths.v_out, c_.num_kv_heads);
    out_strides(&launch_.v, c_.num_kv_heads);
  }
}

// Of gradients, and of split ops in place.
void VerifyFiles::read_packed_outputs(const VerifyPaths& paths) {
  if (!is_split(c_.op) || is_padded(c_)) {
    throw ConfigError(fmt::format("--qkv-out {}: op {}{} writes --q-out and --k-out", paths.qkv_out,
                                  name(c_.op), is_padded(c_) ? ", padded," : ""));
  }
  for (const std::string* other : {&paths.q_out, &paths.k_out, &paths.v_out}) {
    if (!other->empty())
      throw ConfigError(fmt::format("--qkv-out and {} contradict each other", *other));
  }
  if (launch_.v.num_heads == 0) {
    throw ConfigError(
        fmt::format("--qkv-out {}: there is no --v or --qkv to compare v with", paths.qkv_out));
  }
  const int64_t hq = c_.num_heads, hk = c_.num_kv_heads, row = hq + 2 * hk;
  std::byte* all = output("--qkv-out", paths.qkv_out, row);
  const auto step = (heads_first_out() ? num_tokens_ : 1) * c_.head_dim * info(c_.dtype).size;
  launch_.q.out = all;
  launch_.k.out = all + hq * step;
  launch_.v.out = all + (hq + hk) * step;
  for (RopeTensor* t : {&launch_.q, &launch_.k, &launch_.v}) out_strides(t, row);
}

const std::byte* VerifyFiles::vector(const char* flag, const std::string& path, int64_t count,
                                     const char* what) {
  FileTensor& t = tensors_[flag] = read_elements(flag, path, c_.dtype);
  if (count_of(t.shape) != count) {
    refuse_file(
        flag, path,
        fmt::format("shape {}, expected {} elements: {}", shape_text(t.shape), count, what));
  }
  return t.data.data();
}

void VerifyFiles::read_parameters(const VerifyPaths& paths) {
  const int64_t heads = c_.num_heads + 2 * c_.num_kv_heads;
  if (has_bias(c_) != !paths.bias.empty()) {
    throw ConfigError(fmt::format("verify: qkv_bias is {} in the config, --bias is {}given",
                                  has_bias(c_), paths.bias.empty() ? "not " : ""));
  }
  if (has_bias(c_)) {
    launch_.bias = vector("--bias", paths.bias, heads * c_.head_dim, "heads of q, k and v");
  }
  const bool weights = has_norm(c_) && c_.norm.weight;
  for (const auto& [flag, path] :
       {std::pair{"--q-weight", &paths.q_weight}, {"--k-weight", &paths.k_weight}}) {
    if (weights != !path->empty()) {
      throw ConfigError(fmt::format("verify: {} norm weights in the config, {} is {}given",
                                    weights ? "there are" : "there are no", flag,
                                    path->empty() ? "not " : ""));
    }
  }
  if (!weights) return;
  const auto span = [&](int64_t h) { return (c_.norm.span_row ? h : 1) * c_.head_dim; };
  launch_.q_weight = vector("--q-weight", paths.q_weight, span(c_.num_heads), "the norm's span");
  launch_.k_weight = vector("--k-weight", paths.k_weight, span(c_.num_kv_heads), "the norm's span");
}

void VerifyFiles::read_positions(const std::string& path) {
  const char* flag = "--positions";
  std::vector<int64_t> shape;
  const std::vector<int64_t> values = read_positions_of(flag, path, &shape);
  const int64_t axes = num_axes(c_.rope.axes), tokens = c_.num_tokens();
  const auto count = static_cast<int64_t>(values.size());
  if (count != tokens && count != axes * tokens) {
    refuse_file(
        flag, path,
        fmt::format(
            "shape {}, expected {} positions, one for each token{}", shape_text(shape), tokens,
            axes > 1 ? fmt::format(", or {} for {} axes", axes * tokens, axes) : std::string()));
  }
  const bool padding = c_.op == Op::kVarlenSplitRope;
  for (const int64_t position : values) {
    if (position < 0 && !padding)
      refuse_file(flag, path, fmt::format("position {} is below 0", position));
  }
  c_.positions.kind = PositionKind::kExplicit;
  c_.positions.offset = 0;
  c_.positions.axis_lists.clear();
  c_.positions.list.assign(values.begin(), values.begin() + tokens);
  if (padding) c_.varlen.source = "position_ids";
  if (axes == 1 || count == tokens) return;
  for (int64_t axis = 0; axis < axes; ++axis)
    c_.positions.axis_lists.emplace_back(values.begin() + axis * tokens,
                                         values.begin() + (axis + 1) * tokens);
}

void VerifyFiles::read_table(const std::string& path) {
  const TableSpec& spec = c_.rope.table;
  const std::vector<int64_t> rows = kernel_positions_of(c_);
  const int64_t largest = rows.empty() ? -1 : *std::max_element(rows.begin(), rows.end());
  table_ = build_table(frequencies_of(c_), spec.angle, largest + 1, available_threads(), spec.dtype,
                       row_rule_of(c_));
  if (path.empty()) return;
  std::vector<int64_t> shape;
  const std::vector<double> values = read_floats(path, &shape);
  const int64_t r = c_.rope.rotary_dim;
  if (shape.size() != 2 || shape[1] != r || shape[0] <= largest) {
    refuse_file(
        "--table", path,
        fmt::format("shape {}, expected (rows, {}): rotary_dim of the config, the cosines of a "
                    "position and then its sines, for every position up to {}",
                    shape_text(shape), r, largest));
  }
  for (int64_t i = 0; i < table_.rows * r; ++i)
    table_.values[static_cast<size_t>(i)] = static_cast<float>(values[static_cast<size_t>(i)]);
}

}  // namespace rope_bench
