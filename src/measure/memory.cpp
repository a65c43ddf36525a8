#include "src/measure/memory.h"

#include <cstdio>
#include <string>

#include "src/case/errors.h"
#include "src/case/operands.h"
#include "src/measure/machine.h"

namespace rope_bench {
namespace {

constexpr size_t kHostReserve = size_t{64} << 20;

// "12 MB", "3.4 GB", "56.7 TB".
std::string memory_text(double bytes) {
  char text[64];
  const bool terabytes = bytes >= 1e12;
  if (bytes < 1e9) {
    std::snprintf(text, sizeof(text), "%.0f MB", bytes / 1e6);
  } else {
    std::snprintf(text, sizeof(text), "%.1f %s", bytes / (terabytes ? 1e12 : 1e9),
                  terabytes ? "TB" : "GB");
  }
  return text;
}

double tensor_bytes(const RopeCase& c) {
  const Operands operands = operands_of(c);
  double elements = static_cast<double>(operands.in.elements());
  if (!operands.in_place) elements += static_cast<double>(operands.out.elements());
  return elements * static_cast<double>(info(c.dtype).size);
}

}  // namespace

void require_host_memory(const RopeCase& c, bool reads_table, const Backend& backend) {
  // Of tensors, a pristine copy and two sets; or what goes to the device and what comes back. Of
  // the table, what is formed; where the device is the host, also what the judge and a kernel read.
  const double copies = backend.is_host() ? 3 : 2;
  const double tables = !backend.is_host() ? 1 : reads_table ? 3 : 2;
  const int64_t rows = kernel_table_rows_of(c);
  const double table =
      tables * static_cast<double>(rows) * static_cast<double>(c.rope.rotary_dim) * sizeof(float);
  const double need =
      copies * tensor_bytes(c) + table + 32.0 * static_cast<double>(c.num_tokens()) + kHostReserve;
  const auto have = static_cast<double>(available_memory_bytes());
  if (need <= have) return;
  const std::string why =
      table > need / 2 ? ", most of it for a table of " + std::to_string(rows) + " rows" : "";
  throw OutOfMemory("host memory: needs " + memory_text(need) + why + "; " + memory_text(have) +
                    " available");
}

void require_device_memory(const RopeCase& c, Backend& backend, const SetLayout& layout,
                           int num_sets) {
  if (backend.is_host()) return;
  const double need = static_cast<double>(layout.stride) * num_sets + tensor_bytes(c);
  const auto have = static_cast<double>(backend.free_bytes());
  if (need > have)
    throw OutOfMemory("device memory: needs " + memory_text(need) + ", " + memory_text(have) +
                      " free");
}

}  // namespace rope_bench
