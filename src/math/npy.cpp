#include "src/math/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "src/case/errors.h"

namespace rope_bench {
namespace {

// The text behind 'key': in the header, a Python dict literal.
std::string header_value(const std::string& header, const std::string& key) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) return {};
  size_t begin = at + key.size() + 3;
  while (begin < header.size() && header[begin] == ' ') ++begin;
  const size_t end = header[begin] == '(' ? header.find(')', begin) : header.find(',', begin);
  return header.substr(begin, end == std::string::npos ? end : end - begin);
}

// "(2, 3, 4" -> {2, 3, 4}. Empty and false for anything else, or beyond 2^40 elements.
bool parse_shape(const std::string& text, std::vector<int64_t>* shape, int64_t* count) {
  constexpr int64_t kLimit = int64_t{1} << 40;
  if (text.empty() || text[0] != '(') return false;
  *count = 1;
  int64_t number = -1;
  const auto finish = [&] {
    if (number < 0) return true;
    shape->push_back(number);
    if (number != 0 && *count > kLimit / number) return false;
    *count *= number;
    number = -1;
    return true;
  };
  for (const char c : text.substr(1)) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      number = (number < 0 ? 0 : number) * 10 + (c - '0');
      if (number > kLimit) return false;
    } else if (c == ',') {
      if (!finish()) return false;
    } else if (c != ' ') {
      return false;
    }
  }
  return finish();
}

template <typename T>
std::vector<double> numbers(const std::string& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

}  // namespace

NpyFile read_npy_file(const std::string& path, const std::vector<std::string>& types,
                      const std::string& expected) {
  static_assert(std::endian::native == std::endian::little);
  const auto fail = [&](const std::string& what) -> void {
    throw ConfigError(fmt::format("{}: {}", path, what));
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail("is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::string("cannot be opened: ") + std::strerror(errno));
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0) fail("is not a .npy file");
  const bool short_length = byte(6) == 1;
  const size_t start = short_length ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (!short_length) length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() < start + length) fail("is cut off in its header");

  const std::string header = bytes.substr(start, length);
  const std::string type = header_value(header, "descr");
  const auto known = std::find_if(types.begin(), types.end(), [&](const std::string& allowed) {
    return type == "'" + allowed + "'";
  });
  if (known == types.end()) fail(fmt::format("holds {}, expected {}", type, expected));
  if (header_value(header, "fortran_order") != "False")
    fail("is in Fortran order, expected C order");
  NpyFile array;
  array.type = *known;
  int64_t count = 0;
  if (!parse_shape(header_value(header, "shape"), &array.shape, &count))
    fail("has no usable shape");
  const auto size = static_cast<size_t>(known->back() - '0');
  if (bytes.size() != start + length + static_cast<size_t>(count) * size) {
    fail(fmt::format("holds {} bytes of data, its shape needs {}", bytes.size() - start - length,
                     static_cast<size_t>(count) * size));
  }
  array.bytes = bytes.substr(start + length);
  return array;
}

NpyArray read_npy(const std::string& path) {
  NpyFile file = read_npy_file(path, {"<f4", "<f8"}, "'<f4' or '<f8' (float32 or float64)");
  return {std::move(file.shape),
          file.type == "<f4" ? numbers<float>(file.bytes) : numbers<double>(file.bytes)};
}

}  // namespace rope_bench
