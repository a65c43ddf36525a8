// How the threads of one head share its packets: the first threads have the rotated dims, two
// packets each that are rotated together, the others those that pass through, two each.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_HEAD_SLICES_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_HEAD_SLICES_CUH_

#include "kernels/cuda/device/platform.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

// Packets count from the first rotated dim, where an operand's base points: those before it are
// negative.
struct Slice {
  int first = 0, second = 0;
  bool has_first = false, has_second = false;
  bool rotates = false;
};

// Whether a thread's two packets turn together, by the same factors: those of halves do, and two of
// one element each, which are a gptj pair. Else each holds whole pairs and turns by itself.
template <Pairing kPairing, int kElements>
inline constexpr bool kSharesFactors = kPairing == Pairing::kNeox || kElements == 1;

struct HeadSlices {
  int32_t packets = 0;       // of the rotated dims
  int32_t lanes = 0;         // threads that rotate
  int32_t lead = 0;          // packets that pass through before the rotated dims
  int32_t pass_packets = 0;  // that pass through in all; 0 where they stay where they are
  int32_t pass_lanes = 0;    // threads that copy

  // `width` dims of a head, the rotated ones from `offset` on; `passes`: the others are moved, too.
  static HeadSlices of(int64_t offset, int64_t rotated, int64_t width, int elements, bool passes) {
    HeadSlices s;
    s.packets = static_cast<int32_t>(rotated / elements);
    s.lanes = (s.packets + 1) / 2;
    if (!passes) return s;
    s.lead = static_cast<int32_t>(offset / elements);
    s.pass_packets = static_cast<int32_t>((width - rotated) / elements);
    s.pass_lanes = (s.pass_packets + 1) / 2;
    return s;
  }
  bool is_even() const { return packets % 2 == 0 && pass_packets % 2 == 0; }
  int threads() const { return lanes + pass_lanes; }

  // Any head: a thread may have two packets, one or none.
  template <Pairing kPairing, int kElements>
  ROPE_DEVICE Slice slice(int lane) const {
    Slice s;
    s.rotates = lane < lanes;
    if (s.rotates) {
      // A packet of one element holds no gptj pair: then a thread has the two elements of one pair.
      constexpr bool kSplitPair = kPairing == Pairing::kGptj && kElements == 1;
      s.first = kSplitPair ? 2 * lane : lane;
      s.second = kSplitPair ? 2 * lane + 1 : lanes + lane;
      s.has_first = true;
      s.has_second = s.second < packets;
      return s;
    }
    const int j = lane - lanes;
    s.first = place_of(j);
    s.second = place_of(j + pass_lanes);
    s.has_first = j < pass_lanes;
    s.has_second = s.has_first && j + pass_lanes < pass_packets;
    return s;
  }

 private:
  ROPE_DEVICE int place_of(int pass_packet) const {
    return pass_packet < lead ? pass_packet - lead : packets + pass_packet - lead;
  }
};

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_HEAD_SLICES_CUH_
