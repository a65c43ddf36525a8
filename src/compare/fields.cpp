#include "src/compare/fields.h"

#include <unordered_map>

namespace rope_bench {
namespace {

using enum FieldRole;

const FieldRow kFields[] = {
    {Field::kName, "name", kIdentity},
    {Field::kOp, "op", kIdentity},
    {Field::kVariant, "variant", kIdentity},
    {Field::kCache, "cache", kIdentity},
    {Field::kNumTokens, "num_tokens", kIdentity},
    {Field::kNumHeads, "num_heads", kIdentity},
    {Field::kNumKvHeads, "num_kv_heads", kIdentity},
    {Field::kHeadDim, "head_dim", kIdentity},
    {Field::kRotaryDim, "rotary_dim", kIdentity},
    {Field::kPairing, "pairing", kIdentity},
    {Field::kDevice, "device", kWhere},
    {Field::kDtype, "dtype", kWhere},
    {Field::kDeviceModel, "device_model", kAlike},
    {Field::kConfig, "config", kAlike},
    {Field::kBytesTotal, "bytes_total", kAlike},
    {Field::kScaling, "scaling", kAlike},
    {Field::kTheta, "theta", kAlike},
    {Field::kBatch, "batch", kAlike},
    {Field::kInPlace, "in_place", kAlike},
    {Field::kPositions, "positions", kAlike},
    {Field::kPositionBits, "position_bits", kAlike},
    {Field::kTableAngle, "table_angle", kAlike},
    {Field::kTableDtype, "table_dtype", kAlike},
    {Field::kData, "data", kAlike},
    {Field::kSeed, "seed", kAlike},
    {Field::kStatus, "status", kText},
    {Field::kReason, "reason", kText},
    {Field::kLimitFamilyVersion, "limit_family_version", kText},
    {Field::kTimeMedian, "time_median_us", kNumber},
    {Field::kTimeCiLow, "time_ci_low_us", kNumber},
    {Field::kTimeCiHigh, "time_ci_high_us", kNumber},
    {Field::kLimitRatio, "limit_ratio", kNumber},
    {Field::kLimitRatioCiLow, "limit_ratio_ci_low", kNumber},
    {Field::kLimitRatioCiHigh, "limit_ratio_ci_high", kNumber},
    {Field::kInjectedSlowdown, "injected_slowdown_percent", kLater},
    {Field::kNumRounds, "num_rounds", kNumber},
};
static_assert(std::size(kFields) == kNumFields);

}  // namespace

std::span<const FieldRow> fields() { return kFields; }

const FieldRow* field_of_column(const std::string& column) {
  static const std::unordered_map<std::string, const FieldRow*> kByColumn = [] {
    std::unordered_map<std::string, const FieldRow*> rows;
    for (const FieldRow& row : kFields) rows.emplace(row.column, &row);
    return rows;
  }();
  const auto found = kByColumn.find(column);
  return found == kByColumn.end() ? nullptr : found->second;
}

}  // namespace rope_bench
