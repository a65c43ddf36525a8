#include <rope_host_cuda.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/host_cuda/fibers.h"

namespace rope_bench::host_cuda {

Thread current;

namespace {

constexpr uint32_t kWarp = 32;
std::string faults;
std::set<const void*> shared_of_block;  // arrays already filled in this block

// What a waiting thread waits for.
struct Wait {
  bool shuffle = false;
  uint32_t lanes = 0;
  int distance = 0;
  float value = 0, received = 0;
};

class Block : public Fibers {
 public:
  explicit Block(size_t threads) : waits_(threads) {}

  void barrier() {
    waits_[current()] = Wait{};
    wait_keeping_identity();
  }

  float exchange(uint32_t lanes, float value, int distance) {
    waits_[current()] = Wait{true, lanes, distance, value, 0};
    wait_keeping_identity();
    return waits_[current()].received;
  }

 private:
  void wait_keeping_identity() {
    const Thread self = host_cuda::current;
    wait();
    host_cuda::current = self;
  }

  // A barrier needs every thread of the block, a shuffle every lane that its mask names.
  void on_all_waiting() override {
    bool released = false;
    for (size_t first = 0; first < waits_.size(); first += kWarp)
      released = shuffle_warp(first) || released;
    if (released) return;
    for (size_t i = 0; i < waits_.size(); ++i) {
      if (state(i) != State::kWaiting) continue;
      if (waits_[i].shuffle) throw std::runtime_error(describe(i));
    }
    for (size_t i = 0; i < waits_.size(); ++i) {
      if (state(i) == State::kWaiting)
        set_ready(i);
      else
        throw std::runtime_error("a barrier that thread " + std::to_string(i) + " never reached");
    }
  }

  bool shuffle_warp(size_t first) {
    const size_t end = std::min(first + kWarp, waits_.size());
    std::vector<size_t> ready;
    for (size_t i = first; i < end; ++i) {
      if (state(i) == State::kWaiting && waits_[i].shuffle && lanes_present(first, end, waits_[i]))
        ready.push_back(i);
    }
    for (const size_t i : ready) {
      const size_t partner = first + ((i - first) ^ static_cast<size_t>(waits_[i].distance));
      waits_[i].received = partner < end ? waits_[partner].value : waits_[i].value;
    }
    for (const size_t i : ready) set_ready(i);
    return !ready.empty();
  }

  // All lanes of the mask wait in a shuffle with the same mask and distance.
  bool lanes_present(size_t first, size_t end, const Wait& wait) const {
    for (uint32_t lane = 0; lane < kWarp; ++lane) {
      if ((wait.lanes >> lane & 1) == 0) continue;
      const size_t i = first + lane;
      if (i >= end || state(i) != State::kWaiting || !waits_[i].shuffle) return false;
      if (waits_[i].lanes != wait.lanes || waits_[i].distance != wait.distance) return false;
    }
    return true;
  }

  std::string describe(size_t i) const {
    std::ostringstream text;
    text << "a shuffle of thread " << i << " over lanes 0x" << std::hex << waits_[i].lanes
         << " that not all of them reached";
    return text.str();
  }

  std::vector<Wait> waits_;
};

Block* running_block = nullptr;
bool right_hints = false;  // in turn
bool any_waited = false;   // for the launch before, in this launch
std::vector<Access>* recorded = nullptr;

}  // namespace

std::string run_grid(const Shape& shape, const std::function<void()>& body) {
  const size_t threads = size_t{shape.block_x} * shape.block_y;
  if (threads == 0 || threads > 1024) return "a block of " + std::to_string(threads) + " threads";
  if (shape.blocks > 0x7fffffffu || shape.blocks_y > 65535) {
    return "a grid of " + std::to_string(shape.blocks) + " x " + std::to_string(shape.blocks_y) +
           " blocks";
  }
  right_hints = !right_hints;
  any_waited = false;
  for (uint64_t block = 0; block < shape.blocks * shape.blocks_y; ++block) {
    Block fibers(threads);
    running_block = &fibers;
    shared_of_block.clear();
    try {
      fibers.run(threads, [&](size_t i) {
        current = {static_cast<uint32_t>(i) % shape.block_x,
                   static_cast<uint32_t>(i) / shape.block_x,
                   shape.block_x,
                   shape.block_y,
                   static_cast<uint32_t>(block % shape.blocks),
                   static_cast<uint32_t>(block / shape.blocks),
                   static_cast<uint32_t>(shape.blocks),
                   !shape.overlap};
        body();
      });
    } catch (const std::runtime_error& error) {
      return std::string(error.what()) + " (block " + std::to_string(block) + ")";
    }
  }
  // The launch after this one could then overlap the one before it.
  if (shape.overlap && shape.blocks > 0 && !any_waited)
    return "no thread of an overlapped launch waits for the launch before";
  return {};
}

void record_accesses(std::vector<Access>* accesses) { recorded = accesses; }

void accessed(const void* p, int bytes, bool is_prefetch) {
  if (recorded == nullptr) return;
  recorded->push_back(
      {current.block_x, current.block_y, static_cast<const char*>(p), bytes, is_prefetch});
}

bool hints_are_right() { return right_hints; }

void barrier() { running_block->barrier(); }

float exchange(uint32_t lanes, float value, int distance) {
  return running_block->exchange(lanes, value, distance);
}

void shared_array(void* data, size_t size) {
  if (shared_of_block.insert(data).second) std::memset(data, 0xff, size);
}

void waited() { current.has_waited = any_waited = true; }

void check_access(const void* p, int bytes) {
  if (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) != 0) {
    report_fault("an access of " + std::to_string(bytes) + " bytes that is not aligned");
  }
  if (!current.has_waited)
    report_fault("an access before wait_for_previous_launch() in an overlapped launch");
}

void report_fault(const std::string& fault) { faults += fault + "\n"; }

std::string take_faults() {
  std::string result;
  result.swap(faults);
  return result;
}

uint16_t round_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7fff;  // as the device's conversion makes it
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t round_to_f16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7fff;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520.0) return sign | 0x7c00;
  // Spacing of the numbers around the magnitude, 2^-24 at least; nearbyint rounds ties to even.
  const int exponent = magnitude == 0 ? -14 : std::max(-14, std::ilogb(magnitude));
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  const uint32_t bits = static_cast<uint32_t>((exponent + 14) << 10) + static_cast<uint32_t>(units);
  return sign | static_cast<uint16_t>(bits);  // a carry into the exponent is right as it is
}

float widen_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int mantissa = bits & 0x3ff;
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa == 0 ? sign * HUGE_VALF : std::nanf("");
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
}

}  // namespace rope_bench::host_cuda
