// Commands that print one document: as text or as JSON.
#ifndef ROPE_BENCH_SRC_CLI_DOCUMENT_H_
#define ROPE_BENCH_SRC_CLI_DOCUMENT_H_

#include <functional>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "src/report/format.h"
#include "src/report/output.h"

namespace rope_bench {

std::vector<std::string> document_formats();  // text, json

// Writes each target; text on stdout if there is none. Throws OutputError once all were tried.
void write_document(const std::vector<OutputTarget>& targets,
                    const std::function<std::string()>& text,
                    const std::function<nlohmann::ordered_json()>& json);

// A heading and rows of plain text, aligned.
std::string text_rows(const std::vector<std::string>& heading,
                      const std::vector<std::vector<std::string>>& rows,
                      const std::vector<size_t>& right_aligned = {});

// Whether text on stdout may have colours: a terminal, no NO_COLOR, not a dumb one.
bool color_on_stdout();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_DOCUMENT_H_
