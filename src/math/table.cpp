#include "src/math/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"
#include "src/math/angles.h"
#include "src/math/numeric.h"

namespace rope_bench {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 31;
constexpr size_t kCachedBytes = size_t{256} << 20;

void store_row(Dtype dtype, const std::vector<double>& from, float* to) {
  if (dtype == Dtype::kF32) {
    std::transform(from.begin(), from.end(), to, [](double x) { return static_cast<float>(x); });
  } else {
    std::transform(from.begin(), from.end(), to,
                   [dtype](double x) { return static_cast<float>(round_to(dtype, x)); });
  }
}

}  // namespace

void cos_sin_row(const Frequencies& f, TableAngle angle, int64_t position, double* cosines,
                 double* sines) {
  AngleRows(f, angle).row(position, cosines, sines);
}

CosSinTable build_table(const Frequencies& f, TableAngle angle, int64_t rows, int num_threads,
                        Dtype dtype, std::shared_ptr<const RowRule> rule) {
  if (rows < 0 || rows > kMaxRows) {
    throw ConfigError(
        fmt::format("rope.table.rows: {} is out of range, allowed: 0 to {}", rows, kMaxRows));
  }
  const int64_t pairs = static_cast<int64_t>(f.exact.size());
  CosSinTable table;
  table.rows = rows;
  table.rotary_dim = static_cast<int32_t>(2 * pairs);
  table.angle = angle;
  table.dtype = dtype;
  table.frequencies = f;
  table.rule = std::move(rule);
  try {
    table.values.resize(static_cast<size_t>(rows * 2 * pairs));
  } catch (const std::exception&) {  // bad_alloc, or length_error beyond what a vector can count
    throw OutOfMemory(
        fmt::format("a cos-sin table of {} x {} floats does not fit in memory", rows, 2 * pairs));
  }
  const AngleRows angles(f, angle, table.rule);
  parallel_for(num_threads, rows, 64, [&](int64_t begin, int64_t end) {
    std::vector<double> row(static_cast<size_t>(2 * pairs));
    for (int64_t position = begin; position < end; ++position) {
      angles.row(position, row.data(), row.data() + pairs);
      store_row(dtype, row, table.values.data() + position * 2 * pairs);
    }
  });
  return table;
}

std::vector<std::byte> stored_rows(const CosSinTable& table, int64_t rows, int num_threads) {
  const size_t size = info(table.dtype).size;
  const int64_t r = table.rotary_dim;
  std::vector<std::byte> bytes(static_cast<size_t>(rows * r) * size);
  parallel_for(num_threads, rows, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * r; i < end * r; ++i) {
      store_rounded(table.dtype, bytes.data(), i, table.values[static_cast<size_t>(i)]);
    }
  });
  return bytes;
}

namespace {

bool same_rule(const RowRule* a, const RowRule* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace

std::shared_ptr<const CosSinTable> TableCache::get(const RopeCase& c, int num_threads) {
  const Frequencies f = frequencies_of(c);
  const TableSpec& spec = c.rope.table;
  const std::shared_ptr<const RowRule> rule = row_rule_of(c);
  const int64_t rows = kernel_table_rows_of(c);
  const auto found = std::find_if(tables_.begin(), tables_.end(), [&](const auto& table) {
    return table->rows == rows && table->angle == spec.angle && table->dtype == spec.dtype &&
           table->frequencies == f && same_rule(table->rule.get(), rule.get());
  });
  if (found != tables_.end()) {
    std::rotate(tables_.begin(), found, found + 1);
  } else {
    tables_.insert(tables_.begin(), std::make_shared<const CosSinTable>(build_table(
                                        f, spec.angle, rows, num_threads, spec.dtype, rule)));
  }
  size_t kept = 0;
  for (size_t i = 1; i < tables_.size(); ++i) {
    kept += tables_[i]->values.size() * sizeof(float);
    if (kept > kCachedBytes) {
      tables_.resize(i);
      break;
    }
  }
  return tables_.front();
}

}  // namespace rope_bench
