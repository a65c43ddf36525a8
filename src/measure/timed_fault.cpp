#include "src/measure/timed_fault.h"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "kernels/cpu/thread_pool.h"
#include "src/case/token_rows.h"
#include "src/math/diagnosis.h"
#include "src/math/reference.h"
#include "src/measure/judge.h"

namespace rope_bench {
namespace {

// The judge on the host: its first wrong unit. Empty if it finds none.
std::string first_wrong(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                        const RopeKernelArgs& view, int repeats) {
  const TokenRows rows = token_rows_of(c);
  JudgeArgs a;
  a.launch = view;
  a.repeats = repeats;
  a.positions = rows.table_rows.data();
  a.out_rows = rows.out_rows.data();
  a.table = table.values.data();
  a.table_row_stride = table.rotary_dim;
  allow_angles(variant, table.frequencies.attention_factor, &a);
  std::vector<std::byte> scratch(static_cast<size_t>(judge_scratch_bytes(a)));
  a.scratch = scratch.data();
  for (int64_t i = 0; i < judge_scale_units(a); ++i) judge_scale(a, i);
  for (int64_t i = 0; i < judge_units(a); ++i) {
    if (judge_unit(a, i)) continue;
    const judge::Unit unit = judge::unit_at(a, i);
    static constexpr const char* kNames[] = {"q", "k", "v"};
    return fmt::format("{}[token {}, head {}, dim{}]", kNames[unit.operand], unit.token, unit.head,
                       unit.pair ? fmt::format("s {} and {}", unit.first, unit.second)
                                 : fmt::format(" {}", unit.first));
  }
  return {};
}

}  // namespace

TimedFault look_at_timed(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                         CaseBuffers& buffers, int set, int repeats) {
  const RopeKernelArgs view = buffers.host_view(set);
  TimedFault fault;
  fault.diagnosis = to_diagnosis(evidence::kTimed);
  if (repeats > 1 && c.layout.in_place) {
    const std::string where = first_wrong(c, variant, table, view, repeats);
    if (!where.empty()) fault.where = fmt::format("{} after {} launches in place", where, repeats);
  } else {
    const Accuracy a = check_launch(c, variant, table, view, available_threads());
    if (a.worst && a.num_over > 0) {
      fault.where = to_text(*a.worst);
      const Diagnosis like = diagnose(c, variant, view, buffers.poison(), a.worst);
      if (!like.name.empty()) fault.diagnosis.text += fmt::format("; {}: {}", like.name, like.text);
    }
  }
  buffers.host_view(0);  // the set whose gaps are looked at: every restore() includes it
  return fault;
}

}  // namespace rope_bench
