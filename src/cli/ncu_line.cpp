#include "src/cli/ncu_line.h"

namespace rope_bench {
namespace {

// As a POSIX shell reads it back.
std::string shell_word(const std::string& word) {
  const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,+@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string ncu_line(const std::vector<std::string>& command_line) {
  std::string line =
      "ncu --clock-control none --cache-control none --nvtx --nvtx-include rope-bench/ --set full";
  for (const std::string& word : command_line) line += " " + shell_word(word);
  return line;
}

}  // namespace rope_bench
