// Getters of the column table: each turns one field of one part of a row into a cell. Included by
// columns.cpp alone.
#ifndef ROPE_BENCH_SRC_REPORT_GETTERS_H_
#define ROPE_BENCH_SRC_REPORT_GETTERS_H_

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "src/case/label_rows.h"
#include "src/case/positions.h"
#include "src/report/columns.h"

namespace rope_bench::getters {

inline Cell to_cell(double value) { return value; }
inline Cell to_cell(uint64_t value) { return value; }
template <std::signed_integral T>
Cell to_cell(T value) {
  return static_cast<int64_t>(value);
}
inline Cell to_cell(const std::string& value) { return value.empty() ? Cell() : Cell(value); }
inline Cell to_cell(const std::vector<std::string>& value) { return value; }
inline Cell to_cell(Dtype value) { return std::string(info(value).name); }
inline Cell to_cell(Pairing value) { return std::string(info(value).name); }
template <class Enum>
requires std::is_enum_v<Enum> Cell to_cell(Enum value) { return std::string(name(value)); }
template <class T>
Cell to_cell(const std::optional<T>& value) {
  return value ? to_cell(*value) : Cell();
}

// Getters: one field of one part of a row, null where the part is absent.
template <auto kField>
Cell row(const Result& r, const RunReport&) {
  return to_cell(r.*kField);
}
template <auto kField>
Cell of_case(const Result& r, const RunReport&) {
  return to_cell(r.rope_case.*kField);
}
template <auto kField>
Cell rope(const Result& r, const RunReport&) {
  return to_cell(r.rope_case.rope.*kField);
}
template <auto kField>
Cell bytes(const Result& r, const RunReport&) {
  return to_cell(r.bytes.*kField);
}
template <auto kField>
Cell timing(const Result& r, const RunReport&) {
  return r.timing ? to_cell((*r.timing).*kField) : Cell();
}
template <auto kField>
Cell accuracy(const Result& r, const RunReport&) {
  return r.accuracy ? to_cell((*r.accuracy).*kField) : Cell();
}
template <auto kField>
Cell worst(const Result& r, const RunReport&) {
  return r.accuracy && r.accuracy->worst ? to_cell((*r.accuracy->worst).*kField) : Cell();
}
template <auto kField>
Cell diagnosis(const Result& r, const RunReport&) {
  return to_cell(r.diagnosis.*kField);
}

inline Cell correctly_rounded_share(const Result& r, const RunReport&) {
  if (!r.accuracy || r.accuracy->num_compared == 0) return {};
  return static_cast<double>(r.accuracy->num_correctly_rounded) /
         static_cast<double>(r.accuracy->num_compared);
}
inline std::vector<std::string> kCheckedChoices() { return {"all", "sampled"}; }
inline Cell checked(const Result& r, const RunReport&) {
  return r.accuracy ? Cell(kCheckedChoices()[r.accuracy->sampled ? 1 : 0]) : Cell();
}

inline Cell num_tokens(const Result& r, const RunReport&) {
  return to_cell(r.rope_case.num_tokens());
}
// Padding is no token.
inline Cell tokens_per_s(const Result& r, const RunReport&) {
  if (!r.timing) return {};
  return to_cell(static_cast<double>(r.rope_case.num_real_tokens()) / r.timing->median_us * 1e6);
}
inline Cell scaling(const Result& r, const RunReport&) { return r.rope_case.rope.scaling.type; }
inline Cell bytes_total(const Result& r, const RunReport&) { return to_cell(r.bytes.total()); }
inline Cell in_place(const Result& r, const RunReport&) { return r.rope_case.layout.in_place; }
inline Cell positions(const Result& r, const RunReport&) {
  return to_cell(r.rope_case.positions.kind);
}
inline Cell position_bits(const Result& r, const RunReport&) {
  return to_cell(r.rope_case.positions.bits);
}
inline Cell table_angle(const Result& r, const RunReport&) {
  return to_cell(r.rope_case.rope.table.angle);
}
inline Cell table_dtype(const Result& r, const RunReport&) {
  return to_cell(r.rope_case.rope.table.dtype);
}
inline Cell table_cache(const Result& r, const RunReport&) {
  if (!r.timing) return {};
  return to_cell(r.timing->table_warm ? CacheMode::kWarm : r.cache);
}
inline Cell label_notes(const Result& r, const RunReport&) {
  std::vector<std::string> notes;
  for (const std::string& label : r.labels) notes.push_back(label_note(r, label));
  return notes;
}
inline Cell largest_position(const Result& r, const RunReport&) {
  const int64_t largest = largest_possible_position(r.rope_case);
  return largest < 0 ? Cell() : Cell(largest);
}
template <auto kField>
Cell device(const Result&, const RunReport& p) {
  return to_cell(p.device.*kField);
}
inline Cell l2_bytes(const Result&, const RunReport& p) {
  return p.device.l2_bytes > 0 ? Cell(p.device.l2_bytes) : Cell();
}
inline Cell device_model(const Result&, const RunReport& p) { return to_cell(p.device.model); }
inline Cell limit_family(const Result&, const RunReport& p) {
  return to_cell(p.limit_family_version);
}

template <class Enum, Enum kLast>
std::vector<std::string> names_up_to() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    names.push_back(std::get<std::string>(to_cell(static_cast<Enum>(i))));
  }
  return names;
}
constexpr auto kOps = names_up_to<Op, Op::kSplitRopeBackward>;
constexpr auto kDtypeNames = names_up_to<Dtype, Dtype::kBF16>;
constexpr auto kPairingNames = names_up_to<Pairing, Pairing::kGptj>;
constexpr auto kStatuses = names_up_to<Status, Status::kError>;
constexpr auto kCacheModes = names_up_to<CacheMode, CacheMode::kWarm>;
constexpr auto kPositionKinds = names_up_to<PositionKind, PositionKind::kExplicit>;
constexpr auto kDataKinds = names_up_to<DataKind, DataKind::kSpecial>;
constexpr auto kTableAngles = names_up_to<TableAngle, TableAngle::kFloat32>;

}  // namespace rope_bench::getters

#endif  // ROPE_BENCH_SRC_REPORT_GETTERS_H_
