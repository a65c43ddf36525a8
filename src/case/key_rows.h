#ifndef ROPE_BENCH_SRC_CASE_KEY_ROWS_H_
#define ROPE_BENCH_SRC_CASE_KEY_ROWS_H_

#include <vector>

#include "src/case/keys.h"

namespace rope_bench {

std::vector<Key> key_rows(ScalingCatalog scalings);
std::vector<KeyGroup> group_rows();

// The row of one method's parameter: kind, range and words exactly as that method has them.
Key scaling_key(const ScalingParamSpec& param);
// rope.scaling.type, rope_type and every parameter that a method has.
void add_scaling_rows(ScalingCatalog scalings, std::vector<Key>* rows);
// Makes *key allow what `other` does too.
void widen(const Key& other, Key* key);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_KEY_ROWS_H_
