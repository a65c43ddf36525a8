#include "src/cli/boards.h"

#include <cctype>
#include <vector>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

const Board kBoards[] = {
    {"A100-40GB", 1555},    {"A100-80GB", 2039}, {"A10", 600},        {"A6000", 768},
    {"B200", 8000},         {"GH200", 4900},     {"H100-PCIe", 2039}, {"H100-SXM", 3352},
    {"H100-NVL", 3938},     {"H20", 4000},       {"H200", 4800},      {"L4", 300},
    {"L40S", 864},          {"RTX-3090", 936},   {"RTX-4090", 1008},  {"RTX-5090", 1792},
    {"RTX-PRO-6000", 1792},
};

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

}  // namespace rope_bench
