#include "src/measure/fault_launch.h"

#include <algorithm>
#include <cstring>

#include "kernels/pairing.h"
#include "src/case/errors.h"
#include "src/math/numeric.h"
#include "src/math/row_rule.h"
#include "src/math/scaling.h"
#include "src/math/table.h"

namespace rope_bench {
namespace {

std::byte* moved(const void* base, int64_t elements, Dtype dtype) {
  return static_cast<std::byte*>(const_cast<void*>(base)) + elements * info(dtype).size;
}

}  // namespace

FaultLaunch::~FaultLaunch() {
  try {
    device_.synchronize();
  } catch (const DeviceError&) {
    // Whoever waits for the launch meets the same error.
  }
}

RopeKernelArgs FaultLaunch::tokens(const RopeKernelArgs& all, int64_t begin, int64_t end) {
  RopeKernelArgs part = all;
  const auto dtype = static_cast<Dtype>(all.dtype);
  part.num_tokens = end - begin;
  for (RopeTensor* t : {&part.q, &part.k, &part.v}) {
    if (t->num_heads == 0) continue;
    t->in = moved(t->in, begin * t->in_token_stride, dtype);
    t->out = moved(t->out, begin * t->out_token_stride, dtype);
  }
  if (all.position_source == ROPE_POSITIONS_IDS)
    part.positions = static_cast<const std::byte*>(all.positions) + begin * all.position_bits / 8;
  return part;
}

void FaultLaunch::run(const RopeKernelArgs& changed) {
  if (changed.op == variant_.op) return device_.launch({&variant_, changed});
  for (const RopeVariant& row : device_.variants()) {
    if (row.op == changed.op && std::strcmp(row.name, variant_.name) == 0)
      return device_.launch({&row, changed});
  }
  throw DeviceError("no such op on this device");
}

void FaultLaunch::run_tokens(int64_t begin, int64_t end) {
  if (args.position_source != ROPE_POSITIONS_IDS) use_positions(kernel_positions_of(c));
  run(tokens(args, begin, end));
}

std::vector<std::byte> FaultLaunch::read(const void* from, size_t bytes) {
  std::vector<std::byte> host(bytes);
  device_.synchronize();
  if (bytes > 0) device_.download(host.data(), from, bytes);
  return host;
}

void FaultLaunch::write(void* to, const void* from, size_t bytes) {
  device_.synchronize();
  device_.upload(to, from, bytes);
}

void* FaultLaunch::keep(const void* bytes, size_t size) {
  kept_.emplace_back(device_, size);
  write(kept_.back().data(), bytes, size);
  return kept_.back().data();
}

void FaultLaunch::use_positions(const std::vector<int64_t>& positions) {
  args.position_source = ROPE_POSITIONS_IDS;
  args.position_bits = 64;
  args.positions = keep(positions.data(), positions.size() * sizeof(int64_t));
}

void FaultLaunch::use_table(const std::vector<float>& values, int64_t rotary_dim) {
  args.table = keep(values.data(), values.size() * sizeof(float));
  args.table_row_stride = rotary_dim;
}

void FaultLaunch::use_table_of(const RopeCase& other) {
  const CosSinTable table = build_table(frequencies_of(other), other.rope.table.angle,
                                        args.table_rows, 1, Dtype::kF32, row_rule_of(other));
  use_table(table.values, table.rotary_dim);
}

std::vector<float> FaultLaunch::table() {
  std::vector<float> values(static_cast<size_t>(args.table_rows * args.table_row_stride));
  device_.synchronize();
  device_.download(values.data(), args.table, values.size() * sizeof(float));
  return values;
}

void FaultLaunch::change_table(const std::function<void(float*, float*)>& change) {
  std::vector<float> values = table();
  const int64_t half = args.rotary_dim / 2;
  for (int64_t row = 0; row < args.table_rows; ++row) {
    float* cosines = &values[static_cast<size_t>(row * args.table_row_stride)];
    for (int64_t i = 0; i < half; ++i) change(&cosines[i], &cosines[half + i]);
  }
  use_table(values, args.table_row_stride);
}

size_t FaultLaunch::extent(const RopeKernelArgs& a, const RopeTensor& t, bool out) {
  const int64_t token = out ? t.out_token_stride : t.in_token_stride;
  const int64_t head = out ? t.out_head_stride : t.in_head_stride;
  return static_cast<size_t>((a.num_tokens - 1) * token + (t.num_heads - 1) * head + a.head_dim) *
         static_cast<size_t>(info(static_cast<Dtype>(a.dtype)).size);
}

void FaultLaunch::change_output(const RopeTensor& t, int64_t token, int64_t head, int64_t dim,
                                const std::function<double(double)>& change) {
  const auto dtype = static_cast<Dtype>(args.dtype);
  std::byte* at = moved(t.out, token * t.out_token_stride + head * t.out_head_stride + dim, dtype);
  std::vector<std::byte> element = read(at, static_cast<size_t>(info(dtype).size));
  store_rounded(dtype, element.data(), 0, change(load_as_double(dtype, element.data(), 0)));
  write(at, element.data(), element.size());
}

void FaultLaunch::change_outputs(const std::function<double(double)>& change) {
  const auto dtype = static_cast<Dtype>(args.dtype);
  for (const RopeTensor* t : {&args.q, &args.k}) {
    std::vector<std::byte> bytes = read(t->out, extent(args, *t, true));
    for (int64_t token = 0; token < args.num_tokens; ++token) {
      for (int64_t head = 0; head < t->num_heads; ++head) {
        const int64_t row = token * t->out_token_stride + head * t->out_head_stride;
        for (int64_t i = row; i < row + args.rotary_dim; ++i)
          store_rounded(dtype, bytes.data(), i, change(load_as_double(dtype, bytes.data(), i)));
      }
    }
    write(t->out, bytes.data(), bytes.size());
  }
}

void FaultLaunch::touch(const void* tensor, int64_t element) {
  std::byte* at = moved(tensor, element, static_cast<Dtype>(args.dtype));
  std::vector<std::byte> byte = read(at, 1);
  // Not its old value, nor that of two launches ago.
  byte[0] = byte[0] == std::byte{0x42} ? std::byte{0x43} : std::byte{0x42};
  write(at, byte.data(), 1);
}

void FaultLaunch::rotate(const std::function<void(Pair*)>& turn, bool behind) {
  const auto dtype = static_cast<Dtype>(args.dtype);
  const auto pairing = static_cast<Pairing>(args.pairing);
  const size_t size = static_cast<size_t>(info(dtype).size);
  const std::vector<float> values = table();
  const std::vector<int64_t> positions = kernel_positions_of(c);
  const int32_t r = args.rotary_dim;
  for (const RopeTensor* t : {&args.q, &args.k}) {
    const size_t bytes = extent(args, *t, false);
    const std::vector<std::byte> in = read(t->in, bytes + (behind ? size : 0));
    std::vector<std::byte> out = read(t->out, extent(args, *t, true));
    const auto last = static_cast<int64_t>(bytes / size) - 1;
    for (int64_t row = 0; row < args.num_tokens * t->num_heads; ++row) {
      const int64_t token = row / t->num_heads, head = row % t->num_heads;
      const int64_t from = token * t->in_token_stride + head * t->in_head_stride;
      const int64_t to = token * t->out_token_stride + head * t->out_head_stride;
      for (int64_t dim = r; dim < args.head_dim; ++dim)
        std::copy_n(&in[static_cast<size_t>(from + dim) * size], size,
                    &out[static_cast<size_t>(to + dim) * size]);
      for (int32_t i = 0; i < r / 2; ++i) {
        const int32_t first = pair_first(pairing, i), second = pair_second(pairing, i, r);
        const float* factors = &values[static_cast<size_t>(positions[token]) *
                                       static_cast<size_t>(args.table_row_stride)];
        const int64_t y = from + second + (behind && from + second == last ? 1 : 0);
        Pair pair = {static_cast<float>(load_as_double(dtype, in.data(), from + first)),
                     static_cast<float>(load_as_double(dtype, in.data(), y)),
                     factors[i],
                     factors[r / 2 + i],
                     positions[token],
                     i};
        turn(&pair);
        store_rounded(dtype, out.data(), to + first, pair.x);
        store_rounded(dtype, out.data(), to + second, pair.y);
      }
    }
    write(t->out, out.data(), out.size());
  }
}

}  // namespace rope_bench
