#include "src/measure/case_check.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"
#include "src/case/token_rows.h"
#include "src/math/diagnosis.h"
#include "src/math/input_warnings.h"
#include "src/math/reference.h"
#include "src/math/token_sample.h"
#include "src/measure/invariants.h"

namespace rope_bench {
namespace {

// Empty: all.
std::vector<int64_t> compared_tokens(const RopeCase& c, int64_t most_elements) {
  const int64_t row = (c.num_heads + 2 * c.num_kv_heads) * c.head_dim;
  if (c.num_real_tokens() <= most_elements / row) return {};
  constexpr int64_t kFewest = 64;
  const int64_t most = std::max(most_elements / 8 / row, kFewest);
  if (c.num_real_tokens() <= most) return {};
  return sample_tokens(c, token_rows_of(c), most);
}

void look_for_invariants(Backend& backend, const RopeCase& c, const RopeVariant& variant,
                         const CosSinTable& table, const RopeKernelArgs& view, CaseBuffers& buffers,
                         Result* result) {
  result->invariants = find_invariants(backend, c, variant, table, view, buffers.args(0));
  const bool violated =
      std::any_of(result->invariants.begin(), result->invariants.end(),
                  [](const Invariant& one) { return one.holds == Holds::kViolated; });
  // Beside a passed check one of the two is wrong.
  if (violated && result->status == Status::kPassed)
    result->labels.emplace_back("invariant-violated");
}

void check_first(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                 const CheckOptions& options, CaseBuffers& buffers, int64_t judged,
                 Result* result) {
  const RopeKernelArgs view = buffers.host_view(0);
  const std::vector<int64_t> tokens = compared_tokens(c, options.most_elements);
  result->accuracy = check_launch(c, variant, table, view, available_threads(), tokens);
  // What is wrong is counted and located exactly, however long that takes.
  if (!tokens.empty() && (result->accuracy->num_over > 0 || judged > 0))
    result->accuracy = check_launch(c, variant, table, view, available_threads());
  const Accuracy& a = *result->accuracy;
  if (a.sampled) result->labels.emplace_back("sampled");
  if (a.num_over > 0) {
    fail(result, std::to_string(a.num_over) + " elements beyond their bound",
         diagnose(c, variant, view, buffers.poison(), a.worst));
  }
  if (a.table_max_abs > a.table_tolerance)
    fail(result, "the cos-sin table is beyond its bound", to_diagnosis(evidence::kTable));
  if (a.num_over == 0 && judged > 0) {
    throw DeviceError("the device's judge finds " + std::to_string(judged) +
                      " wrong pairs or elements where the reference finds none");
  }
  for (std::string& label : input_warnings(c, view)) result->labels.push_back(std::move(label));
}

}  // namespace

void fail(Result* result, const std::string& reason, const Diagnosis& diagnosis) {
  result->status = Status::kFailed;
  result->reason += (result->reason.empty() ? "" : "; ") + reason;
  if (result->diagnosis.name.empty()) result->diagnosis = diagnosis;
}

void check_damage(CaseBuffers& buffers, Result* result) {
  const Damage damage = buffers.find_damage();
  if (damage.evidence != nullptr) fail(result, damage.text, to_diagnosis(*damage.evidence));
}

bool check_case(Backend& backend, const RopeCase& c, const RopeVariant& variant,
                const CosSinTable& table, const CheckOptions& options, CaseBuffers& buffers,
                const std::function<bool()>& interrupted, Result* result) {
  result->status = Status::kPassed;
  RopeKernelArgs view{};
  for (int launch = 0; launch < 2; ++launch) {
    if (interrupted()) return false;
    if (launch == 1) buffers.negate_inputs();
    buffers.restore(1);
    backend.launch({&variant, buffers.args(0)});
    backend.synchronize();
    const int64_t judged = backend.judge(buffers.judge_args(variant, 0, 1));
    if (launch == 0) {
      check_first(c, variant, table, options, buffers, judged, result);
      continue;
    }
    // What find_damage() looks at is of the inputs as they are now.
    view = buffers.host_view(0);
    if (judged > 0) {
      fail(result, "the second launch is wrong in " + std::to_string(judged) + " pairs or elements",
           to_diagnosis(evidence::kSecond));
    }
  }
  check_damage(buffers, result);
  if (options.invariants) look_for_invariants(backend, c, variant, table, view, buffers, result);
  return true;
}

}  // namespace rope_bench
