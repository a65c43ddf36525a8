#include "src/cli/document.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "nlohmann/json.hpp"
#include "src/report/text_table.h"

namespace rope_bench {

std::vector<std::string> document_formats() { return {"text", "json"}; }

void write_document(const std::vector<OutputTarget>& targets,
                    const std::function<std::string()>& text,
                    const std::function<nlohmann::ordered_json()>& json) {
  OutputErrors errors;
  // Files first: whatever becomes of stdout, they are written.
  for (const bool to_stdout : {false, true}) {
    for (const OutputTarget& target : targets) {
      if (target.is_stdout() != to_stdout) continue;
      errors.attempt(
          [&] { write_target(target, target.format == "json" ? dump(json(), 2) + "\n" : text()); });
    }
  }
  if (targets.empty()) write_stdout(text());
  errors.raise();
}

std::string text_rows(const std::vector<std::string>& heading,
                      const std::vector<std::vector<std::string>>& rows,
                      const std::vector<size_t>& right_aligned) {
  std::vector<Align> alignment(heading.size(), Align::kLeft);
  for (size_t column : right_aligned) alignment[column] = Align::kRight;
  std::vector<std::vector<TextCell>> cells;
  const auto add = [&](const std::vector<std::string>& row) {
    std::vector<TextCell>& line = cells.emplace_back();
    for (const std::string& word : row) line.push_back({word});
  };
  add(heading);
  for (const std::vector<std::string>& row : rows) add(row);
  return align_rows(cells, alignment, true, color_on_stdout());
}

bool color_on_stdout() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term && std::string_view(term) == "dumb";
  return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !dumb;
}

}  // namespace rope_bench
