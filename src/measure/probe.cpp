#include "src/measure/probe.h"

#include <algorithm>

#include "src/math/inputs.h"
#include "src/math/numeric.h"

namespace rope_bench {
namespace {

// What a wrong kernel may write beside its outputs stays within the allocation.
constexpr size_t kMargin = 4096;

}  // namespace

Probe::Probe(Backend& backend, const RopeCase& c, const RopeKernelArgs& like)
    : backend_(backend),
      c_(c),
      like_(like),
      width_(std::max({c.head_dim, c.layout.q.rotary_offset + c.rope.rotary_dim,
                       c.layout.k.rotary_offset + c.rope.rotary_dim})) {
  like_.num_tokens = kTokens;
  like_.in_batch_tokens = like_.out_batch_tokens = 0;
  like_.out_rows = nullptr;
  like_.padded_output = 0;
  like_.position_source = ROPE_POSITIONS_IDS;
  like_.num_sequences = 0;
  like_.sequence_starts = nullptr;
}

ProbeRows Probe::inputs() const {
  RopeCase small = c_;
  small.data = DataKind::kNormal;
  small.tokens = kTokens;
  small.batch = 1;
  small.seq_lens.clear();
  const auto fill = [&](TensorId id, int64_t heads) {
    const auto count = static_cast<size_t>(kTokens * heads * width_);
    std::vector<std::byte> bytes(count * info(c_.dtype).size);
    fill_inputs(small, id, {heads, width_, heads * width_, width_, 0, 0}, bytes.data(), 1);
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = load_as_double(c_.dtype, bytes.data(), static_cast<int64_t>(i));
    return values;
  };
  return {fill(TensorId::kQ, c_.num_heads), fill(TensorId::kK, c_.num_kv_heads)};
}

Probe::Place Probe::place(bool packed) const {
  const int64_t q = c_.num_heads * width_, k = c_.num_kv_heads * width_;
  if (packed) return {0, q, q + k, {q + 2 * k, q + 2 * k, q + 2 * k}, kTokens * (q + 2 * k)};
  return {0, kTokens * q, kTokens * (q + k), {q, k, k}, kTokens * (q + 2 * k)};
}

void Probe::write(const Place& p, const ProbeRows& rows, std::vector<std::byte>* bytes) const {
  const auto put = [&](const std::vector<double>& values, int64_t start, int64_t stride) {
    const auto row = static_cast<int64_t>(values.size()) / kTokens;
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t i = 0; i < row; ++i)
        store_rounded(c_.dtype, bytes->data() + kMargin, start + t * stride + i,
                      values[static_cast<size_t>(t * row + i)]);
    }
  };
  put(rows.q, p.q, p.token_stride[0]);
  put(rows.k, p.k, p.token_stride[1]);
}

ProbeRows Probe::read(const Place& p, const std::vector<std::byte>& bytes) const {
  const auto get = [&](int64_t heads, int64_t start, int64_t stride) {
    const int64_t row = heads * width_;
    std::vector<double> values(static_cast<size_t>(kTokens * row));
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t i = 0; i < row; ++i)
        values[static_cast<size_t>(t * row + i)] =
            load_as_double(c_.dtype, bytes.data() + kMargin, start + t * stride + i);
    }
    return values;
  };
  return {get(c_.num_heads, p.q, p.token_stride[0]), get(c_.num_kv_heads, p.k, p.token_stride[1])};
}

ProbeRows Probe::launch(const RopeVariant& variant, Pairing pairing, const ProbeRows& in,
                        const std::vector<int64_t>& positions, std::string* why_not) {
  const Op op = static_cast<Op>(variant.op);
  const bool split = is_split(op), gradient = is_backward(op);
  const Place from = place(split && !gradient), to = place(split && gradient);
  const size_t bytes = static_cast<size_t>(from.elements) * info(c_.dtype).size + 2 * kMargin;
  std::vector<std::byte> host(bytes);
  write(from, in, &host);
  DeviceMemory read_from(backend_, bytes), written_to(backend_, bytes);
  backend_.upload(read_from.data(), host.data(), bytes);
  backend_.fill({written_to.data(), 0, 1, bytes}, 0xff);

  std::vector<int32_t> narrow(positions.begin(), positions.end());
  const bool wide = like_.position_bits == 64;
  const void* list = wide ? static_cast<const void*>(positions.data()) : narrow.data();
  const size_t list_bytes = positions.size() * (wide ? 8 : 4);
  DeviceMemory ids(backend_, list_bytes);
  backend_.upload(ids.data(), list, list_bytes);

  RopeKernelArgs a = like_;
  a.op = variant.op;
  a.pairing = static_cast<int32_t>(pairing);
  a.positions = ids.data();
  RopeTensor* tensors[] = {&a.q, &a.k, &a.v};
  const int64_t in_start[] = {from.q, from.k, from.v}, out_start[] = {to.q, to.k, to.v};
  for (int i = 0; i < 3; ++i) {
    RopeTensor& t = *tensors[i];
    const auto at = [&](const DeviceMemory& memory, int64_t start) {
      return memory.data() + kMargin + static_cast<size_t>(start) * info(c_.dtype).size;
    };
    t.in = at(read_from, in_start[i]);
    t.out = at(written_to, out_start[i]);
    t.in_token_stride = from.token_stride[i];
    t.out_token_stride = to.token_stride[i];
    t.in_head_stride = t.out_head_stride = width_;
    t.in_batch_stride = t.out_batch_stride = 0;
  }
  if (!split) a.v = {};
  char reason[256] = "";
  if (variant.why_not(&a, reason, sizeof(reason)) != 0) {
    *why_not = reason;
    return {};
  }
  backend_.launch({&variant, a});
  backend_.synchronize();
  backend_.download(host.data(), written_to.data(), bytes);
  return read(to, host);
}

}  // namespace rope_bench
