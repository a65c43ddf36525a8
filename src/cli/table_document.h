// A table, or two readings side by side, as text and as JSON.
#ifndef ROPE_BENCH_SRC_CLI_TABLE_DOCUMENT_H_
#define ROPE_BENCH_SRC_CLI_TABLE_DOCUMENT_H_

#include <optional>
#include <string>

#include "nlohmann/json_fwd.hpp"
#include "src/math/reading.h"

namespace rope_bench {

struct TableDocument {
  TableReading reading;
  std::optional<TableReading> versus;  // the same case with another scaling
};

nlohmann::ordered_json table_json(const TableDocument& document);
std::string table_text(const TableDocument& document);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_TABLE_DOCUMENT_H_
