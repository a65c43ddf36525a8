// The buffers of one case on its device: pristine inputs, and any number of sets that launches may
// use up. Between and around all of them lie guard bands.
#ifndef ROPE_BENCH_SRC_MEASURE_CASE_BUFFERS_H_
#define ROPE_BENCH_SRC_MEASURE_CASE_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/case/rope_case.h"
#include "src/math/inputs.h"
#include "src/math/reference.h"
#include "src/math/table.h"
#include "src/measure/backend.h"

namespace rope_bench {

// How the sets of a case are laid out: computed before anything is allocated.
struct SetLayout {
  struct Region {
    size_t offset = 0, bytes = 0;
  };
  static constexpr size_t kGuardBytes = 512;

  Region q_in, k_in, q_out, k_out;  // outputs are empty in place
  Region table, positions;          // empty where all sets share them
  std::vector<Region> guards;
  size_t stride = 0;  // bytes from set to set
};
SetLayout layout_of(const RopeCase& c, int64_t table_rows_used, bool own_table);

class CaseBuffers {
 public:
  // `own_tables`: each set has its own table rows and positions, so that these are cold as well.
  // Throws OutOfMemory.
  CaseBuffers(Backend& backend, const RopeCase& c, const CosSinTable& table,
              const std::vector<int64_t>& positions, int num_sets, bool own_tables);

  int num_sets() const { return num_sets_; }
  RopeKernelArgs args(int set) const;
  JudgeArgs judge_args(const RopeVariant& variant, int set, int repeats) const;

  // Before launches on sets [0, count): in-place tensors back to their inputs, outputs to a poison
  // that differs from one call to the next.
  void restore(int count);

  // A launch for the reference: inputs, and the outputs of a set (downloaded; they live until the
  // next call).
  RopeKernelArgs host_view(int set);
  // Empty, or what a launch changed that it must not: guard bands, inputs, table, positions of any
  // set; the gaps of the set last viewed.
  std::string find_damage();

 private:
  struct HostBytes {
    std::unique_ptr<std::byte[]> data;
    size_t bytes = 0;
  };
  struct Operand {
    TensorId id;
    int64_t heads = 0;
    TensorExtent in, out;  // strides in elements
    SetLayout::Region in_region, out_region;
    DeviceMemory pristine;
    HostBytes host_in, host_out;  // unused where device memory is host memory
    std::byte* host_in_data = nullptr;
  };

  void make_inputs(Operand& operand);
  RopeTensor tensor(const Operand& operand, int set) const;
  const std::byte* output(Operand& operand, int set);
  bool gaps_intact(const Operand& operand, const std::byte* data) const;
  SetRange range(const SetLayout::Region& region, int count) const;
  std::byte* at(const SetLayout::Region& region, int set) const;

  Backend& backend_;
  const RopeCase& case_;
  int num_sets_;
  bool own_tables_;
  int64_t table_rows_ = 0;  // of the sets' own tables
  SetLayout layout_;
  Operand q_, k_;
  DeviceMemory sets_, table_, positions_, judge_positions_;
  double attention_factor_;
  const std::byte* viewed_q_ = nullptr;
  const std::byte* viewed_k_ = nullptr;
  uint8_t poison_ = 0xff;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_CASE_BUFFERS_H_
