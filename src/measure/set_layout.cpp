#include "src/measure/set_layout.h"

#include "src/case/operands.h"

namespace rope_bench {
namespace {

constexpr size_t kAlignment = 256;

size_t align(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

SetLayout layout_of(const RopeCase& c, bool uses_table, int64_t table_rows_used,
                    bool own_parameters) {
  SetLayout layout;
  layout.guards.push_back({0, SetLayout::kGuardBytes});
  size_t end = SetLayout::kGuardBytes;
  const auto add = [&](size_t bytes) {
    const SetLayout::Region region{end, bytes};
    // The guard begins at the very next byte; what follows it is aligned again.
    layout.guards.push_back(
        {end + bytes, align(end + bytes) + SetLayout::kGuardBytes - (end + bytes)});
    end = align(end + bytes) + SetLayout::kGuardBytes;
    return region;
  };
  const size_t size = info(c.dtype).size;
  const auto add_side = [&](const Side& side, std::vector<SetLayout::Region>* regions) {
    for (const OperandBuffer& buffer : side.buffers)
      regions->push_back(add(static_cast<size_t>(buffer.elements) * size));
  };
  const Operands operands = operands_of(c);
  add_side(operands.in, &layout.in);
  if (!operands.in_place) add_side(operands.out, &layout.out);
  if (own_parameters) {
    const std::array<size_t, kNumParameters> bytes =
        parameter_bytes(c, uses_table, table_rows_used);
    for (size_t i = 0; i < kNumParameters; ++i) {
      if (bytes[i] > 0) layout.parameters[i] = add(bytes[i]);
    }
  }
  layout.stride = end;
  return layout;
}

}  // namespace rope_bench
