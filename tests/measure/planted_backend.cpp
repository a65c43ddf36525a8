#include "tests/measure/planted_backend.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/case/errors.h"

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

class PlantedBackend : public Backend {
 public:
  PlantedBackend(int32_t (*start)(const RopeKernelArgs*), const std::atomic<bool>* lost)
      : real_(make_cpu_backend()), info_(real_->info()), rows_(cpu_fast()), lost_(lost) {
    // How fast is not the question here: a peak of little memory, and no cache is emptied.
    info_.l2_bytes = std::min<int64_t>(info_.l2_bytes, int64_t{4} << 20);
    for (RopeVariant& row : rows_) row.launch = start;
  }
  const DeviceInfo& info() const override { return info_; }
  std::span<const RopeVariant> variants() const override { return rows_; }
  std::span<const RopeVariant> limits() const override { return real_->limits(); }
  bool is_host() const override { return true; }
  void* stream() const override { return real_->stream(); }
  int num_threads() const override {
    return 1;
  }  // a busy machine makes threads wait for each other
  void* allocate(size_t bytes) override { return real_->allocate(bytes); }
  void release(void* memory) noexcept override { real_->release(memory); }
  size_t free_bytes() const override { return real_->free_bytes(); }
  size_t set_budget() const override { return std::min(real_->set_budget(), size_t{2} << 20); }
  void upload(void* to, const void* from, size_t bytes) override { real_->upload(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override {
    real_->download(to, from, bytes);
  }
  void replicate(const SetRange& to, const void* source) override { real_->replicate(to, source); }
  void fill(const SetRange& to, uint8_t pattern) override { real_->fill(to, pattern); }
  int64_t count_differences(const SetRange& in, const void* source) override {
    return real_->count_differences(in, source);
  }
  int64_t count_other_than(const SetRange& in, uint8_t pattern) override {
    return real_->count_other_than(in, pattern);
  }
  void flush_cache() override {}
  void synchronize() override {
    if (lost_ && *lost_) throw DeviceError("synchronize: an illegal memory access");
    real_->synchronize();
  }
  void launch(const Launch& launch) override { real_->launch(launch); }
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    return real_->record(launches);
  }
  double time(Window& window) override { return real_->time(window); }
  double time_isolated(const Launch& launch) override { return real_->time_isolated(launch); }
  double host_cost(const Launch& launch) override { return real_->host_cost(launch); }
  int64_t judge(const JudgeArgs& args) override { return real_->judge(args); }

 private:
  std::unique_ptr<Backend> real_;
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
