// Margins of cases, as `calibrate` writes them: how much this machine's noise makes a slowdown.
#ifndef ROPE_BENCH_SRC_COMPARE_MARGINS_FILE_H_
#define ROPE_BENCH_SRC_COMPARE_MARGINS_FILE_H_

#include <map>
#include <string>

namespace rope_bench {

struct CaseMargin {
  std::string name, variant, dtype, cache;
  double compare = 0, gate = 0;  // shares of the base, for either command; 0: none of its own
};

class Margins {
 public:
  Margins() = default;
  explicit Margins(std::string device_model) : device_model_(std::move(device_model)) {}

  const std::string& device_model() const { return device_model_; }
  void add(const CaseMargin& margin);
  // nullptr: the case has none of its own.
  const CaseMargin* find(const std::string& name, const std::string& variant,
                         const std::string& dtype, const std::string& cache) const;
  bool empty() const { return cases_.empty(); }
  std::string json() const;

 private:
  std::string device_model_;
  std::map<std::string, CaseMargin> cases_;
};

// Throws ConfigError, one line with the path: unreadable, not written by `calibrate`, a version
// that is not 1, no case, a case twice, a margin that is not a percentage above 0.
Margins read_margins(const std::string& path);

// Throws ConfigError where the margins were measured on another model of device.
void require_margins_of(const Margins& margins, const std::string& path,
                        const std::string& device_model);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_MARGINS_FILE_H_
