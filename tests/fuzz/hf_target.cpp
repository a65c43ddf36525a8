#include "tests/fuzz/hf_target.h"

#include <cstdio>
#include <cstdlib>

#include "src/case/errors.h"
#include "src/hf/hf.h"
#include "src/math/scaling.h"
#include "src/math/scaling_check.h"

namespace rope_bench {
namespace {

[[noreturn]] void fail(const std::string& text, const char* why, const std::string& what) {
  std::fprintf(stderr, "%s: %s\nthe text:\n%s\n", why, what.c_str(), text.c_str());
  std::abort();
}

void require_line(const std::string& text, const char* where, const std::string& line) {
  if (line.empty() || line.find_first_of("\n\r") != std::string::npos) {
    fail(text, where, "\"" + line + "\" is not one line");
  }
}

void require_sense(const std::string& text, const LoadedConfig& config) {
  if (config.cases.empty()) fail(text, "read", "neither cases nor an error");
  for (const ConfigNote& note : config.notes) require_line(text, "note", to_text(note));
  for (const std::string& warning : config.warnings) require_line(text, "warning", warning);
  for (const RopeCase& c : config.cases) {
    require_line(text, "name", c.name);
    const bool sizes = c.num_heads > 0 && c.num_kv_heads > 0 && c.head_dim >= 2 &&
                       c.rope.rotary_dim >= 2 && c.rope.rotary_dim % 2 == 0 &&
                       c.rope.rotary_dim <= c.head_dim && c.rope.theta > 0;
    if (!sizes) fail(text, "case", c.name + " has impossible sizes");
  }
}

}  // namespace

Outcome read_hostile_config(const std::string& text, unsigned how) {
  Overrides overrides;
  overrides.set = {"tokens=1"};
  if (how % 4 == 1) overrides.set.emplace_back("rope.pairing=gptj");
  if (how % 4 == 2) overrides.set.emplace_back("op=norm_split_rope");
  const char* part = how % 16 == 7 ? "/vision_config" : how % 16 == 11 ? "/text_config" : "";
  try {
    require_sense(text, parse_hf({{"f.json", text, part, "f"}}, scaling_catalog(), overrides,
                                 ScalingCheck()));
  } catch (const ConfigError& error) {
    require_line(text, "error", error.what());
    return Outcome::kRefused;
  } catch (const std::exception& error) {
    fail(text, "another exception", error.what());
  }
  return Outcome::kCases;
}

}  // namespace rope_bench
