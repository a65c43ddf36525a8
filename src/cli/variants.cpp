#include "src/cli/variants.h"

#include <algorithm>

namespace rope_bench {
namespace {

void append(const RopeVariant* (*registry)(size_t* count), std::vector<const RopeVariant*>& rows) {
  size_t count = 0;
  const RopeVariant* first = registry(&count);
  for (size_t i = 0; i < count; ++i) rows.push_back(first + i);
}

}  // namespace

std::vector<const RopeVariant*> variants() {
  std::vector<const RopeVariant*> rows;
#ifdef ROPE_BENCH_HAVE_CUDA
  append(rope_cuda_variants, rows);
#endif
  append(rope_cpu_variants, rows);
  return rows;
}

bool uses_table(const RopeCase& c) {
  const std::vector<const RopeVariant*> rows = variants();
  return std::none_of(rows.begin(), rows.end(), [&](const RopeVariant* row) {
    return row->op == static_cast<int32_t>(c.op) && row->name == c.variant && row->uses_table == 0;
  });
}

}  // namespace rope_bench
