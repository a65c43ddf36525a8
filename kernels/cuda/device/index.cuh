// Index arithmetic: operands of a launch, division by a number known only at run time, rows of the
// table.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_INDEX_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_INDEX_CUH_

#include "kernels/cuda/device/platform.cuh"
#include "kernels/kernel_api.h"

namespace rope_bench::device {

// n / d as one multiplication: magic = ceil(2^w / d) overshoots 2^w / d by less than 1, so n *
// magic / 2^w exceeds n / d by less than n / 2^w, and nothing is wrong while n * d < 2^w. w is 64,
// or 32 where the range allows: the short form is worth 0.1 us of a launch, since nothing can start
// before its index is known.
struct Divisor {
  uint64_t magic = 0;  // 0: divide by one
  uint32_t small_magic = 0;
  uint32_t divisor = 1;

  static Divisor of(uint32_t d) {
    Divisor result;
    result.divisor = d;
    if (d > 1) {
      result.magic = ~uint64_t{0} / d + 1;
      result.small_magic = static_cast<uint32_t>(~uint32_t{0} / d + 1);
    }
    return result;
  }
  ROPE_DEVICE uint64_t quotient(uint64_t n) const { return magic == 0 ? n : mul_hi(n, magic); }
  // For n * d < 2^32.
  ROPE_DEVICE uint32_t small_quotient(uint32_t n) const {
    return small_magic == 0 ? n : mul_hi(n, small_magic);
  }
};

// One of q and k, strides in bytes.
struct Operand {
  const char* in = nullptr;
  char* out = nullptr;
  int64_t in_token_stride = 0, in_head_stride = 0, out_token_stride = 0, out_head_stride = 0;
  Divisor heads;

  static Operand of(const RopeTensor& tensor, int element_size) {
    Operand result;
    result.in = static_cast<const char*>(tensor.in);
    result.out = static_cast<char*>(tensor.out);
    result.in_token_stride = tensor.in_token_stride * element_size;
    result.in_head_stride = tensor.in_head_stride * element_size;
    result.out_token_stride = tensor.out_token_stride * element_size;
    result.out_head_stride = tensor.out_head_stride * element_size;
    result.heads = Divisor::of(static_cast<uint32_t>(tensor.num_heads));
    return result;
  }
  ROPE_DEVICE const char* in_row(int64_t token, int64_t head) const {
    return in + token * in_token_stride + head * in_head_stride;
  }
  ROPE_DEVICE char* out_row(int64_t token, int64_t head) const {
    return out + token * out_token_stride + head * out_head_stride;
  }
};

// The cos-sin table and the position of each token.
struct TableRef {
  const char* values = nullptr;
  const void* positions = nullptr;
  int64_t row_stride = 0;  // bytes
  int32_t position_bits = 32;
  bool is_bf16 = false;  // of a table of halves

  static TableRef of(const RopeKernelArgs& args) {
    TableRef result;
    result.values = static_cast<const char*>(args.table);
    result.positions = args.positions;
    result.row_stride = args.table_row_stride * (args.table_dtype == ROPE_DTYPE_F32 ? 4 : 2);
    result.position_bits = args.position_bits;
    result.is_bf16 = args.table_dtype == ROPE_DTYPE_BF16;
    return result;
  }
  ROPE_DEVICE int64_t position(int64_t token) const {
    if (position_bits == 64) {
      const Packet<8> p = load_constant<8>(static_cast<const char*>(positions) + token * 8);
      return static_cast<int64_t>(p.word[0] | static_cast<uint64_t>(p.word[1]) << 32);
    }
    const Packet<4> p = load_constant<4>(static_cast<const char*>(positions) + token * 4);
    return static_cast<int32_t>(p.word[0]);
  }
  ROPE_DEVICE const char* row(int64_t token) const {
    return values + position(token) * row_stride;
  }
};

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_INDEX_CUH_
