// Where a model's config.json is, and what its cases are called.
#include <fmt/format.h>

#include <filesystem>

#include "src/case/errors.h"
#include "src/hf/hf.h"

namespace rope_bench {
namespace {

namespace fs = std::filesystem;

// The folder of a config.json says more than its own name.
std::string name_of(const HfPlace& place) {
  std::error_code error;
  const fs::path absolute = fs::absolute(place.path, error).lexically_normal();
  std::string name = absolute.stem().string();
  if (name == "config" && !absolute.parent_path().filename().empty()) {
    name = absolute.parent_path().filename().string();
  }
  for (const char c : place.part) name += c == '/' ? '.' : c;
  return name;
}

}  // namespace

HfPlace find_hf(const std::string& file_or_folder) {
  const size_t hash = file_or_folder.rfind('#');
  const bool has_part = hash != std::string::npos && !fs::exists(file_or_folder);
  HfPlace place{file_or_folder.substr(0, has_part ? hash : std::string::npos), ""};
  if (has_part) {
    place.part = file_or_folder.substr(hash + 1);
    if (!place.part.starts_with('/')) place.part.insert(0, 1, '/');
  }
  std::error_code error;
  if (place.path.empty()) throw ConfigError("--hf: empty; allowed: a config.json or its folder");
  const bool folder = fs::is_directory(place.path, error);
  if (!folder && !fs::exists(place.path, error)) {
    throw ConfigError(fmt::format(
        "--hf {}: no such file or folder; it names a config.json, or a folder with one, on this "
        "machine",
        file_or_folder));
  }
  if (!folder) return place;
  const fs::path inside = fs::path(place.path) / "config.json";
  if (!fs::exists(inside, error)) {
    throw ConfigError(fmt::format("--hf {}: no config.json in this folder", file_or_folder));
  }
  place.path = inside.string();
  return place;
}

LoadedConfig load_hf(const std::vector<std::string>& files_or_folders, ScalingCatalog scalings,
                     const Overrides& overrides, const CaseCheck& check) {
  std::vector<HfText> texts;
  for (const std::string& given : files_or_folders) {
    const HfPlace place = find_hf(given);
    texts.push_back({place.path, read_config_file(place.path), place.part, name_of(place)});
  }
  return parse_hf(texts, scalings, overrides, check);
}

}  // namespace rope_bench
