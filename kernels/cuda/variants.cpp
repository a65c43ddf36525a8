// The variants: which kernels they launch, and what they refuse.
#include "kernels/arguments.h"
#include "kernels/cuda/vector_launch.h"

namespace rope_bench::device {
namespace {

constexpr Stages kRotation = {false, false, true};
constexpr Stages kAll = {true, true, true};

bool is_fused(const RopeKernelArgs& args, const Stages& stages) {
  return !stages.rotation || (stages.norm && args.norm != ROPE_NORM_NONE) ||
         (stages.bias && args.bias != nullptr);
}

bool has_work(const RopeKernelArgs& args, const Stages& stages) {
  return rope_bench::has_work(args, stages.bias && args.bias != nullptr);
}

int32_t launch_vector(const RopeKernelArgs& args, const VectorLaunch& how) {
  // A grid that only prefetched would not wait for the launch before, and the launch after it could
  // overlap that one.
  if (!has_work(args, how.stages)) return 0;
  struct Launchers {
    int32_t (*plain)(const RopeKernelArgs&, const VectorLaunch&);
    int32_t (*rope)(const RopeKernelArgs&, const VectorLaunch&);
    int32_t (*fused)(const RopeKernelArgs&, const VectorLaunch&);
  };
  constexpr Launchers kTable32 = {launch_plain_table32, launch_rope_table32, launch_fused_table32};
  constexpr Launchers kTable16 = {launch_plain_table16, launch_rope_table16, launch_fused_table16};
  constexpr Launchers kAngles = {launch_plain_angles, launch_rope_angles, launch_fused_angles};
  const bool angles = how.stages.rotation && args.table == nullptr;
  const Launchers& launchers = angles                               ? kAngles
                               : args.table_dtype == ROPE_DTYPE_F32 ? kTable32
                                                                    : kTable16;
  if (is_plain(args, how)) return launchers.plain(args, how);
  return is_fused(args, how.stages) ? launchers.fused(args, how) : launchers.rope(args, how);
}

int32_t why_not_launch(const RopeKernelArgs& args, const VectorLaunch& how, char* reason,
                       size_t reason_size) {
  if (!has_work(args, how.stages)) return 0;
  if (why_not_vector(args, how, reason, reason_size)) return 1;
  if (!how.stages.norm || args.norm != ROPE_NORM_ROW) return 0;
  return why_not_row_norm(args, how, reason, reason_size);
}

VectorLaunch per_head(const RopeKernelArgs& args) {
  VectorLaunch how;
  how.stages = is_fused(args, kAll) ? kAll : kRotation;
  how.config = per_head_config(args, how.stages);
  how.warp_per_head = true;
  return how;
}

// The best kernel for these stages. Which one that is does not depend on the number of tokens, or
// sums would change their order with it.
VectorLaunch fast(const RopeKernelArgs& args, const Stages& stages, bool in_is_out = false) {
  VectorLaunch how;
  how.stages = stages;
  how.in_is_out = in_is_out;
  how.config = plain_config(args, stages);
  if (!is_plain(args, how)) how.config = general_config(args, stages);
  return how;
}
VectorLaunch fast(const RopeKernelArgs& args) {
  return fast(args, is_fused(args, kAll) ? kAll : kRotation);
}

RopeKernelArgs without_table(const RopeKernelArgs& args) {
  RopeKernelArgs result = args;
  result.table = nullptr;
  return result;
}

int32_t why_not_without_table(const RopeKernelArgs& args, char* reason, size_t reason_size) {
  if (why_not_any(&args, false, reason, reason_size)) return 1;
  if (why_not_angles(args, reason, reason_size)) return 1;
  const RopeKernelArgs bare = without_table(args);
  return why_not_launch(bare, fast(bare), reason, reason_size);
}

// The separate launches of an op: copies and adds the bias, then works on the outputs.
class Unfused {
 public:
  explicit Unfused(const RopeKernelArgs& args) : args_(args) {}

