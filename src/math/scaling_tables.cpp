// Methods that need more than one table per token: fope, dual_chunk.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/math/hash.h"
#include "src/math/npy.h"
#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

constexpr double kTwoPi = 6.28318530717958647692528676655900577;

// Keeps the first frequencies and sets the others to 0: their pairs get cos 1 and sin 0 and pass.
Frequencies fope(const RopeCase& c, const ScalingParams& params) {
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  const size_t pairs = f.exact.size();
  size_t kept = 0;
  if (const std::optional<double> given = params.find("num_inv_freq")) {
    if (*given != std::floor(*given) || *given > static_cast<double>(pairs)) {
      params.fail("num_inv_freq",
                  fmt::format("{} is not allowed, expected a whole number from 0 to "
                              "rotary_dim / 2 = {}",
                              *given, pairs));
    }
    kept = static_cast<size_t>(*given);
  } else {
    // Those that complete a turn within the trained length.
    const double slowest = kTwoPi / max_position(c);
    kept = static_cast<size_t>(std::count_if(f.exact.begin(), f.exact.end(),
                                             [&](long double inv) { return inv > slowest; }));
  }
  std::fill(f.exact.begin() + static_cast<ptrdiff_t>(kept), f.exact.end(), 0.0L);
  std::fill(f.float32.begin() + static_cast<ptrdiff_t>(kept), f.float32.end(), 0.0f);
  f.details = {{"kept_pairs", static_cast<double>(kept)}};
  return f;
}

// The learned matrices, cosines' then sines': value (which, head, in, out), row-major.
struct Coefficients {
  int64_t heads, in, out;
  std::vector<double> values;
  double at(int64_t which, int64_t head, int64_t i, int64_t o) const {
    return values[static_cast<size_t>(((which * heads + head) * in + i) * out + o)];
  }
};

// The identity, with a hashed disturbance in [-amplitude, amplitude).
Coefficients near_identity(int64_t heads, int64_t kept, uint64_t seed, double amplitude) {
  Coefficients m{heads, kept, kept, {}};
  for (int64_t n = 0; n < 2 * heads * kept * kept; ++n) {
    const uint64_t hash = combine(seed, static_cast<uint64_t>(n));
    const double unit = static_cast<double>(hash >> 11) * 0x1p-52 - 1;
    const double diagonal = n / kept % kept == n % kept ? 1 : 0;
    m.values.push_back(diagonal + amplitude * unit);
  }
  return m;
}

Coefficients coefficients(const RopeCase& c, const ScalingParams& params, int64_t kept) {
  const std::string source = params.text("coefficients");
  if (source.empty() || source == "identity") return near_identity(c.num_kv_heads, kept, 0, 0);
  if (source == "seeded") return near_identity(c.num_kv_heads, kept, c.seed, 0.05);
  NpyArray array = read_npy(source);
  const std::vector<int64_t>& shape = array.shape;
  if (shape.size() != 4 || shape[0] != 2 || shape[1] != c.num_kv_heads || shape[2] != kept ||
      shape[3] > c.rope.rotary_dim / 2) {
    params.fail(
        "coefficients",
        fmt::format("{} has the shape [{}], expected [2, num_kv_heads {}, kept pairs {}, at "
                    "most {}]",
                    source, fmt::join(shape, ", "), c.num_kv_heads, kept, c.rope.rotary_dim / 2));
  }
  return {shape[1], shape[2], shape[3], std::move(array.values)};
}

