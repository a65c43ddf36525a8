// The kernels of one instruction set level, written once over the interface `Simd`; the translation
// unit includes the simd_*.h of its instruction set first.
//
// Formula    per head row x of q and k: x + bias, norm, rotation (norm_after: rotation, norm); of
// v:
//            x + bias. Backward: rotation by the negative angle.
// Shapes     q [T, Hq, d], k and v [T, Hkv, d], any strides, batches and places of outputs; r dims
// of
//            a head of q and k rotate.
// Numbers    f32, f16 or bf16 in memory, float32 arithmetic (fused where the machine can), one
//            rounding to nearest even.
// Mapping    rotate_impl.h where rows rotate as they come, transform_impl.h where they take a bias
//            or a norm.
// Tables     f32 rows are read where they lie; narrower ones are widened once per token, angles
//            without a table formed once per token (factors_impl.h).
// Bytes      what changes read and written once; pass-through dims only out of place.
// Source     own.
#ifndef ROPE_BENCH_KERNELS_CPU_ISA_IMPL_H_
#define ROPE_BENCH_KERNELS_CPU_ISA_IMPL_H_

#include "kernels/cpu/copy_impl.h"
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/rotate_impl.h"
#include "kernels/cpu/transform_impl.h"

namespace rope_bench {
namespace {

constexpr IsaKernels make_isa_kernels() {
  return {{{{rotate_rows<F32, true, false>, rotate_rows<F32, true, true>},
            {rotate_rows<F32, false, false>, rotate_rows<F32, false, true>}},
           {{rotate_rows<F16, true, false>, rotate_rows<F16, true, true>},
            {rotate_rows<F16, false, false>, rotate_rows<F16, false, true>}},
           {{rotate_rows<BF16, true, false>, rotate_rows<BF16, true, true>},
            {rotate_rows<BF16, false, false>, rotate_rows<BF16, false, true>}}},
          {{transform_rows<F32, true>, transform_rows<F32, false>},
           {transform_rows<F16, true>, transform_rows<F16, false>},
           {transform_rows<BF16, true>, transform_rows<BF16, false>}},
          {copy_rows<false>, copy_rows<true>}};
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ISA_IMPL_H_
