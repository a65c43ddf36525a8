/* The seam between the tool and every implementation of an op: one plain struct and one table row.
 *
 * Plain C with fixed-width integers, so that a shared library built by anybody, with any compiler,
 * can supply rows. A struct starts with its own size; fields are only ever appended.
 */
#ifndef ROPE_BENCH_KERNELS_KERNEL_API_H_
#define ROPE_BENCH_KERNELS_KERNEL_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ROPE_DTYPE_F32 = 0, ROPE_DTYPE_F16 = 1, ROPE_DTYPE_BF16 = 2 };
enum { ROPE_PAIRING_NEOX = 0, ROPE_PAIRING_GPTJ = 1 };
enum { ROPE_DEVICE_CPU = 0, ROPE_DEVICE_CUDA = 1 };
enum {
  ROPE_OP_ROPE = 0,
  ROPE_OP_SPLIT_ROPE = 1,
  ROPE_OP_NORM_SPLIT_ROPE = 2,
  ROPE_OP_VARLEN_SPLIT_ROPE = 3,
  ROPE_OP_ROPE_BACKWARD = 4,
  ROPE_OP_SPLIT_ROPE_BACKWARD = 5
};

/* One operand of shape [num_tokens, num_heads, head_dim]. Strides are in elements; the last
 * dimension is contiguous. Element (t, h, j) of the input is in[t * in_token_stride + h *
 * in_head_stride + j]. The rotated dims are [rotary_offset, rotary_offset + rotary_dim) of each
 * head; the others pass through bit for bit. In place means out == in with equal strides; then
 * pass-through dims are neither read nor written. */
typedef struct RopeTensor {
  const void* in;
  void* out;
  int64_t in_token_stride;
  int64_t in_head_stride;
  int64_t out_token_stride;
  int64_t out_head_stride;
  int32_t num_heads;
  int32_t rotary_offset;
} RopeTensor;

/* Everything one launch needs. All pointers live on the device that runs the launch. */
typedef struct RopeKernelArgs {
  uint32_t struct_size; /* sizeof(RopeKernelArgs) of the caller */
  int32_t op;           /* ROPE_OP_* */
  int32_t dtype;        /* ROPE_DTYPE_*, of q and k */
  int32_t pairing;      /* ROPE_PAIRING_* */
  int64_t num_tokens;   /* may be 0: nothing is launched */
  int32_t head_dim;     /* even, >= 2 */
  int32_t rotary_dim;   /* even, 2..head_dim */
  RopeTensor q;
  RopeTensor k;
  /* Cos-sin table [table_rows, rotary_dim]: per row rotary_dim/2 cosines, then as many sines. */
  const void* table;
  int64_t table_rows;
  int64_t table_row_stride; /* elements from one row to the next, >= rotary_dim */
  int32_t table_dtype;      /* ROPE_DTYPE_* */
  int32_t position_bits;    /* 32 or 64 */
  const void* positions;    /* [num_tokens], every one in [0, table_rows): checked by the caller */
  void* stream;             /* cudaStream_t; null on the CPU */
  int32_t num_threads;      /* CPU: worker threads to use, >= 1 */
  int32_t reserved;
} RopeKernelArgs;

/* One implementation of one op on one device. */
typedef struct RopeVariant {
  uint32_t struct_size;
  int32_t op;
  int32_t device;
  int32_t uses_table; /* 0: forms its own angles, judged against exact ones */
  const char* name;
  const char* summary; /* the mapping, in one line */
  const char* source;  /* where the mapping comes from */
  /* 0 if launch() computes these args; otherwise non-zero and a reason of at most reason_size
   * bytes. */
  int32_t (*why_not)(const RopeKernelArgs* args, char* reason, size_t reason_size);
  /* Enqueues the work. 0, or a cudaError_t. Never throws, never synchronises. */
  int32_t (*launch)(const RopeKernelArgs* args);
} RopeVariant;

/* The rows of this binary. A limit row moves the bytes of its op over the same addresses without
 * arithmetic. */
const RopeVariant* rope_cpu_variants(size_t* count);
const RopeVariant* rope_cpu_limits(size_t* count);
const RopeVariant* rope_cuda_variants(size_t* count);
const RopeVariant* rope_cuda_limits(size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* ROPE_BENCH_KERNELS_KERNEL_API_H_ */
