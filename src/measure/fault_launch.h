// One launch of a kernel with a planted fault: the right kernel, what it is given, and memory that
// outlives the launch. Knows no device: everything goes through Backend.
#ifndef ROPE_BENCH_SRC_MEASURE_FAULT_LAUNCH_H_
#define ROPE_BENCH_SRC_MEASURE_FAULT_LAUNCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "src/case/rope_case.h"
#include "src/measure/backend.h"

namespace rope_bench {

// What a faulty kernel remembers from launch to launch of one row.
struct FaultMemory {
  int64_t launches = 0;                               // before this one
  std::map<const void*, std::vector<std::byte>> out;  // outputs of q by the address they went to
  std::vector<RopeKernelArgs> late;                   // work that is done with the next launch
};

class FaultLaunch {
 public:
  FaultLaunch(Backend& device, const Launch& launch, const RopeCase& rope_case,
              FaultMemory& remembered)
      : args(launch.args),
        c(rope_case),
        memory(remembered),
        device_(device),
        variant_(*launch.variant) {}
  ~FaultLaunch();  // waits: what the launch reads goes with this
  FaultLaunch(const FaultLaunch&) = delete;
  FaultLaunch& operator=(const FaultLaunch&) = delete;

  RopeKernelArgs args;  // to be changed
  const RopeCase& c;
  FaultMemory& memory;

  // The right kernel.
  void run() { run(args); }
  void run(const RopeKernelArgs& changed);  // of the op that it names
  // On tokens [begin, end) alone.
  void run_tokens(int64_t begin, int64_t end);
  static RopeKernelArgs tokens(const RopeKernelArgs& all, int64_t begin, int64_t end);

  // Bytes of device memory, after all that was launched.
  std::vector<std::byte> read(const void* from, size_t bytes);
  void write(void* to, const void* from, size_t bytes);

  // Other operands of this launch, in memory of its own.
  void use_positions(const std::vector<int64_t>& positions);
  void use_table(const std::vector<float>& values, int64_t rotary_dim);
  void use_table_of(const RopeCase& other);
  // Every (cosine, sine) of the table.
  void change_table(const std::function<void(float*, float*)>& change);

  // An element of an output: (token, head, dim) -> its value, written back rounded.
  void change_output(const RopeTensor& t, int64_t token, int64_t head, int64_t dim,
                     const std::function<double(double)>& change);
  void change_outputs(const std::function<double(double)>& change);
  // Changes the first byte of an element, which may lie outside of the tensor.
  void touch(const void* tensor, int64_t element);

  // Computes q and k on the host in float32, pair by pair, in place of the kernel. `behind`: reads
  // the last element of q one too far.
  struct Pair {
    float x, y, cosine, sine;
    int64_t position, index;
  };
  void rotate(const std::function<void(Pair*)>& turn, bool behind = false);

 private:
  void* keep(const void* bytes, size_t size);
  std::vector<float> table();
  static size_t extent(const RopeKernelArgs& a, const RopeTensor& t, bool out);

  Backend& device_;
  const RopeVariant& variant_;
  std::vector<DeviceMemory> kept_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_FAULT_LAUNCH_H_
