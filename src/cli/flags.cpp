#include "src/cli/flags.h"

#include <algorithm>
#include <charconv>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "fmt/format.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

const char* title(FlagGroup group) {
  static constexpr const char* kTitles[] = {"Options", "Cases", "Device", "What to do", "Output"};
  return kTitles[static_cast<int>(group)];
}

// What is wrong with `text`; nothing, if it is in the range. CLI11 itself would wrap a negative
// number around.
std::string check_whole_number(const std::string& text, const NumberRange& range) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= range.least && value <= range.most) return {};
  if (range.most != UINT64_MAX)
    return fmt::format("{} is not a whole number from {} to {}", text, range.least, range.most);
  if (error == std::errc::result_out_of_range && stop == end)
    return fmt::format("{} is too large; allowed: whole numbers up to {}", text, range.most);
  return fmt::format("{} is not a whole number from {}", text, range.least);
}

// What is wrong with how often a flag or its value was given, in plainer words than CLI11's.
std::string plain(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  if (text.find("At Most 1 required") != std::string::npos) {
    return name + ": given more than once; it takes one value";
  }
  const size_t missing = text.find(" missing");
  const size_t required = text.find(" required ");
  if (missing == std::string::npos || required == std::string::npos) return text;
  const size_t from = required + std::string(" required ").size();
  return fmt::format("{}: needs a value: {}", name, text.substr(from, missing - from));
}

}  // namespace

struct Flags::Impl {
  CLI::App app;
  std::vector<const CLI::Option*> texts;
};

Flags::Flags() : impl_(std::make_unique<Impl>()) {
  impl_->app.set_help_flag("-h,--help", "this help");
  impl_->app.allow_extras();
}
Flags::~Flags() = default;

void Flags::text(const char* names, std::string& value, const std::string& help, FlagGroup group,
                 const char* value_name) {
  impl_->texts.push_back(
      impl_->app.add_option(names, value, help)->group(title(group))->type_name(value_name));
}

void Flags::whole_number(const char* names, std::optional<uint64_t>& value, const std::string& help,
                         FlagGroup group, NumberRange range) {
  impl_->app.add_option(names, value, help)
      ->check([range](const std::string& text) { return check_whole_number(text, range); })
      ->group(title(group))
      ->type_name("N");
}

void Flags::list(const char* names, std::vector<std::string>& values, const std::string& help,
                 FlagGroup group, const char* value_name) {
  impl_->app.add_option(names, values, help + "; repeatable")
      ->allow_extra_args(false)  // or it would also take the words that follow
      ->group(title(group))
      ->type_name(value_name);
}

void Flags::values(const char* names, std::vector<std::string>& values, const std::string& help,
                   FlagGroup group, const char* value_name) {
  impl_->app.add_option(names, values, help)->group(title(group))->type_name(value_name);
}

void Flags::toggle(const char* names, bool& value, const std::string& help, FlagGroup group) {
  impl_->app.add_flag(names, value, help)->group(title(group));
}

void Flags::word(const char* name, std::string& value, const std::string& help) {
  impl_->app.add_option(name, value, help)->type_name("");
}

Flags::Outcome Flags::parse(std::vector<std::string> words, const std::string& command) {
  std::reverse(words.begin(), words.end());  // CLI11 takes the last word first
  try {
    impl_->app.parse(words);
  } catch (const CLI::CallForHelp&) {
    return Outcome::kHelpWanted;
  } catch (const CLI::ParseError& error) {
    const std::string text = error.what();
    throw ConfigError(fmt::format("{} (see rope-bench {} --help)",
                                  plain(text.substr(0, text.find('\n'))), command));
  }
  for (const CLI::Option* option : impl_->texts) {
    if (option->results() == std::vector<std::string>{""}) {
      throw ConfigError(
          fmt::format("{}: empty; allowed: {}", option->get_name(), option->get_type_name()));
    }
  }
  return Outcome::kParsed;
}

std::vector<std::string> Flags::extras() const { return impl_->app.remaining(); }

std::vector<std::string> Flags::names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : impl_->app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> Flags::given(const std::string& name) const {
  const CLI::Option* option = impl_->app.get_option_no_throw(name);
  return option ? option->results() : std::vector<std::string>{};
}

std::string Flags::help() const {
  CLI::Formatter formatter;
  formatter.column_width(36);
  std::string text = formatter.make_positionals(&impl_->app) +
                     formatter.make_groups(&impl_->app, CLI::AppFormatMode::Normal);
  // CLI11 leaves two empty lines between groups.
  for (size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text + "\n";
}

}  // namespace rope_bench
