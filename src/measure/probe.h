// Small launches of a variant on inputs and positions of the caller's choice.
#ifndef ROPE_BENCH_SRC_MEASURE_PROBE_H_
#define ROPE_BENCH_SRC_MEASURE_PROBE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/case/rope_case.h"
#include "src/measure/backend.h"

namespace rope_bench {

// q and k, [kTokens, heads, width] each; every number is one of the case's dtype.
struct ProbeRows {
  std::vector<double> q, k;
};

class Probe {
 public:
  static constexpr int64_t kTokens = 8;

  // `like`: a launch of the case, on the device. Its table, frequencies, bias and weights are used.
  Probe(Backend& backend, const RopeCase& c, const RopeKernelArgs& like);

  int64_t width() const { return width_; }  // elements of a head: all dims that a launch reads
  // Positions lie below.
  int64_t num_rows() const { return like_.table_rows; }

  // Normal numbers, from the case's seed.
  ProbeRows inputs() const;

  // Token t at positions[t]. `pairing` may be the other one. Empty, and `why_not` says why, if the
  // variant does not compute this.
  ProbeRows launch(const RopeVariant& variant, Pairing pairing, const ProbeRows& in,
                   const std::vector<int64_t>& positions, std::string* why_not);

 private:
  // Where q, k and v of a launch begin, in elements, and their strides.
  struct Place {
    int64_t q, k, v, token_stride[3], elements;
  };
  Place place(bool packed) const;
  void write(const Place& place, const ProbeRows& rows, std::vector<std::byte>* bytes) const;
  ProbeRows read(const Place& place, const std::vector<std::byte>& bytes) const;

  Backend& backend_;
  const RopeCase& c_;
  RopeKernelArgs like_;
  int64_t width_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_PROBE_H_
