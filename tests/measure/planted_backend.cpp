#include "tests/measure/planted_backend.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/case/errors.h"
#include "src/measure/forwarding_backend.h"

namespace rope_bench {
namespace {

// The CPU's `fast` of every op, in the order of ops.
const std::vector<RopeVariant>& cpu_fast() {
  static const std::vector<RopeVariant> kRows = [] {
    size_t count = 0;
    const RopeVariant* rows = rope_cpu_variants(&count);
    std::vector<RopeVariant> fast;
    for (int32_t op = ROPE_OP_ROPE; op <= ROPE_OP_SPLIT_ROPE_BACKWARD; ++op) {
      for (size_t i = 0; i < count; ++i) {
        if (rows[i].op == op && std::string(rows[i].name) == "fast") fast.push_back(rows[i]);
      }
    }
    return fast;
  }();
  return kRows;
}

class PlantedBackend : public ForwardingBackend {
 public:
  PlantedBackend(int32_t (*start)(const RopeKernelArgs*), const std::atomic<bool>* lost)
      : ForwardingBackend(make_cpu_backend()), rows_(cpu_fast()), lost_(lost) {
    // How fast is not the question here: a peak of little memory, and no cache is emptied.
    info_ = ForwardingBackend::info();
    info_.l2_bytes = std::min<int64_t>(info_.l2_bytes, int64_t{4} << 20);
    for (RopeVariant& row : rows_) row.launch = start;
  }
  const DeviceInfo& info() const override { return info_; }
  std::span<const RopeVariant> variants() const override { return rows_; }
  // A busy machine makes threads wait for each other.
  int num_threads() const override { return 1; }
  size_t set_budget() const override {
    return std::min(ForwardingBackend::set_budget(), size_t{2} << 20);
  }
  void flush_cache() override {}
  void synchronize() override {
    if (lost_ && *lost_) throw DeviceError("synchronize: an illegal memory access");
    ForwardingBackend::synchronize();
  }

 private:
  DeviceInfo info_;
  std::vector<RopeVariant> rows_;
  const std::atomic<bool>* lost_;
};

}  // namespace

std::unique_ptr<Backend> planted_backend(int32_t (*launch)(const RopeKernelArgs*),
                                         const std::atomic<bool>* lost) {
  return std::make_unique<PlantedBackend>(launch, lost);
}

int32_t right_launch(const RopeKernelArgs* args) {
  return cpu_fast().at(static_cast<size_t>(args->op)).launch(args);
}

}  // namespace rope_bench