  // fn(args, how) for every launch, until one returns something else than 0.
  template <typename Fn>
  int32_t for_each(Fn fn) const {
    if (!has_value_tensor(args_)) {  // nothing to split: q and k by themselves
      RopeKernelArgs q = args_, k = args_;
      q.k.num_heads = 0;
      k.q.num_heads = 0;
      const int32_t result = fn(q, stage(q, kRotation));
      return result != 0 ? result : fn(k, stage(k, kRotation));
    }
    const Stages split = {true, false, false}, norm = {false, true, false};
    int32_t result = 0;
    if (!all_in_place(args_) || args_.bias != nullptr) result = fn(args_, stage(args_, split));
    const RopeKernelArgs outputs = on_outputs();
    const bool has_norm = args_.norm != ROPE_NORM_NONE;
    if (result == 0 && has_norm && args_.norm_after == 0)
      result = fn(outputs, stage(outputs, norm));
    if (result == 0) result = fn(outputs, stage(outputs, kRotation));
    if (result == 0 && has_norm && args_.norm_after != 0)
      result = fn(outputs, stage(outputs, norm));
    return result;
  }

 private:
  VectorLaunch stage(const RopeKernelArgs& args, const Stages& stages) const {
    const bool in_is_out =
        args.q.in == args.q.out && args.k.in == args.k.out && args_.padded_output != 0;
    VectorLaunch how = fast(args, stages, in_is_out);
    how.config.prefetch = how.config.prefetch && stages.rotation;
    return how;
  }
  RopeKernelArgs on_outputs() const {
    RopeKernelArgs result = args_;
    result.bias = nullptr;
    result.v.num_heads = 0;
    result.in_batch_tokens = result.out_batch_tokens;
    for (RopeTensor* t : {&result.q, &result.k}) {
      t->in = t->out;
      t->in_token_stride = t->out_token_stride;
      t->in_head_stride = t->out_head_stride;
      t->in_batch_stride = t->out_batch_stride;
    }
    return result;
  }

  const RopeKernelArgs& args_;
};

}  // namespace

int32_t launch_fast_with(const RopeKernelArgs& args, const VectorConfig& config) {
  VectorLaunch how = fast(args);
  how.config = config;
  return launch_vector(args, how);
}

int32_t launch_fast(const RopeKernelArgs* args) { return launch_vector(*args, fast(*args)); }

int32_t why_not_fast(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (why_not_any(args, true, reason, reason_size)) return 1;
  return why_not_launch(*args, fast(*args), reason, reason_size);
}

int32_t launch_on_the_fly(const RopeKernelArgs* args) {
  const RopeKernelArgs bare = without_table(*args);
  return launch_vector(bare, fast(bare));
}

int32_t why_not_on_the_fly(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  return why_not_without_table(*args, reason, reason_size);
}

int32_t launch_fast_math(const RopeKernelArgs* args) {
  const RopeKernelArgs bare = without_table(*args);
  VectorLaunch how = fast(bare);
  how.fast_math = true;
  return launch_vector(bare, how);
}

int32_t why_not_fast_math(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (args->inv_freq == nullptr && args->num_tokens > 0)
    return refuse(reason, reason_size, "no inv_freq: needed for float32 angles");
  return why_not_without_table(*args, reason, reason_size);
}

int32_t launch_per_head(const RopeKernelArgs* args) {
  return launch_vector(*args, per_head(*args));
}

int32_t why_not_per_head(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (why_not_any(args, true, reason, reason_size)) return 1;
  if (args->norm == ROPE_NORM_ROW)
    return refuse(reason, reason_size, "a norm over all heads is no work for a warp per head");
  return why_not_launch(*args, per_head(*args), reason, reason_size);
}

int32_t launch_unfused(const RopeKernelArgs* args) {
  return Unfused(*args).for_each(launch_vector);
}

int32_t why_not_unfused(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (why_not_any(args, true, reason, reason_size)) return 1;
  return Unfused(*args).for_each([&](const RopeKernelArgs& stage, const VectorLaunch& how) {
    return why_not_launch(stage, how, reason, reason_size);
  });
}

}  // namespace rope_bench::device
