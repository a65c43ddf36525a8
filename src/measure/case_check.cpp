#include "src/measure/case_check.h"

#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"
#include "src/math/diagnosis.h"
#include "src/math/input_warnings.h"
#include "src/math/reference.h"

namespace rope_bench {
namespace {

void check_first(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                 CaseBuffers& buffers, int64_t judged, Result* result) {
  const RopeKernelArgs view = buffers.host_view(0);
  result->accuracy = check_launch(c, variant, table, view, available_threads());
  const Accuracy& a = *result->accuracy;
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
                const CosSinTable& table, CaseBuffers& buffers,
                const std::function<bool()>& interrupted, Result* result) {
  result->status = Status::kPassed;
  for (int launch = 0; launch < 2; ++launch) {
    if (interrupted()) return false;
    if (launch == 1) buffers.negate_inputs();
    buffers.restore(1);
    backend.launch({&variant, buffers.args(0)});
    backend.synchronize();
    const int64_t judged = backend.judge(buffers.judge_args(variant, 0, 1));
    if (launch == 0) {
      check_first(c, variant, table, buffers, judged, result);
      continue;
    }
    // What find_damage() looks at is of the inputs as they are now.
    buffers.host_view(0);
    if (judged > 0) {
      fail(result, "the second launch is wrong in " + std::to_string(judged) + " pairs or elements",
           to_diagnosis(evidence::kSecond));
    }
  }
  check_damage(buffers, result);
  return true;
}

}  // namespace rope_bench
