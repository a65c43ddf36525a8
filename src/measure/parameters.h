// What a launch reads beside q, k and v: table, positions, bias, weights ...
#ifndef ROPE_BENCH_SRC_MEASURE_PARAMETERS_H_
#define ROPE_BENCH_SRC_MEASURE_PARAMETERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/case/rope_case.h"
#include "src/case/token_rows.h"
#include "src/math/table.h"

namespace rope_bench {

enum class Parameter {
  kTable,
  kPositions,
  kSequenceStarts,
  kOutRows,
  kTurns,
  kInvFreq,
  kPairAxis,
  kAxisPositions,
  kBias,
  kQWeight,
  kKWeight
};
inline constexpr size_t kNumParameters = 11;
const char* name(Parameter parameter);  // "the table", "the positions", ...

// Bytes of each that a launch reads, 0: none. `uses_table`: of the variant.
std::array<size_t, kNumParameters> parameter_bytes(const RopeCase& c, bool uses_table,
                                                   int64_t table_rows_used);

// Their contents as kernels read them. `table` is only pointed to where it lies as it is read. The
// table is there even if the launch does not read it: the judge does.
class HostParameters {
 public:
  HostParameters(const RopeCase& c, bool uses_table, const CosSinTable& table,
                 const TokenRows& rows);

  const std::byte* data(Parameter p) const { return views_[static_cast<size_t>(p)].data; }
  size_t bytes(Parameter p) const { return views_[static_cast<size_t>(p)].bytes; }

 private:
  struct View {
    const std::byte* data = nullptr;
    size_t bytes = 0;
  };
  template <typename T>
  void keep(Parameter p, const std::vector<T>& values);

  std::array<std::vector<std::byte>, kNumParameters> owned_;
  std::array<View, kNumParameters> views_;
};

// Rows of the table that are read: the largest, and one more. At least one.
int64_t table_rows_used(const TokenRows& rows);

// ROPE_POSITIONS_* of a case.
int32_t position_source_of(const RopeCase& c);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_PARAMETERS_H_
