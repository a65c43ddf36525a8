// The buffers of one case on its device: pristine inputs, and any number of sets that launches may
// use up. Between and around all of them lie guard bands.
#ifndef ROPE_BENCH_SRC_MEASURE_CASE_BUFFERS_H_
#define ROPE_BENCH_SRC_MEASURE_CASE_BUFFERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/case/operands.h"
#include "src/case/rope_case.h"
#include "src/case/token_rows.h"
#include "src/math/mistakes.h"
#include "src/math/table.h"
#include "src/measure/backend.h"
#include "src/measure/parameters.h"
#include "src/measure/set_layout.h"

namespace rope_bench {

// What a launch changed that it must not; no evidence: nothing.
struct Damage {
  const Evidence* evidence = nullptr;
  std::string text;
};

class CaseBuffers {
 public:
  // `uses_table`: of the variants to launch; `table` is then theirs, else one of exact angles in
  // float32 that they are judged by. `own_parameters`: each set
  // has its own table rows, positions, weights ..., so that these are cold as well. Throws
  // OutOfMemory.
  CaseBuffers(Backend& backend, const RopeCase& c, bool uses_table, const CosSinTable& table,
              const TokenRows& rows, int num_sets, bool own_parameters);

  int num_sets() const { return num_sets_; }
  RopeKernelArgs args(int set) const;
  JudgeArgs judge_args(const RopeVariant& variant, int set, int repeats);

  // Lays all sets out anew at other addresses: memory of its own where there is room, and another
  // offset in it. What args() returned before is void. What launches did at the old place is looked
  // at first, as find_damage() does.
  void move_sets();

  // Before launches on sets [0, count): in-place tensors back to their inputs, outputs to a poison
  // that differs from one call to the next.
  void restore(int count);

  // A launch for the reference: inputs, and the outputs of a set (downloaded; they live until the
  // next call).
  RopeKernelArgs host_view(int set);
  // Looks at guard bands, inputs and parameters of all sets, and the gaps and padding rows of the
  // set last viewed. What was found before a move stays found.
  Damage find_damage();

  // Turns the sign of every input, in all sets: other values at the same addresses.
  void negate_inputs();
  // What outputs held before a launch; nullopt in place.
  std::optional<uint8_t> poison() const;

 private:
  struct HostBytes {
    std::unique_ptr<std::byte[]> data;
    size_t bytes = 0;
  };
  // A buffer that is read: what it holds, on the device and on the host.
  struct Input {
    DeviceMemory pristine;
    HostBytes copy;  // unused where device memory is host memory
    std::byte* host = nullptr;
  };

  void make_inputs();
  void make_parameters();
  // Guards, inputs and parameters of sets whose memory is new.
  void lay_out_sets();
  Damage damage_here();
  // Pointers of the operands, from the start of each buffer that is read and written.
  template <typename In, typename Out>
  void point_operands(const In& in, const Out& out, RopeKernelArgs* args) const;
  template <typename Pointer>
  static void point_parameters(const Pointer& pointer, RopeKernelArgs* args);

  const std::vector<SetLayout::Region>& written_regions() const;
  std::string changed_inputs();
  std::string changed_parameters();
  bool gaps_intact() const;
  SetRange range(const SetLayout::Region& region, int count) const;
  std::byte* at(const SetLayout::Region& region, int set) const;

  Backend& backend_;
  const RopeCase& case_;
  int num_sets_;
  bool own_parameters_;
  double attention_factor_;
  Operands operands_;
  int64_t table_rows_;
  std::array<size_t, kNumParameters> parameter_bytes_;
  SetLayout layout_;
  HostParameters host_parameters_;
  RopeKernelArgs shapes_;
  std::vector<bool> written_;  // rows of the output's grid
  std::vector<Input> inputs_;
  DeviceMemory sets_memory_;
  size_t sets_bytes_ = 0;
  size_t offset_ = 0;  // of the first set in that memory
  int moves_ = 0;
  Damage damage_;                                        // at places that the sets have left
  std::array<DeviceMemory, kNumParameters> parameters_;  // pristine; used where sets share them
  DeviceMemory judge_positions_, judge_out_rows_;
  DeviceMemory scratch_;  // of the judge, made when it is first needed
  size_t scratch_bytes_ = 0;
  std::vector<HostBytes> host_out_;
  std::vector<const std::byte*> viewed_;  // per buffer that is written
  uint8_t poison_ = 0xff, viewed_poison_ = 0xff;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_CASE_BUFFERS_H_
