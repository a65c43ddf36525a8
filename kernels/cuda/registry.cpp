// The CUDA rows. A variant is added here and nowhere else.
#include <initializer_list>
#include <iterator>

#include "kernels/cuda/launchers.h"

namespace rope_bench::device {
namespace {

constexpr RopeVariant rope_row(const char* name,
                               int32_t (*why_not)(const RopeKernelArgs*, char*, size_t),
                               int32_t (*launch)(const RopeKernelArgs*), const char* summary,
                               const char* source) {
  RopeVariant row{};
  row.struct_size = sizeof(RopeVariant);
  row.op = ROPE_OP_ROPE;
  row.device = ROPE_DEVICE_CUDA;
  row.uses_table = 1;
  row.name = name;
  row.summary = summary;
  row.source = source;
  row.why_not = why_not;
  row.launch = launch;
  return row;
}

constexpr RopeVariant kVariants[] = {
    rope_row("fast", why_not_fast, launch_fast,
             "blocks in memory order, one packet of up to 16 bytes of each half per thread",
             "rope-bench"),
    rope_row("naive", why_not_simple, launch_naive,
             "one block per token, one thread per pair in a stride loop",
             "the mapping of vLLM's rotary_embedding"),
    rope_row("per_head", why_not_simple, launch_per_head, "one warp per token and head",
             "the mapping of the Triton kernels"),
};

template <int kPacketBytes, int kThreads, bool kStream, int kSteps, bool kOverlap>
int32_t launch_member(const RopeKernelArgs* args) {
  return launch_stream(*args, {kPacketBytes, kThreads, kStream, kSteps, kOverlap});
}

// Names: cache hints, bytes of a packet, threads of a block, packets of a thread.
template <int kPacketBytes, int kThreads, bool kStream, int kSteps = 1>
constexpr RopeVariant overlapped(const char* name) {
  return rope_row(name, why_not_stream,
                  launch_member<kPacketBytes, kThreads, kStream, kSteps, true>,
                  "overlapped launches", "rope-bench");
}

template <int kPacketBytes, int kThreads, bool kStream>
constexpr RopeVariant plain(const char* name) {
  return rope_row(name, why_not_stream, launch_member<kPacketBytes, kThreads, kStream, 1, false>,
                  "ordinary launches", "rope-bench");
}

constexpr RopeVariant kLimits[] = {
    overlapped<16, 128, true>("stream16x128"), overlapped<16, 256, true>("stream16x256"),
    overlapped<16, 512, true>("stream16x512"), overlapped<16, 128, false>("copy16x128"),
    overlapped<16, 256, false>("copy16x256"),  overlapped<16, 128, true, 2>("stream16x128x2"),
    overlapped<8, 256, false>("copy8x256"),    plain<16, 128, false>("plain16x128"),
    plain<16, 512, true>("plain16x512"),
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
