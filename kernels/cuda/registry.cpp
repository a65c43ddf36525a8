// The CUDA rows. A variant is added here and nowhere else.
#include <initializer_list>
#include <iterator>

#include "kernels/cuda/launchers.h"

namespace rope_bench::device {
namespace {

using WhyNot = int32_t (*)(const RopeKernelArgs*, char*, size_t);
using Launch = int32_t (*)(const RopeKernelArgs*);

// What a variant is, whatever the op.
struct Mapping {
  const char* name;
  WhyNot why_not;
  Launch launch;
  const char* summary;
  const char* source;
  bool uses_table = true;
  int32_t precision = ROPE_PRECISION_FUSED;
};

constexpr RopeVariant row(int32_t op, const Mapping& mapping) {
  RopeVariant row{};
  row.struct_size = sizeof(RopeVariant);
  row.op = op;
  row.device = ROPE_DEVICE_CUDA;
  row.uses_table = mapping.uses_table ? 1 : 0;
  row.precision = mapping.precision;
  row.name = mapping.name;
  row.summary = mapping.summary;
  row.source = mapping.source;
  row.why_not = mapping.why_not;
  row.launch = mapping.launch;
  return row;
}

constexpr Mapping kFast = {
    "fast", why_not_fast, launch_fast,
    "blocks in memory order, one packet of up to 16 bytes of each half per thread", "rope-bench"};
constexpr Mapping kOnTheFly = {
    "on_the_fly",
    why_not_on_the_fly,
    launch_on_the_fly,
    "as fast, without a table: angles in 64-bit fixed-point turns, right at any position",
    "rope-bench",
    false};
constexpr Mapping kFastMath = {
    "on_the_fly_fast_math",
    why_not_fast_math,
    launch_fast_math,
    "as on_the_fly with float32 angles and hardware sine and cosine: less precise the farther",
    "the arithmetic of FlashInfer's on-the-fly kernels",
    false,
    ROPE_PRECISION_FAST_MATH};
constexpr Mapping kPerHead = {
    "per_head", why_not_per_head, launch_per_head, "one warp per token and head",
    "the mapping of the Triton kernels and of TensorRT-LLM's norm + rope"};
constexpr Mapping kNaive = {"naive", why_not_naive, launch_naive,
                            "one block per token, one thread per pair in a stride loop",
                            "the mapping of vLLM's rotary_embedding"};
// Without bias or norm there is no step in between that would round.
constexpr Mapping kSeparate = {"unfused", why_not_unfused, launch_unfused,
                               "a launch for each step or tensor, with the kernels of fast",
                               "what fused kernels replace"};
constexpr Mapping rounding(Mapping mapping) {
  mapping.precision = ROPE_PRECISION_UNFUSED;
  return mapping;
}
constexpr Mapping kUnfused = rounding(kSeparate);

constexpr RopeVariant kVariants[] = {
    row(ROPE_OP_ROPE, kFast),
    row(ROPE_OP_ROPE, kOnTheFly),
    row(ROPE_OP_ROPE, kFastMath),
    row(ROPE_OP_ROPE, kNaive),
    row(ROPE_OP_ROPE, kPerHead),
    row(ROPE_OP_ROPE, kSeparate),
    row(ROPE_OP_SPLIT_ROPE, kFast),
    row(ROPE_OP_SPLIT_ROPE, kOnTheFly),
    row(ROPE_OP_SPLIT_ROPE, kFastMath),
    row(ROPE_OP_SPLIT_ROPE, kNaive),
    row(ROPE_OP_SPLIT_ROPE, kPerHead),
    row(ROPE_OP_SPLIT_ROPE, kUnfused),
    row(ROPE_OP_NORM_SPLIT_ROPE, kFast),
    row(ROPE_OP_NORM_SPLIT_ROPE, kOnTheFly),
    row(ROPE_OP_NORM_SPLIT_ROPE, kFastMath),
    row(ROPE_OP_NORM_SPLIT_ROPE, kNaive),
    row(ROPE_OP_NORM_SPLIT_ROPE, kPerHead),
    row(ROPE_OP_NORM_SPLIT_ROPE, kUnfused),
    row(ROPE_OP_VARLEN_SPLIT_ROPE, kFast),
    row(ROPE_OP_VARLEN_SPLIT_ROPE, kOnTheFly),
    row(ROPE_OP_VARLEN_SPLIT_ROPE, kFastMath),
    row(ROPE_OP_VARLEN_SPLIT_ROPE, kNaive),
    row(ROPE_OP_VARLEN_SPLIT_ROPE, kPerHead),
    row(ROPE_OP_VARLEN_SPLIT_ROPE, kUnfused),
    row(ROPE_OP_ROPE_BACKWARD, kFast),
    row(ROPE_OP_ROPE_BACKWARD, kOnTheFly),
    row(ROPE_OP_ROPE_BACKWARD, kFastMath),
    row(ROPE_OP_ROPE_BACKWARD, kNaive),
    row(ROPE_OP_ROPE_BACKWARD, kPerHead),
    row(ROPE_OP_ROPE_BACKWARD, kSeparate),
    row(ROPE_OP_SPLIT_ROPE_BACKWARD, kFast),
    row(ROPE_OP_SPLIT_ROPE_BACKWARD, kOnTheFly),
    row(ROPE_OP_SPLIT_ROPE_BACKWARD, kFastMath),
    row(ROPE_OP_SPLIT_ROPE_BACKWARD, kNaive),
    row(ROPE_OP_SPLIT_ROPE_BACKWARD, kPerHead),
    row(ROPE_OP_SPLIT_ROPE_BACKWARD, kSeparate),
};

template <int kPacketBytes, int kThreads, bool kStream, int kSteps, bool kOverlap>
int32_t launch_member(const RopeKernelArgs* args) {
  return launch_stream(*args, {kPacketBytes, kThreads, kStream, kSteps, kOverlap});
}

// Names: cache hints, bytes of a packet, threads of a block, packets of a thread.
template <int kPacketBytes, int kThreads, bool kStream, int kSteps = 1>
constexpr RopeVariant overlapped(const char* name) {
  return row(ROPE_OP_ROPE,
             {name, why_not_stream, launch_member<kPacketBytes, kThreads, kStream, kSteps, true>,
              "overlapped launches", "rope-bench"});
}

template <int kPacketBytes, int kThreads, bool kStream>
constexpr RopeVariant plain(const char* name) {
  return row(ROPE_OP_ROPE,
             {name, why_not_stream, launch_member<kPacketBytes, kThreads, kStream, 1, false>,
              "ordinary launches", "rope-bench"});
}

constexpr RopeVariant kLimits[] = {
    overlapped<16, 128, true>("stream16x128"),     overlapped<16, 256, true>("stream16x256"),
    overlapped<16, 512, true>("stream16x512"),     overlapped<16, 128, false>("copy16x128"),
    overlapped<16, 256, false>("copy16x256"),      overlapped<16, 128, true, 2>("stream16x128x2"),
    overlapped<16, 128, false, 2>("copy16x128x2"), overlapped<8, 256, false>("copy8x256"),
    plain<16, 128, false>("plain16x128"),          plain<16, 512, true>("plain16x512"),
};

}  // namespace
}  // namespace rope_bench::device

const RopeVariant* rope_cuda_variants(size_t* count) {
  *count = std::size(rope_bench::device::kVariants);
  return rope_bench::device::kVariants;
}

const RopeVariant* rope_cuda_limits(size_t* count) {
  *count = std::size(rope_bench::device::kLimits);
  return rope_bench::device::kLimits;
}
