// The known ways to get an op wrong, one row each: how the reference is evaluated again, so that it
// computes what a kernel with that mistake would.
#ifndef ROPE_BENCH_SRC_MATH_MISTAKES_H_
#define ROPE_BENCH_SRC_MATH_MISTAKES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "kernels/kernel_api.h"
#include "src/case/rope_case.h"
#include "src/math/scaling.h"
#include "src/math/span.h"

namespace rope_bench {

// What a kernel takes for true. Begins as the truth; a mistake changes some of it.
struct Belief {
  RopeCase c;             // shapes, rotation, norm
  RopeKernelArgs launch;  // weights, bias, and where each operand is read
  int32_t precision = ROPE_PRECISION_FUSED;
  bool uses_table = true;
  int64_t shift = 0;                       // added to every position
  bool positions_are_tokens = false;       // the token's index is taken for its position
  std::optional<Frequencies> frequencies;  // absent: those of `c`
  int only_operand = -1;                   // 0, 1, 2: the mistake shows in q, k or v alone
  // Last, on cosines and sines as the reference has them (backward: sines negated already).
  std::function<void(judging::TokenAngles*)> turn;
  // After operands were built from `c` and `launch`.
  std::function<void(std::vector<judging::Operand>*)> operands;
  double roundings = 0;  // to the dtype, of both products, beyond those that are allowed
  // The head that is read for a head of k; null: itself.
  std::function<int64_t(int64_t head)> k_head;
};

struct KnownMistake {
  const char* name;
  const char* text;  // "the output looks like" + this
  // False: this mistake makes no difference here, or makes no sense.
  bool (*change)(Belief*);
};

// The specific ones first: what explains more outputs comes later.
std::span<const KnownMistake> evaluated_mistakes();

// Those that are seen without a reference: a launch that touched what it must not, an output that
// nobody wrote, a launch that differs from the one before.
struct Evidence {
  const char* name;
  const char* text;
};
namespace evidence {
inline constexpr Evidence kUnwritten = {"unwritten",
                                        "the output still holds what was there before"};
inline constexpr Evidence kNanLost = {"nan_lost", "a number stands where a NaN must"};
inline constexpr Evidence kOutside = {"wrote_outside", "something beside the outputs was written"};
inline constexpr Evidence kInput = {"changed_input", "the launch changed what it may only read"};
inline constexpr Evidence kPadding = {"wrote_padding", "rows of padding or gaps were written"};
inline constexpr Evidence kTable = {"table_off", "the cos-sin table itself is off"};
inline constexpr Evidence kSecond = {"second_launch",
                                     "right once: the second launch, of other values, is wrong"};
inline constexpr Evidence kTimed = {"timed_launches",
                                    "right when it is looked at, wrong while it is timed"};
inline constexpr Evidence kNone = {"none", "none of the known mistakes explains it"};
}  // namespace evidence
std::span<const Evidence> evidences();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_MISTAKES_H_
