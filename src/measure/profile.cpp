#include "src/measure/profile.h"

namespace rope_bench {

void profile_launch(Backend& backend, CaseBuffers& buffers, const RopeVariant& variant,
                    CacheMode cache) {
  buffers.restore(2);
  backend.launch({&variant, buffers.args(0)});
  const bool cold = cache == CacheMode::kCold;
  if (cold) backend.flush_cache();
  backend.synchronize();
  backend.profile({&variant, buffers.args(cold ? 1 : 0)});
}

}  // namespace rope_bench
