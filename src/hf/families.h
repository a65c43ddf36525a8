// THE table of model families: what a model_type means for RoPE beyond what its config.json says.
#ifndef ROPE_BENCH_SRC_HF_FAMILIES_H_
#define ROPE_BENCH_SRC_HF_FAMILIES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/pairing.h"

namespace rope_bench {

// Norms of q and k that a fused kernel would do together with the rotation.
enum class QkNormKind {
  kNone,
  kHeadRms,        // RMS of each head, weights shared by heads
  kRowRms,         // RMS over all heads of a token
  kHeadLayerNorm,  // mean and variance of each head
  kHeadL2,         // RMS of each head without weights
  kLatent,         // of the latents that MLA projects from: none on q and k themselves
};

struct QkNorm {
  QkNormKind kind = QkNormKind::kNone;
  bool plus_one = false;       // the weight is stored minus one
  bool after = false;          // follows the rotation
  const char* flag = nullptr;  // key that switches it on or off
  bool flag_default = true;
};

// Values that the family's config class has where the file says nothing; 0: it has none.
struct ClassDefaults {
  int64_t hidden_size = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;  // 0: as many as heads
  int64_t head_dim = 0;      // 0: hidden_size / num_heads
  int64_t max_position = 0;
  double theta = 0;
};

// The second parameter set of families that have one for sliding-window layers in flat keys.
struct LocalTheta {
  const char* key = nullptr;  // of the theta of sliding layers, which are never scaled
  double class_default = 0;   // 0: that of the other layers
};

struct Family {
  const char* type = "";  // model_type
  Pairing pairing = Pairing::kNeox;
  const char* why = "";           // for the pairing; empty: the usual one
  const char* no_rope = nullptr;  // what the family has instead of RoPE
  const char* refusal = nullptr;  // why its RoPE cannot be expressed
  ClassDefaults defaults = {};
  double partial = 1;      // class default of the share of rotated dims
  int64_t rotary_dim = 0;  // class default where the class counts dims instead
  QkNorm norm = {};
  int64_t mla_nope = 0;  // class default of qk_nope_head_dim; above 0: multi-head latent attention
  const char* axes = "mrope";  // kind that mrope_section means
  LocalTheta local = {};
  bool sliding_unscaled = false;         // sliding layers ignore rope_scaling
  int64_t nope_interval = 0;             // class default of no_rope_layer_interval
  const char* nope_layers = nullptr;     // layers that never rotate
  bool position_type_needed = false;     // rotates only if position_embedding_type is rope
  int64_t alibi_unless_hidden_size = 0;  // other sizes of this family have ALiBi
  bool alpha_base = false;               // `dynamic` with alpha is a fixed base
  bool list_mscale = false;              // reads longrope's short_mscale and long_mscale
  double yarn_slope = 0.1;               // of yarn's attention factor in ln(factor)
  bool reversed = false;                 // rotates by the negative angle
  bool has_rope_ratio = false;           // theta = 10000 rope_ratio
  const char* inert = "";  // keys that look like RoPE and do nothing here, between blanks
};

std::span<const Family> families();

// Null for a model_type that has no row.
const Family* find_family(std::string_view model_type);
// The model_type nearest in spelling, or empty.
std::string nearest_family(const std::string& model_type);

// "pairs (i, i + r/2): ..."
std::string pairing_reason(const Family& family);
// "none", "per head RMS (1 + w)", "full row RMS", ...
std::string norm_text(const QkNorm& norm);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_HF_FAMILIES_H_
