// Flags and words of one command, over CLI11. Keeps that header, and the seconds that it costs, out
// of the commands.
#ifndef ROPE_BENCH_SRC_CLI_FLAGS_H_
#define ROPE_BENCH_SRC_CLI_FLAGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rope_bench {

enum class FlagGroup { kOptions, kCases, kDevice, kWhatToDo, kOutput };

// Of whole numbers; both ends are in it.
struct NumberRange {
  uint64_t least = 0, most = UINT64_MAX;
};

class Flags {
 public:
  Flags();
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // `names`: "-c,--config". `value_name`: as --help shows it. The variables must outlive parse().
  void text(const char* names, std::string& value, const std::string& help, FlagGroup group,
            const char* value_name);
  void whole_number(const char* names, std::optional<uint64_t>& value, const std::string& help,
                    FlagGroup group, NumberRange range = {});
  // May be given several times, with one value each.
  void list(const char* names, std::vector<std::string>& values, const std::string& help,
            FlagGroup group, const char* value_name);
  // The same, but one flag may be followed by several values.
  void values(const char* names, std::vector<std::string>& values, const std::string& help,
              FlagGroup group, const char* value_name);
  void toggle(const char* names, bool& value, const std::string& help, FlagGroup group);
  // A word without a dash.
  void word(const char* name, std::string& value, const std::string& help);

  enum class Outcome { kParsed, kHelpWanted };
  // Throws ConfigError. `command` is only named in messages.
  Outcome parse(std::vector<std::string> words, const std::string& command);

  // What parse() could not place: flags that do not exist and words too many.
  std::vector<std::string> extras() const;
  std::vector<std::string> names() const;  // with dashes
  // What was given for a flag; empty if there is no such flag.
  std::vector<std::string> given(const std::string& name) const;
  std::string help() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_FLAGS_H_
