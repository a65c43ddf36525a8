// --set and --axis as settings to lay over a config.
#ifndef ROPE_BENCH_SRC_CASE_FLAGS_H_
#define ROPE_BENCH_SRC_CASE_FLAGS_H_

#include <deque>

#include "src/case/config.h"
#include "src/case/settings.h"

namespace rope_bench {

// Keeps texts and nodes where they are while settings point at them.
struct Arena {
  std::deque<Source> sources;
  std::deque<Node> nodes;
};

// All flags as one layer, in the order set, axis, seed, seq_len. A flag given twice for a key: the
// last one counts. Throws ConfigError naming the flag.
Settings flag_settings(const KeyTable& table, const Overrides& overrides, Arena* arena);

// The values of --axis as a list node: `1,8,64`, `1-64*2`, `1-64+8`, `[1,8,64]`, `[1:64:*2]`,
// `[1:64:8]`; both ends belong to a range.
Node axis_values(const Source& flag, const std::string& values);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_FLAGS_H_
