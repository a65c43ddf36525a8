// What a comparison reads of a result row. Names are those of the column table (report/columns.h).
#ifndef ROPE_BENCH_SRC_COMPARE_FIELDS_H_
#define ROPE_BENCH_SRC_COMPARE_FIELDS_H_

#include <cstddef>
#include <span>
#include <string>

namespace rope_bench {

enum class Field : size_t {
  kName,
  kOp,
  kVariant,
  kCache,
  kNumTokens,
  kNumHeads,
  kNumKvHeads,
  kHeadDim,
  kRotaryDim,
  kPairing,
  kDevice,
  kDtype,
  kDeviceModel,
  kConfig,
  kBytesTotal,
  kScaling,
  kTheta,
  kBatch,
  kInPlace,
  kPositions,
  kPositionBits,
  kTableAngle,
  kTableDtype,
  kData,
  kSeed,
  kStatus,
  kReason,
  kLimitFamilyVersion,
  kTimeMedian,
  kTimeCiLow,
  kTimeCiHigh,
  kLimitRatio,
  kLimitRatioCiLow,
  kLimitRatioCiHigh,
  kInjectedSlowdown,
  kNumRounds,
};

enum class FieldRole {
  kIdentity,  // part of what makes two rows the same case
  kWhere,     // likewise, but for a comparison that is forced; no speed-up across these
  kAlike,     // rows of one case that differ here do not measure the same thing
  kText,      // neither: what is said of the row
  kNumber,    // measured; may be absent, else finite and above 0
  kLater,     // as kText; files of earlier versions have no such column
};

struct FieldRow {
  Field field;
  const char* column;
  FieldRole role;
};

std::span<const FieldRow> fields();  // in the order of Field
inline constexpr size_t kNumFields = static_cast<size_t>(Field::kNumRounds) + 1;
// nullptr: a column that no comparison reads.
const FieldRow* field_of_column(const std::string& column);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_FIELDS_H_
