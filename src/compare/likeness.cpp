#include "src/compare/likeness.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "fmt/format.h"
#include "src/compare/text.h"
#include "src/report/format.h"

namespace rope_bench {
namespace {

std::string device_kind(const ResultRow& row) {
  const std::string& device = row[Field::kDevice];
  return device.substr(0, device.find(':'));
}

// Values are kept apart by a byte that no text of a results file holds.
std::string joined(const ResultRow& row, FieldRole role) {
  std::string key;
  for (const FieldRow& field : fields()) {
    if (field.role == role) key += row[field.field] + '\0';
  }
  return key;
}

using Index = std::unordered_map<std::string, const ResultRow*>;

// Partners by their identity anywhere, among rows that have none yet; null where several claim it.
Index index_anywhere(const std::vector<const ResultRow*>& rows) {
  Index index;
  for (const ResultRow* row : rows) {
    const auto [at, is_new] = index.emplace(identity_anywhere(*row), row);
    if (!is_new) at->second = nullptr;
  }
  return index;
}

void compare_schemas(const ResultsFile& base, const ResultsFile& now,
                     std::vector<std::string>* lines) {
  for (const ResultsFile* file : {&base, &now}) {
    if (file->schema_version.value_or(kResultsSchemaVersion) == kResultsSchemaVersion) continue;
    lines->push_back(fmt::format("{}: schema_version {}; this rope-bench reads {}", file->path,
                                 *file->schema_version, kResultsSchemaVersion));
  }
}

// How long to measure is no part of what is measured, and what names a case is compared by name.
bool is_compared(const std::string& pointer) {
  return !pointer.starts_with("/measure/") && pointer != "/tokens" && pointer != "/variant" &&
         pointer != "/op";
}

void compare_configs(const ResultsFile& base, const ResultsFile& now,
                     std::vector<std::string>* lines) {
  if (base.config.empty() || now.config.empty()) return;  // one of them does not say
  std::set<std::string> pointers;
  for (const auto& [pointer, value] : base.config) pointers.insert(pointer);
  for (const auto& [pointer, value] : now.config) pointers.insert(pointer);
  for (const std::string& pointer : pointers) {
    const auto a = base.config.find(pointer), b = now.config.find(pointer);
    // Only in one of them: an axis or a default in the other; its rows tell.
    if (a == base.config.end() || b == now.config.end() || a->second == b->second) continue;
    if (!is_compared(pointer)) continue;
    lines->push_back(fmt::format("config {}: {} in BASE, {} in NEW", pointer, shown(a->second),
                                 shown(b->second)));
  }
}

void compare_pairs(const std::vector<RowPair>& pairs, std::vector<std::string>* lines) {
  for (const FieldRow& field : fields()) {
    if (field.role != FieldRole::kAlike && field.role != FieldRole::kWhere) continue;
    const RowPair* first = nullptr;
    size_t count = 0;
    for (const RowPair& pair : pairs) {
      if (!pair.base || !pair.now) continue;
      const bool differs = field.field == Field::kDevice
                               ? device_kind(*pair.base) != device_kind(*pair.now)
                               : (*pair.base)[field.field] != (*pair.now)[field.field];
      if (!differs) continue;
      if (count++ == 0) first = &pair;
    }
    if (!first) continue;
    lines->push_back(fmt::format("{}: {} in BASE, {} in NEW, in {}{}", field.column,
                                 shown((*first->base)[field.field]),
                                 shown((*first->now)[field.field]), (*first->now)[Field::kName],
                                 count > 1 ? fmt::format(" and {} more", count - 1) : ""));
  }
}

// What was slowed on purpose is nothing to measure others by.
void note_slowed(const ResultsFile& base, std::vector<std::string>* lines) {
  const ResultRow* first = nullptr;
  size_t count = 0;
  for (const ResultRow& row : base.rows) {
    if (!is_slowed(row)) continue;
    if (count++ == 0) first = &row;
  }
  if (!first) return;
  lines->push_back(fmt::format("a slowdown is planted in BASE, in {}{}", (*first)[Field::kName],
                               count > 1 ? fmt::format(" and {} more", count - 1) : ""));
}

// Without a common case the rows say nothing; the files as wholes still do.
void compare_devices(const ResultsFile& base, const ResultsFile& now,
                     std::vector<std::string>* lines) {
  const auto devices = [](const ResultsFile& file) {
    std::set<std::string> kinds;
    for (const ResultRow& row : file.rows) kinds.insert(device_kind(row));
    return kinds;
  };
  const auto a = devices(base), b = devices(now);
  if (a.size() == 1 && b.size() == 1 && a != b)
    lines->push_back(fmt::format("device: \"{}\" in BASE, \"{}\" in NEW", *a.begin(), *b.begin()));
}

}  // namespace

std::string identity_of(const ResultRow& row) {
  return joined(row, FieldRole::kIdentity) + device_kind(row) + '\0' + row[Field::kDtype];
}

bool is_slowed(const ResultRow& row) { return !row[Field::kInjectedSlowdown].empty(); }

std::string identity_anywhere(const ResultRow& row) { return joined(row, FieldRole::kIdentity); }

bool same_device_and_dtype(const ResultRow& base, const ResultRow& now) {
  return device_kind(base) == device_kind(now) && base[Field::kDtype] == now[Field::kDtype] &&
         base[Field::kDeviceModel] == now[Field::kDeviceModel];
}

std::vector<RowPair> match_rows(const ResultsFile& base, const ResultsFile& now, bool anywhere) {
  Index by_identity;
  for (const ResultRow& row : base.rows) by_identity.emplace(identity_of(row), &row);
  std::vector<RowPair> pairs;
  std::set<const ResultRow*> used;
  std::vector<const ResultRow*> lone_now, lone_base;
  for (const ResultRow& row : now.rows) {
    const auto found = by_identity.find(identity_of(row));
    pairs.push_back({found == by_identity.end() ? nullptr : found->second, &row});
    if (pairs.back().base) {
      used.insert(pairs.back().base);
    } else {
      lone_now.push_back(&row);
    }
  }
  for (const ResultRow& row : base.rows) {
    if (!used.contains(&row)) lone_base.push_back(&row);
  }
  if (anywhere) {
    const Index partners = index_anywhere(lone_base), claims = index_anywhere(lone_now);
    for (RowPair& pair : pairs) {
      if (pair.base) continue;
      const auto found = partners.find(identity_anywhere(*pair.now));
      if (found == partners.end() || !found->second) continue;
      if (claims.at(found->first) != pair.now) continue;
      pair.base = found->second;
      used.insert(pair.base);
    }
  }
  for (const ResultRow* row : lone_base) {
    if (!used.contains(row)) pairs.push_back({row, nullptr});
  }
  return pairs;
}

std::vector<std::string> differences(const ResultsFile& base, const ResultsFile& now,
                                     const std::vector<RowPair>& pairs) {
  std::vector<std::string> lines;
  compare_schemas(base, now, &lines);
  note_slowed(base, &lines);
  compare_configs(base, now, &lines);
  const size_t before = lines.size();
  compare_pairs(pairs, &lines);
  if (lines.size() == before) compare_devices(base, now, &lines);
  return lines;
}

}  // namespace rope_bench
