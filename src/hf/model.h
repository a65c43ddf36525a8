// The steps from a config.json to a native config, and what they share.
#ifndef ROPE_BENCH_SRC_HF_MODEL_H_
#define ROPE_BENCH_SRC_HF_MODEL_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/case/scaling_spec.h"
#include "src/hf/families.h"
#include "src/hf/fields.h"
#include "src/hf/native.h"

namespace rope_bench {

// What --set and --axis say, as text by dotted path: it need not be in the file.
using Overridden = std::map<std::string, std::string>;

struct ReadContext {
  ScalingCatalog scalings;
  const Overridden* overridden;
  NativeBuilder* native;
  Notes* notes;

  bool has(const char* path) const { return overridden->contains(path); }
  // Whether the command line gives the key this word, alone or among others.
  bool has(const char* path, std::string_view word) const {
    const auto found = overridden->find(path);
    return found != overridden->end() && found->second.find(word) != std::string::npos;
  }
};

struct Model {
  ReadContext context;
  Fields root;           // the whole file
  Fields fields;         // the object that describes the model: the root, or one nested in it
  std::string type;      // model_type; empty: none
  Trace type_at;         // what the class defaults come from
  const Family* family;  // never null: a row without facts stands for unknown families
  bool known;
};

// Finds the object (`part` is a JSON pointer, or empty for the text model) and its family. Throws
// ConfigError for files that are no model's config, models without RoPE and unknown families whose
// pairing nobody gave.
Model find_model(const Node& root, const std::string& part, const ReadContext& context);

// rope_scaling, rope_parameters and their like, taken apart: one for each set of parameters.
struct RopeSet {
  std::string name;                             // layer type; empty: the only set
  std::optional<Fields> own;                    // parameters of this set
  std::optional<Fields> shared;                 // scalars beside the sets: defaults for all of them
  bool unscaled = false;                        // `own` gives no more than theta
  std::optional<Field<double>> theta, partial;  // from elsewhere, before the file's usual keys
};
std::vector<RopeSet> find_rope_sets(Model& model);
// Which layers a set is for, and layers that do not rotate.
void note_layers(Model& model, const std::vector<RopeSet>& sets);

// model.* and, for MLA, layout.q.* of a set. Returns head_dim, 0 if only the command line knows it.
int64_t put_shape(Model& model, const RopeSet& set, Node* out);
// rope.pairing, theta, rotary_dim, direction and axes of a set.
void put_rope(Model& model, RopeSet& set, int64_t head_dim, Node* out);
// rope.scaling and rope.query_scale of a set.
void put_scaling(Model& model, RopeSet& set, Node* out);
// op, dtype and tokens.
void put_run(Model& model, Node* out);

bool is_mla(Model& model);
// As transformers and the remote codes name it, in the order of preference.
std::optional<Field<int64_t>> read_max_position(Model& model);
// The norm of this very model: what its family does, unless a flag switches it off.
QkNorm read_norm(Model& model);

// Keys that look like RoPE and that nothing has read.
void note_ignored(Model& model);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_HF_MODEL_H_