// One table per kv head: its mixed cosines and sines, the rest of the pairs with cos 1 and sin 0
// (sin 1 would rotate what should pass).
std::vector<NamedRow> fope_rows(const RopeCase& c, const ScalingParams& params, TableAngle angle,
                                const std::vector<int64_t>& at) {
  const Frequencies f = fope(c, params);
  const size_t pairs = f.exact.size();
  const int64_t kept = static_cast<int64_t>(std::get<double>(f.details[0].value));
  const NamedRow plain = named_row("", c, f, angle, at);
  const Coefficients m = coefficients(c, params, kept);
  std::vector<NamedRow> rows;
  for (int64_t head = 0; head < m.heads; ++head) {
    NamedRow row{fmt::format("kv_head_{}", head), plain.row, std::vector<double>(pairs, 1.0),
                 std::vector<double>(pairs, 0.0)};
    for (int64_t o = 0; o < m.out; ++o) {
      row.cosines[static_cast<size_t>(o)] = 0;
      for (int64_t i = 0; i < kept; ++i) {
        row.cosines[static_cast<size_t>(o)] +=
            plain.cosines[static_cast<size_t>(i)] * m.at(0, head, i, o);
        row.sines[static_cast<size_t>(o)] +=
            plain.sines[static_cast<size_t>(i)] * m.at(1, head, i, o);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Positions within a chunk repeat every chunk_size - local_size tokens.
int64_t chunk_length(const ScalingParams& params) {
  const double chunk = params.number("chunk_size"), local = params.number("local_size");
  if (chunk != std::floor(chunk) || local != std::floor(local) || local >= chunk) {
    params.fail("local_size",
                fmt::format("{} with chunk_size {}, expected whole numbers, local_size "
                            "below chunk_size",
                            local, chunk));
  }
  return static_cast<int64_t>(chunk - local);
}

Frequencies dual_chunk(const RopeCase& c, const ScalingParams& params) {
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  f.details = {{"chunk_length", static_cast<double>(chunk_length(params))}};
  return f;
}

// The five tables at one position: keys and queries by their place within the chunk, queries that
// look at the chunk before (with and without the clamp to chunk_size), queries that look further.
std::vector<NamedRow> dual_chunk_rows(const RopeCase& c, const ScalingParams& params,
                                      TableAngle angle, const std::vector<int64_t>& at) {
  const int64_t length = chunk_length(params);
  const int64_t chunk = static_cast<int64_t>(params.number("chunk_size"));
  const Frequencies f = dual_chunk(c, params);
  std::vector<NamedRow> rows;
  const auto add = [&](const char* name, const auto& row_of_place) {
    std::vector<int64_t> places;
    for (const int64_t position : at) places.push_back(row_of_place(position % length));
    rows.push_back(named_row(name, c, f, angle, places));
  };
  add("query", [](int64_t place) { return place; });
  add("query_successive", [&](int64_t place) { return std::min(place + length, chunk); });
  add("key", [](int64_t place) { return place; });
  add("query_successive_unclamped", [&](int64_t place) { return place + length; });
  add("query_inter", [&](int64_t place) { return place + chunk; });
  return rows;
}

}  // namespace

std::vector<ScalingMethod> table_scalings() {
  ScalingMethod fope_row;
  fope_row.spec.name = "fope";
  ScalingParamSpec kept;
  kept.name = "num_inv_freq";
  kept.min = 0;
  kept.summary = "frequencies kept; absent: those above 2 pi / max_position";
  ScalingParamSpec coefficients;
  coefficients.name = "coefficients";
  coefficients.kind = ParamKind::kText;
  coefficients.summary = "learned mixing matrices: identity (default), seeded, or a .npy file";
  fope_row.spec.params = {kept, coefficients};
  fope_row.spec.summary =
      "the highest frequencies, mixed per kv head by learned matrices; the others do not rotate";
  fope_row.spec.source = "Hua et al. 2024, FoPE; as in vLLM";
  fope_row.make = fope;
  fope_row.rows = fope_rows;
  fope_row.run_needs = "scaling fope needs one table per kv head, which no kernel here reads";

  ScalingMethod chunk_row;
  chunk_row.spec.name = "dual_chunk";
  ScalingParamSpec chunk;
  chunk.name = "chunk_size";
  chunk.min = 1;
  chunk.required = true;
  chunk.summary = "positions per chunk";
  ScalingParamSpec local;
  local.name = "local_size";
  local.min = 0;
  local.default_value = 0;
  local.summary = "positions shared with the chunk before";
  chunk_row.spec.params = {chunk, local};
  chunk_row.spec.summary = "frequencies of none; five tables by position within and between chunks";
  chunk_row.spec.source = "An et al. 2024, dual chunk attention; as in vLLM";
  chunk_row.make = dual_chunk;
  chunk_row.rows = dual_chunk_rows;
  chunk_row.run_needs = "scaling dual_chunk needs five tables, which no kernel here reads";

  return {fope_row, chunk_row};
}

}  // namespace rope_bench
