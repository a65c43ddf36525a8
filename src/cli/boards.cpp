#include "src/cli/boards.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <vector>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

// Models are what drivers call them. Where one name covers boards of unlike memory it is left out.
const Board kBoards[] = {
    {"A100-40GB", 1555, {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB"}},
    {"A100-80GB", 2039, {"NVIDIA A100-SXM4-80GB"}},
    {"A10", 600, {"NVIDIA A10"}},
    {"A6000", 768, {"NVIDIA RTX A6000"}},
    {"B200", 8000, {"NVIDIA B200"}},
    {"GH200", 4900, {}},
    {"H100-PCIe", 2039, {"NVIDIA H100 PCIe"}},
    {"H100-SXM", 3352, {"NVIDIA H100 80GB HBM3"}},
    {"H100-NVL", 3938, {"NVIDIA H100 NVL"}},
    {"H20", 4000, {"NVIDIA H20"}},
    {"H200", 4800, {"NVIDIA H200"}},
    {"L4", 300, {"NVIDIA L4"}},
    {"L40S", 864, {"NVIDIA L40S"}},
    {"RTX-3090", 936, {"NVIDIA GeForce RTX 3090"}},
    {"RTX-4090", 1008, {"NVIDIA GeForce RTX 4090"}},
    {"RTX-5090", 1792, {"NVIDIA GeForce RTX 5090"}},
    {"RTX-PRO-6000", 1792, {}},
};
// Data sheets round.
constexpr double kAgree = 0.03;

std::string key(const std::string& name) {
  std::string out;
  for (char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out.starts_with("nvidia") ? out.substr(6) : out;
}

}  // namespace

std::span<const Board> boards() { return kBoards; }

const Board& board_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Board& board : kBoards) {
    if (key(name) == key(board.name)) return board;
    names.emplace_back(board.name);
  }
  const std::string near = nearest(name, names);
  throw ConfigError(fmt::format("--board {}: not a known board; known: {}{}", name,
                                fmt::join(names, ", "),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

std::string peak_note(const DeviceInfo& device) {
  const auto known = std::find_if(std::begin(kBoards), std::end(kBoards), [&](const Board& board) {
    return std::any_of(std::begin(board.models), std::end(board.models),
                       [&](const char* model) { return model && device.model == model; });
  });
  if (known == std::end(kBoards)) return {};
  if (!device.theoretical_peak_gb_s) {
    return fmt::format(
        "theoretical peak: the device does not say; the table of boards has {} GB/s for {}",
        known->peak_gb_s, known->name);
  }
  const double said = *device.theoretical_peak_gb_s;
  if (std::fabs(said - known->peak_gb_s) <= kAgree * known->peak_gb_s) return {};
  return fmt::format(
      "theoretical peak: {:.0f} GB/s by the device's clock and bus width, {} GB/s for {} in the "
      "table of boards; percentages of it use the first",
      said, known->peak_gb_s, known->name);
}

}  // namespace rope_bench
