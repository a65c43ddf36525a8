// What a scaling method is made of: a registry row and one function. Private to src/math.
#ifndef ROPE_BENCH_SRC_MATH_SCALING_METHOD_H_
#define ROPE_BENCH_SRC_MATH_SCALING_METHOD_H_

#include <optional>
#include <string>
#include <vector>

#include "src/math/scaling.h"

namespace rope_bench {

// Parameters of one case, with the defaults of the method's row.
class ScalingParams {
 public:
  ScalingParams(const ScalingMethodSpec& spec, const Scaling& scaling)
      : spec_(spec), scaling_(scaling) {}

  // The value given, else the row's default, else nothing.
  std::optional<double> find(const std::string& name) const;
  // The same, or ConfigError "rope.scaling.NAME is missing".
  double number(const std::string& name) const;
  bool flag(const std::string& name) const;
  // Empty if absent.
  std::string text(const std::string& name) const;
  // Empty if absent. A list of the wrong length is a ConfigError that names both numbers; 0: any.
  std::vector<double> list(const std::string& name, int64_t length) const;
  bool is_list(const std::string& name) const;

  // ConfigError "rope.scaling.NAME: ...".
  [[noreturn]] void fail(const std::string& name, const std::string& what) const;

 private:
  const ScalingValue* value(const std::string& name) const;
  const ScalingParamSpec& param(const std::string& name) const;

  const ScalingMethodSpec& spec_;
  const Scaling& scaling_;
};

struct ScalingMethod {
  ScalingMethodSpec spec;
  Frequencies (*make)(const RopeCase& c, const ScalingParams& params) = nullptr;
  // Empty, or why a run cannot use it although `table` can.
  const char* run_needs = "";
  // Its tables at one position, where there is not just the one that `make` describes.
  std::vector<NamedRow> (*rows)(const RopeCase& c, const ScalingParams& params, TableAngle angle,
                                const std::vector<int64_t>& at) = nullptr;
};

// Rows of each family, defined beside its functions.
std::vector<ScalingMethod> basic_scalings();     // none, linear, proportional, custom
std::vector<ScalingMethod> ntk_scalings();       // ntk, ntk_vllm, dynamic_ntk
std::vector<ScalingMethod> yarn_scalings();      // yarn, yarn_lambda
std::vector<ScalingMethod> llama3_scalings();    // llama3
std::vector<ScalingMethod> longrope_scalings();  // longrope
std::vector<ScalingMethod> table_scalings();     // fope, dual_chunk

// The row of a table with these frequencies for a token at these positions, one per axis.
NamedRow named_row(std::string name, const RopeCase& c, const Frequencies& f, TableAngle angle,
                   const std::vector<int64_t>& at);

// theta^(-2i/n) for i in [0, pairs); n is rotary_dim but for `proportional`.
std::vector<long double> base_exact(long double theta, int64_t n, int64_t pairs);
// theta^(2i/n) in float32: e = fl(2i / n), p = fl(fl(theta)^e).
std::vector<float> base_powers(double theta, int64_t n, int64_t pairs);
// base_exact, and fl(1 / p): what all methods start from.
Frequencies base_frequencies(long double theta, int64_t rotary_dim);

// x^y in float32, correctly rounded but for ties that long double cannot tell.
float pow_float32(float x, float y);

// The trained length: original_max_position_embeddings, else model.max_position.
double original_length(const RopeCase& c, const ScalingParams& params);
// model.max_position, or ConfigError that says which method needs it.
double max_position(const RopeCase& c);

// Parameters that several methods have.
ScalingParamSpec factor_param(double min, bool exclusive, bool required);
ScalingParamSpec original_length_param();
ScalingParamSpec attention_factor_param();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_SCALING_METHOD_H_
