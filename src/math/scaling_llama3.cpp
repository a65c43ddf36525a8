// llama3: three bands of wavelengths.
#include <fmt/format.h>

#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

constexpr long double kTwoPi = 6.28318530717958647692528676655900577L;

struct Bands {
  double factor, low, high, trained;
};

enum class Band { kKept, kBlended, kScaled };

// The middle band includes both ends, as in transformers. Where low == high it is empty but for a
// wavelength of exactly that length, which is scaled (s = 0).
template <typename Float>
Float banded(Float inv, const Bands& b, Band* band) {
  const Float factor = static_cast<Float>(b.factor);
  const Float wavelength = static_cast<Float>(kTwoPi) / inv;
  *band = Band::kKept;
  if (wavelength < static_cast<Float>(b.trained / b.high)) return inv;
  *band = Band::kScaled;
  if (wavelength > static_cast<Float>(b.trained / b.low) || b.low == b.high) return inv / factor;
  *band = Band::kBlended;
  const Float s = (static_cast<Float>(b.trained) / wavelength - static_cast<Float>(b.low)) /
                  static_cast<Float>(b.high - b.low);
  const Float scaled = (1 - s) * inv / factor;
  return scaled + s * inv;
}

Frequencies llama3(const RopeCase& c, const ScalingParams& params) {
  const Bands bands{params.number("factor"), params.number("low_freq_factor"),
                    params.number("high_freq_factor"),
                    params.number("original_max_position_embeddings")};
  if (bands.low > bands.high) {
    params.fail("low_freq_factor",
                fmt::format("{} is above high_freq_factor {}, expected at most that", bands.low,
                            bands.high));
  }
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  double counts[3] = {};
  Band band;
  for (float& inv : f.float32) inv = banded(inv, bands, &band);
  for (long double& inv : f.exact) {
    inv = banded(inv, bands, &band);
    ++counts[static_cast<int>(band)];
  }
  f.details = {
      {"kept_pairs", counts[0]}, {"blended_pairs", counts[1]}, {"scaled_pairs", counts[2]}};
  return f;
}

}  // namespace

std::vector<ScalingMethod> llama3_scalings() {
  ScalingMethod row;
  row.spec.name = "llama3";
  row.spec.params = {factor_param(1, false, true), factor_param(0, true, false),
                     factor_param(0, true, false), original_length_param()};
  row.spec.params[0].default_value = 8;
  row.spec.params[0].required = false;
  row.spec.params[1].name = "low_freq_factor";
  row.spec.params[1].default_value = 1;
  row.spec.params[1].summary = "wavelengths above original length / this are divided by factor";
  row.spec.params[2].name = "high_freq_factor";
  row.spec.params[2].default_value = 4;
  row.spec.params[2].summary = "wavelengths below original length / this stay as they are";
  row.spec.params[3].default_value = 8192;
  row.spec.params[3].summary = "trained length";
  row.spec.summary = "by wavelength: inv, inv/factor, between them (1 - s) inv/factor + s inv";
  row.spec.source = "Llama 3.1; as in transformers";
  row.make = llama3;
  return {row};
}

}  // namespace rope_bench
