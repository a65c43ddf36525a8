// A model's own config.json as cases: what its code makes of it, with every assumption said.
#ifndef ROPE_BENCH_SRC_HF_HF_H_
#define ROPE_BENCH_SRC_HF_HF_H_

#include <string>
#include <vector>

#include "src/case/config.h"

namespace rope_bench {

// One --hf: a text, what messages call it, and which object of it is meant.
struct HfText {
  std::string path;
  std::string text;
  std::string part = {};  // JSON pointer, "/vision_config"; empty: the text model
  std::string name = {};  // of the config; empty: made from the path
};

// FILE, FOLDER (its config.json), either with #/POINTER behind it. Throws ConfigError for what is
// not there.
struct HfPlace {
  std::string path;  // of the file
  std::string part;
};
HfPlace find_hf(const std::string& file_or_folder);

// The same as a native config with these values would give, plus `notes` and `models`. Several
// models are one config with an entry of `cases` for each parameter set. Throws ConfigError naming
// file, place and pointer of the value in the model's file. Pure.
LoadedConfig parse_hf(const std::vector<HfText>& texts, ScalingCatalog scalings,
                      const Overrides& overrides, const CaseCheck& check = {});

// Reads the files that find_hf() finds.
LoadedConfig load_hf(const std::vector<std::string>& files_or_folders, ScalingCatalog scalings,
                     const Overrides& overrides, const CaseCheck& check = {});

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_HF_HF_H_
