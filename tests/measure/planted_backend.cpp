#include "tests/measure/planted_backend.h"

#include <string>
#include <vector>

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
  explicit PlantedBackend(int32_t (*start)(const RopeKernelArgs*))
      : ForwardingBackend(make_cpu_backend()), rows_(cpu_fast()) {
    for (RopeVariant& row : rows_) row.launch = start;
  }
  std::span<const RopeVariant> variants() const override { return rows_; }

 private:
  std::vector<RopeVariant> rows_;
};

}  // namespace

std::unique_ptr<Backend> planted_backend(int32_t (*launch)(const RopeKernelArgs*)) {
  return std::make_unique<PlantedBackend>(launch);
}

int32_t right_launch(const RopeKernelArgs* args) {
  return cpu_fast().at(static_cast<size_t>(args->op)).launch(args);
}

}  // namespace rope_bench
