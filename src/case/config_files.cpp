// Where configs are found and how a file becomes a text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "src/case/config.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{16} << 20;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

}  // namespace

std::string read_config_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    const bool unknown = error && error != std::errc::no_such_file_or_directory;
    throw ConfigError(fmt::format("{}: {}", path, unknown ? error.message() : "no such file"));
  }
  if (fs::is_directory(status)) {
    throw ConfigError(fmt::format("{}: is a directory; a config is a JSON file", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError(fmt::format("{}: cannot be read (permission denied?)", path));
  std::string text;
  std::array<char, 65536> chunk;
  while (text.size() <= kMaxFileBytes && in.read(chunk.data(), chunk.size()).gcount() > 0) {
    text.append(chunk.data(), static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) throw ConfigError(fmt::format("{}: reading failed", path));
  if (text.size() > kMaxFileBytes) {
    throw ConfigError(fmt::format("{}: larger than 16 MiB; a config is a small JSON file", path));
  }
  return text;
}

std::vector<std::string> shipped_config_dirs() {
  std::vector<std::string> dirs;
  const char* variable = std::getenv("ROPE_BENCH_CONFIG_DIR");
  if (variable && *variable) dirs.emplace_back(variable);
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    dirs.push_back((binary.parent_path().parent_path() / "share/rope-bench/configs").string());
  }
  dirs.emplace_back(ROPE_BENCH_SOURCE_CONFIGS);
  return dirs;
}

std::vector<std::string> shipped_configs() {
  std::set<std::string> names;
  for (const std::string& dir : shipped_config_dirs()) {
    std::error_code error;
    for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".json" && is_file(it->path())) {
        names.insert(it->path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

std::string find_config(const std::string& name_or_file) {
  if (name_or_file.empty()) throw ConfigError("--config: empty; allowed: a file or a shipped name");
  if (is_file(name_or_file)) return name_or_file;
  std::error_code error;
  const bool bare = name_or_file.find('/') == std::string::npos;
  std::string name = name_or_file;
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  if (bare) {
    if (is_file(name + ".json")) return name + ".json";
    for (const std::string& dir : shipped_config_dirs()) {
      const fs::path path = fs::path(dir) / (name + ".json");
      if (is_file(path)) return path.string();
    }
  }
  if (fs::is_directory(name_or_file, error)) {
    throw ConfigError(
        fmt::format("--config {}: is a directory; a config is a JSON file", name_or_file));
  }
  const std::string near = nearest(fs::path(name).filename().string(), shipped_configs());
  throw ConfigError(fmt::format("--config {}: no such file{}{}", name_or_file,
                                bare ? " and no shipped config of that name" : "",
                                near.empty() ? "; `rope-bench list configs` lists the shipped ones"
                                             : fmt::format("; nearest: \"{}\"", near)));
}

LoadedConfig load_config(const std::string& path, ScalingCatalog scalings,
                         const Overrides& overrides, const CaseCheck& check) {
  return parse_config(read_config_file(path), path, scalings, overrides, check);
}

}  // namespace rope_bench
