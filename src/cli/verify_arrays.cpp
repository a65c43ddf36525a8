#include "src/cli/verify_arrays.h"

#include <fmt/format.h>

#include <cstring>

#include "src/case/errors.h"
#include "src/math/npy.h"
#include "src/math/numeric.h"

namespace rope_bench {
namespace {

double float_at(const NpyFile& file, size_t i) {
  if (file.type == "<f4")
    return load_as_double(Dtype::kF32, file.bytes.data(), static_cast<int64_t>(i));
  if (file.type == "<f2")
    return load_as_double(Dtype::kF16, file.bytes.data(), static_cast<int64_t>(i));
  double value;
  std::memcpy(&value, file.bytes.data() + i * sizeof(value), sizeof(value));
  return value;
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

void refuse_file(const char* flag, const std::string& path, const std::string& what) {
  throw ConfigError(fmt::format("{} {}: {}", flag, path, what));
}

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

std::vector<int64_t> read_positions_of(const char* flag, const std::string& path,
                                       std::vector<int64_t>* shape) {
  const NpyFile file = read_npy_file(path, {"<i4", "<i8"}, "'<i4' or '<i8' (int32 or int64)");
  *shape = file.shape;
  std::vector<int64_t> values(static_cast<size_t>(count_of(file.shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    int32_t narrow;
    if (file.type == "<i4") {
      std::memcpy(&narrow, file.bytes.data() + i * sizeof(narrow), sizeof(narrow));
      values[i] = narrow;
    } else {
      std::memcpy(&values[i], file.bytes.data() + i * sizeof(values[i]), sizeof(values[i]));
    }
    if (values[i] >= int64_t{1} << 31)
      refuse_file(flag, path, fmt::format("position {} is above 2147483647", values[i]));
  }
  return values;
}

FileTensor read_elements(const char* flag, const std::string& path, Dtype dtype) {
  const DtypeInfo& kind = info(dtype);
  std::vector<std::string> types = {"<f4", "<f8"};
  std::string expected = "'<f4' (float32)";
  if (dtype == Dtype::kF16) {
    types.push_back("<f2");
    expected = "'<f2' (float16), or '<f4' of float16 numbers";
  } else if (dtype == Dtype::kBF16) {
    types.push_back("<u2");
    expected = "'<u2' (bits of bfloat16), or '<f4' of bfloat16 numbers";
  }
  const NpyFile file = read_npy_file(
      path, types, fmt::format("{}: {} is of dtype {} in the config", expected, flag, kind.name));
  FileTensor t{file.shape, {}};
  const auto count = static_cast<size_t>(count_of(file.shape));
  t.data.resize(count * static_cast<size_t>(kind.size));
  const bool same = file.type == (dtype == Dtype::kF32   ? "<f4"
                                  : dtype == Dtype::kF16 ? "<f2"
                                                         : "<u2");
  if (same) {
    std::memcpy(t.data.data(), file.bytes.data(), t.data.size());
    return t;
  }
  for (size_t i = 0; i < count; ++i) {
    const double value = float_at(file, i);
    store_rounded(dtype, t.data.data(), static_cast<int64_t>(i), value);
    const double stored = load_as_double(dtype, t.data.data(), static_cast<int64_t>(i));
    if (stored != value && !(value != value))
      refuse_file(flag, path,
                  fmt::format("element {} is {}, no number of dtype {}, which the config gives; "
                              "--set dtype=... names another one",
                              i, value, kind.name));
  }
  return t;
}

std::vector<double> read_floats(const std::string& path, std::vector<int64_t>* shape) {
  const NpyFile file = read_npy_file(path, {"<f4", "<f8", "<f2"},
                                     "'<f4', '<f8' or '<f2' (float32, float64 or float16)");
  *shape = file.shape;
  std::vector<double> values(static_cast<size_t>(count_of(file.shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float_at(file, i);
  return values;
}

}  // namespace rope_bench
