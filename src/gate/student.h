// Student's t distribution.
#ifndef ROPE_BENCH_SRC_GATE_STUDENT_H_
#define ROPE_BENCH_SRC_GATE_STUDENT_H_

namespace rope_bench {

// P(T > t) with so many degrees of freedom (above 0). t may be infinite.
double student_upper(double t, double degrees);
// The t that P(T > t) = upper belongs to; 0 < upper < 1.
double student_quantile(double upper, double degrees);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_GATE_STUDENT_H_
