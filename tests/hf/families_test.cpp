// The table of families, and docs/hf.md against it.
#include "src/hf/families.h"

#include <fmt/format.h>

#include <set>

#include "tests/hf/helpers.h"

namespace rope_bench::testing {
namespace {

// A config of the family that says as little as is allowed.
std::string bare(const Family& row) {
  return fmt::format(
      R"({{"model_type": "{}", "num_attention_heads": 16, "hidden_size": {},
          "position_embedding_type": "rope"}})",
      row.type, row.alibi_unless_hidden_size > 0 ? row.alibi_unless_hidden_size : 2048);
}

TEST(HfFamilies, EachTypeOnce) {
  std::set<std::string> types;
  for (const Family& row : families()) EXPECT_TRUE(types.insert(row.type).second) << row.type;
  EXPECT_GE(types.size(), 120u);
  EXPECT_EQ(nearest_family("qwen4"), "qwen");
}

TEST(HfFamilies, EachGivesCasesOrIsRefusedByName) {
  for (const Family& row : families()) {
    SCOPED_TRACE(row.type);
    if (row.no_rope) {
      expect_error(R"({"model_type": ")" + std::string(row.type) + R"("})",
                   {"this model has no RoPE: " + std::string(row.type) + " has " + row.no_rope});
    } else if (row.refusal) {
      expect_error(bare(row), {row.refusal});
    } else {
      const LoadedConfig config = read(bare(row));
      for (const RopeCase& c : config.cases) {
        EXPECT_EQ(c.rope.pairing, row.pairing);
        EXPECT_EQ(c.rope.reversed, row.reversed);
        EXPECT_EQ(c.skip_reason, "");
      }
      EXPECT_NOTE(config, false, "/model_type", pairing_reason(row));
    }
  }
}

// What a row of the documentation must end in, behind the types that it is for.
std::string doc_facts(const Family& row) {
  const std::string share = row.mla_nope > 0     ? "MLA"
                            : row.rotary_dim > 0 ? fmt::format("{} dims", row.rotary_dim)
                                                 : fmt::format("{}", row.partial);
  return fmt::format("| {} | {} | {} | {} |", info(row.pairing).name, share,
                     row.defaults.theta > 0 ? fmt::format("{}", row.defaults.theta) : "-",
                     norm_text(row.norm));
}

TEST(HfFamilies, TheDocumentationHasEachInItsRow) {
  std::ifstream file(HF_DOC);
  std::vector<std::string> rows;
  std::string refused;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
    if (line.starts_with("Refused by name: ")) refused = line;
  }
  for (const Family& row : families()) {
    const std::string type = fmt::format("`{}`", row.type);
    if (row.no_rope || row.refusal) {
      EXPECT_NE(refused.find(type), std::string::npos) << row.type;
      continue;
    }
    const std::string facts = doc_facts(row);
    const auto found = std::count_if(rows.begin(), rows.end(), [&](const std::string& line) {
      return line.find(type) != std::string::npos && line.ends_with(facts);
    });
    EXPECT_EQ(found, 1) << "docs/hf.md needs " << type << " in a row that ends in " << facts;
  }
}

}  // namespace
}  // namespace rope_bench::testing
