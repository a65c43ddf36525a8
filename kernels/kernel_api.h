/* The seam between the tool and every implementation of an op: one plain struct and one table row.
 *
 * Plain C with fixed-width integers, so that a shared library built by anybody, with any compiler,
 * can supply rows. A struct starts with its own size; once released, fields are only ever appended.
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

/* Where a token's position comes from. In varlen_split_rope, and wherever the source is not
 * position ids, a negative position marks padding: nothing of the token is written, and what its
 * rows of the inputs hold does not matter; they exist, and may be read. */
enum {
  ROPE_POSITIONS_IDS = 0,       /* positions[t], of position_bits */
  ROPE_POSITIONS_OFFSET = 1,    /* t + positions[t], int32 */
  ROPE_POSITIONS_CU_SEQLENS = 2 /* positions[i] int32: sequence i holds tokens [positions[i],
                                   positions[i + 1]), which count from sequence_starts[i];
                                   tokens before the first and behind the last
                                   sequence are padding */
};
enum { ROPE_NORM_NONE = 0, ROPE_NORM_HEAD = 1, ROPE_NORM_ROW = 2 };
/* What a variant promises beyond one float32 computation with one rounding to the dtype. */
enum {
  ROPE_PRECISION_FUSED = 0,    /* just that */
  ROPE_PRECISION_UNFUSED = 1,  /* rounds to the dtype between its steps: bias, norm, rotation */
  ROPE_PRECISION_FAST_MATH = 2 /* float32 angles and hardware trigonometry (docs/validation.md) */
};

/* One operand of shape [num_tokens, num_heads, head_dim]. Strides are in elements; the last
 * dimension is contiguous. Element (t, h, j) of the input is in[b * in_batch_stride + s *
 * in_token_stride + h * in_head_stride + j], with t = b * in_batch_tokens + s (RopeKernelArgs; 0:
 * b = 0 and s = t); the output likewise. The rotated dims are [rotary_offset, rotary_offset +
 * rotary_dim) of each head; the other of its max(head_dim, rotary_offset + rotary_dim) dims pass
 * through bit for bit. In place means out == in with equal strides; then pass-through dims are
 * neither read nor written, unless a norm or bias changes them. */
typedef struct RopeTensor {
  const void* in;
  void* out;
  int64_t in_token_stride;
  int64_t in_head_stride;
  int64_t in_batch_stride;
  int64_t out_token_stride;
  int64_t out_head_stride;
  int64_t out_batch_stride;
  int32_t num_heads;
  int32_t rotary_offset;
} RopeTensor;

/* Everything one launch needs. All pointers live on the device that runs the launch.
 *
 * An op is, for every head row x of q and k, in float32 and with one rounding at the end:
 *   x + bias, the norm of that, its rotation (norm_after: rotation, then norm).
 * Backward ops rotate by the negative angle. Rows of v take the bias alone. Packed QKV is no layout
 * of its own: q, k and v then begin in the same rows, with the token stride of all heads. */
typedef struct RopeKernelArgs {
  uint32_t struct_size; /* sizeof(RopeKernelArgs) of the caller */
  int32_t op;           /* ROPE_OP_* */
  int32_t dtype;        /* ROPE_DTYPE_*, of q, k, v, bias and weights */
  int32_t pairing;      /* ROPE_PAIRING_* */
  int64_t num_tokens;   /* may be 0: nothing is launched */
  int32_t head_dim;     /* even, >= 2 */
  int32_t rotary_dim;   /* even, 2..head_dim */
  RopeTensor q;
  RopeTensor k;
  RopeTensor v;             /* num_heads 0: none. rotary_offset unused */
  int64_t in_batch_tokens;  /* tokens of one batch entry of the inputs; 0: all are one */
  int64_t out_batch_tokens; /* likewise of the outputs */
  /* Padded output: token t is row out_rows[t] = b * out_batch_tokens + s of the outputs. Null: row
   * t; or, where padded_output and positions are cu_seqlens, row s of its sequence b. */
  const int32_t* out_rows;
  int32_t padded_output;   /* 0 or 1 */
  int32_t position_source; /* ROPE_POSITIONS_* */
  /* Cos-sin table [table_rows, rotary_dim]: per row rotary_dim/2 cosines, then as many sines. Null
   * for a variant without a table, and its limit. */
  const void* table;
  int64_t table_rows;
  int64_t table_row_stride;       /* elements from one row to the next, >= rotary_dim */
  int32_t table_dtype;            /* ROPE_DTYPE_* */
  int32_t position_bits;          /* 32 or 64 */
  const void* positions;          /* every position below table_rows: checked by the caller */
  int64_t num_sequences;          /* cu_seqlens: one less than its entries */
  const int32_t* sequence_starts; /* cu_seqlens: [num_sequences], null: all 0 */
  /* For variants without a table: turns per position of each pair, [rotary_dim / 2], 2^64 being a
   * whole turn (so that the product wraps as angles do), the same as float32 radians, and what
   * multiplies cos and sin. */
  const uint64_t* turns;
  const float* inv_freq;
  float attention_factor;
  /* Such variants with position axes: pair i turns by position axis_positions[pair_axis[i] *
   * num_tokens + t], of position_bits. Null: by the token's position. */
  int32_t num_axes;
  const uint8_t* pair_axis;
  const void* axis_positions;
  /* [num_heads of q, k and v, head_dim] in this order, or null. */
  const void* bias;
  /* x / sqrt(mean(x^2) + eps) * (weight + weight_offset), the mean over a head's head_dim dims, or
   * over all heads of q, and of k. Weights [head_dim], or for ROW [heads, head_dim]; null: 1. */
  int32_t norm; /* ROPE_NORM_* */
  int32_t norm_after;
  int32_t round_between; /* between norm and rotation, to dtype, as unfused launches do */
  float norm_eps;
  float weight_offset;
  int32_t num_threads; /* CPU: worker threads to use, >= 1 */
  const void* q_weight;
  const void* k_weight;
  void* stream; /* cudaStream_t; null on the CPU */
} RopeKernelArgs;

/* One implementation of one op on one device. */
typedef struct RopeVariant {
  uint32_t struct_size;
  int32_t op;
  int32_t device;
  int32_t uses_table; /* 0: forms its own angles, judged against exact ones */
  int32_t precision;  /* ROPE_PRECISION_* */
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
