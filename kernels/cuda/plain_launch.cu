#include "kernels/cuda/plain_launch.cuh"

#include <numeric>

#include "kernels/arguments.h"
#include "kernels/cuda/device/norm.cuh"
#include "kernels/cuda/vector_launch.cuh"

namespace rope_bench::device {
namespace {

bool has_norm(const RopeKernelArgs& args, const VectorLaunch& how) {
  return how.stages.norm && args.norm != ROPE_NORM_NONE;
}

bool forms_angles(const RopeKernelArgs& args, const VectorLaunch& how) {
  return how.stages.rotation && args.table == nullptr;
}
// Whether shared memory has room for the factors of a block's tokens: each row of threads has one,
// and there is a row even where a head needs more threads than a block is meant to have.
bool factors_fit(const RopeKernelArgs& args, const VectorConfig& config) {
  const int room = plain_shared_factors(config.heads);
  return args.rotary_dim <= room &&
         2 * config.threads * config.packet_bytes / element_size(args.dtype) <= room;
}

// Offsets within a token are computed in 32 bits, and tokens are a short multiplication away.
bool is_short(const Operand& o, int64_t head_bytes) {
  constexpr int64_t kMost = 0xffffffff;
  const auto fits = [&](int64_t token_stride, int64_t head_stride) {
    return token_stride >= 0 && token_stride <= kMost && head_stride >= 0 && head_stride <= kMost &&
           head_stride <= (kMost - head_bytes) / (int64_t{o.heads.divisor} + 1);
  };
  return fits(o.in_token_stride, o.in_head_stride) && fits(o.out_token_stride, o.out_head_stride);
}

PlainOperand operand_of(const RopeKernelArgs& args, const VectorLaunch& how, const Items& items,
                        bool swaps_halves) {
  const int bytes = how.config.packet_bytes;
  const Operand& from = items.operand;
  const HeadSlices& s = items.slices;
  PlainOperand o;
  o.in = from.in;
  o.out = from.out;
  o.in_token_stride = static_cast<uint32_t>(from.in_token_stride);
  o.in_head_stride = static_cast<uint32_t>(from.in_head_stride);
  o.out_token_stride = static_cast<uint32_t>(from.out_token_stride);
  o.out_head_stride = static_cast<uint32_t>(from.out_head_stride);
  o.num_heads = from.heads.divisor;
  const auto heads = static_cast<uint32_t>(how.config.heads);
  o.groups = Divisor::of((o.num_heads + heads - 1) / heads);
  o.lanes = s.lanes;
  const bool split_pair = args.pairing == ROPE_PAIRING_GPTJ && bytes == element_size(args.dtype);
  const int step = split_pair ? bytes : s.lanes * bytes;
  o.rotated_first = swaps_halves ? step : 0;
  o.rotated_step = swaps_halves ? -step : step;
  o.passed_first = s.lanes * bytes;  // behind `packets` = 2 `lanes`, for the first thread of them
  o.passed_step = int64_t{s.pass_lanes} * bytes;
  return o;
}

bool begins_lines(const PlainOperand& o) {
  return reinterpret_cast<uintptr_t>(o.in) % kLine == 0 && o.in_token_stride % kLine == 0 &&
         o.in_head_stride % kLine == 0;
}

// Whether the norm, which comes before the rotation and is not rounded in between, is one of the
// plain kernels.
bool norm_fits(const RopeKernelArgs& args, const VectorLaunch& how, int threads) {
  if (how.stages.rotation && (args.norm_after != 0 || args.round_between != 0)) return false;
  if (args.norm == ROPE_NORM_ROW)
    return args.rotary_dim <= kSharedFactors && row_plain_params(args, how).end <= 1024;
  return threads <= 32 && (threads & (threads - 1)) == 0;
}

// Token t is row t of inputs and outputs.
bool is_in_order(const RopeKernelArgs& args) {
  return args.in_batch_tokens == 0 && args.out_batch_tokens == 0 && args.out_rows == nullptr &&
         args.padded_output == 0;
}

}  // namespace

bool is_plain(const RopeKernelArgs& args, const VectorLaunch& how) {
  if (!is_in_order(args) || how.in_is_out || args.num_tokens > 0x7fffffff) return false;
  if (how.stages.bias && args.bias != nullptr) return false;
  const bool norm = has_norm(args, how);
  if (norm && is_packed(args)) return false;
  if (!how.stages.rotation && !norm && all_in_place(args)) return false;
  // A norm over a whole row has the room for one token's: norm_fits().
  const bool row = norm && args.norm == ROPE_NORM_ROW;
  if (forms_angles(args, how) && !row && !factors_fit(args, how.config)) return false;
  const VectorParams v = vector_params(args, how);
  const int threads = head_threads(v);
  if (threads == 0 || (how.warp_per_head && threads % 32 != 0)) return false;
  for (const Items* items : {&v.q, &v.k, &v.v}) {
    if (items->operand.heads.divisor == 0) continue;
    const HeadSlices& s = items->slices;
    if (s.lead != 0 || !s.is_even() || s.threads() != threads) return false;
    if (!is_short(items->operand, int64_t{2} * threads * how.config.packet_bytes)) return false;
  }
  // The low word of a position finds its row.
  if (args.table != nullptr && args.table_rows > 0xffffffff) return false;
  return v.table.is_short() && (!norm || norm_fits(args, how, threads));
}

PlainParams plain_params(const RopeKernelArgs& args, const VectorLaunch& how) {
  const VectorParams v = vector_params(args, how);
  // Halves change places where the table is read: two packets that turn together.
  const int bytes = how.config.packet_bytes, elements = bytes / element_size(args.dtype);
  const bool shares = args.pairing == ROPE_PAIRING_NEOX || elements == 1;
  const bool swaps = v.swaps_halves && shares;
  PlainParams p;
  p.q = operand_of(args, how, v.q, swaps);
  p.k = operand_of(args, how, v.k, swaps);
  p.v = operand_of(args, how, v.v, false);
  if (has_norm(args, how)) {
    const NormParams norm = norm_params(args);
    p.eps = norm.eps;
    p.weight_bytes = static_cast<uint32_t>(args.head_dim * element_size(args.dtype));
    p.q.weights = norm.q_weight;
    p.k.weights = norm.k_weight;
    p.q.inverse_count = norm.q_inverse_count;
    p.k.inverse_count = norm.k_inverse_count;
    for (PlainOperand* o : {&p.q, &p.k})
      o->weight_offset = o->weights == nullptr ? 0.0f : norm.weight_offset;
  }
  p.num_tokens = static_cast<uint32_t>(args.num_tokens);
  p.packed = PackedTokens::of(args);
  p.position_bytes = static_cast<uint32_t>(p.packed.value_bytes);
  p.positions = p.packed.values;
  p.table = v.table.values;
  p.table_rows = static_cast<uint32_t>(args.table_rows);
  p.row_stride = static_cast<uint32_t>(v.table.row_stride);
  p.sines = args.rotary_dim / 2 * element_size(args.table_dtype);
  p.sine_flip = v.sine_flip;
  p.is_bf16 = v.table.is_bf16;
  p.row_bytes = v.row_bytes;
  // One more where rows do not begin at a line.
  p.row_lines = Divisor::of((p.row_bytes + kLine - 1) / kLine + (p.row_bytes % kLine != 0 ? 1 : 0));
  // Null would be no address to a kernel, also where nothing turns and neither is read.
  const char* any = p.q.in != nullptr ? p.q.in : p.k.in != nullptr ? p.k.in : p.v.in;
  if (p.table == nullptr) p.table = any;
  if (p.positions == nullptr) p.positions = any;
  p.half_dim = v.half_dim;
  p.angles = v.angles;
  p.head_bytes = static_cast<uint32_t>(2 * head_threads(v) * bytes);
  const bool on_lines = begins_lines(p.q) && begins_lines(p.k) && begins_lines(p.v);
  p.head_lines = Divisor::of((p.head_bytes + kLine - 1) / kLine + (on_lines ? 0 : 1));
  if (how.config.ahead > 0) p.ahead = static_cast<uint32_t>(how.config.ahead) * multiprocessors();
  return p;
}

LaunchShape plain_shape(const RopeKernelArgs& args, const VectorLaunch& how, PlainParams* p) {
  const VectorConfig& config = how.config;
  const int row_threads = head_threads(vector_params(args, how));
  LaunchShape shape;
  shape.block_x = static_cast<uint32_t>(row_threads);
  shape.block_y =
      static_cast<uint32_t>(row_threads < config.threads ? config.threads / row_threads : 1);
  // Whole warps, where they look tokens up together (smaller blocks do without).
  const uint32_t warp_rows = 32 / std::gcd(32u, shape.block_x);
  if (is_packed(args) && shape.block_y > warp_rows) shape.block_y -= shape.block_y % warp_rows;
  shape.overlap = true;
  p->chunk_tokens = static_cast<uint32_t>(config.chunk_tokens);
  shape.blocks_y =
      static_cast<uint32_t>((args.num_tokens + config.chunk_tokens - 1) / config.chunk_tokens);
  const auto blocks = [](uint64_t items, uint64_t per_block) {
    return static_cast<uint32_t>((items + per_block - 1) / per_block);
  };
  const auto tokens = static_cast<uint64_t>(config.chunk_tokens);
  const auto head_blocks = [&](const PlainOperand& o) {
    return blocks(tokens * o.groups.divisor, shape.block_y);
  };
  p->q_blocks = head_blocks(p->q);
  p->k_blocks = head_blocks(p->k);
  p->prefetch_blocks =
      config.prefetch && args.table != nullptr
          ? blocks(tokens * p->row_lines.divisor, uint64_t{shape.block_x} * shape.block_y)
          : 0;
  shape.blocks = uint64_t{p->prefetch_blocks} + p->q_blocks + p->k_blocks + head_blocks(p->v);
  return shape;
}

RowPlainParams row_plain_params(const RopeKernelArgs& args, const VectorLaunch& how) {
  RowPlainParams p;
  p.plain = plain_params(args, how);
  const auto threads = static_cast<uint32_t>(head_threads(vector_params(args, how)));
  p.head_threads = Divisor::of(threads);
  p.head_bytes = static_cast<uint32_t>(args.head_dim * element_size(args.dtype));
  const auto warps_of = [&](const PlainOperand& o) {
    return (o.groups.divisor * threads + 31) / 32 * 32;
  };
  p.k_first = warps_of(p.plain.q);
  p.v_first = p.k_first + warps_of(p.plain.k);
  p.end = p.v_first + warps_of(p.plain.v);
  return p;
}

LaunchShape row_plain_shape(const RopeKernelArgs& args, const RowPlainParams& p) {
  LaunchShape shape;
  shape.blocks = static_cast<uint64_t>(args.num_tokens);
  shape.block_x = p.end;
  shape.overlap = true;
  return shape;
}

}  // namespace rope_bench::device
