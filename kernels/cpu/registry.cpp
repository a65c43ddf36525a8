#include "kernels/kernel_api.h"

const RopeVariant* rope_cpu_variants(size_t* count) {
  *count = 0;
  return nullptr;
}

const RopeVariant* rope_cpu_limits(size_t* count) {
  *count = 0;
  return nullptr;
}
