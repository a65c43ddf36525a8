#include "src/measure/selftest_faults.h"

#include <algorithm>
#include <utility>

#include "src/measure/planting.h"
#include "src/measure/selftest_cases.h"

namespace rope_bench {
namespace {

using namespace selftest_cases;
using namespace planting;  // this file is their table
using enum PlantedFault::Device;

constexpr const char* kOver = "beyond their bound";
constexpr const char* kSecond = "second launch is wrong";
constexpr const char* kTimed = "timed launches are wrong";
constexpr const char* kGuard = "guard band";

const PlantedFault kFaults[] = {
    // What is computed.
    {"other_pairing", "the pairs of the other pairing", in_place, changed<other_pairing>, kOver,
     "other_pairing"},
    {"negated_sin", "sines negated", in_place,
     with_table<[](float*, float* s) { *s = -*s; }>, kOver, "negated_sin"},
    {"gradient_forward", "a gradient turned forward", backward,
     with_table<[](float*, float* s) { *s = -*s; }>, kOver, "negated_sin"},
    {"position_plus_one", "every position one too large", plain, shifted<1>, kOver,
     "position_plus_one"},
    {"position_minus_one", "every position one too small", plain, shifted<-1>, kOver,
     "position_minus_one"},
    {"token_index", "the token's index taken for its position", plain, shifted<-3>, kOver,
     "token_index"},
    {"halves_swapped", "cosines read as sines", plain,
     with_table<[](float* c, float* s) { std::swap(*c, *s); }>, kOver, "halves_swapped"},
    {"cos_for_sin", "cosines copied into sines", plain,
     with_table<[](float* c, float* s) { *s = *c; }>, kOver, "cos_for_sin"},
    {"not_rotated", "inputs passed on", plain,
     with_table<[](float* c, float* s) { *c = 1, *s = 0; }>, kOver, "not_rotated"},
    {"rotated_twice", "the rotation applied twice in place", in_place,
     [](L& l) { l.run(), l.run(); }, kOver, "rotated_twice"},
    {"attention_factor_missing", "the attention factor left out", yarn,
     [](L& l) { scale_table(l, 1 / attention_factor(l)); }, kOver, "attention_factor_missing"},
    {"attention_factor_squared", "the attention factor applied twice", yarn,
     [](L& l) { scale_table(l, attention_factor(l)); }, kOver, "attention_factor_squared"},
    {"attention_factor_doubled", "twice the attention factor", yarn,
     [](L& l) { scale_table(l, 2); }, kOver, "attention_factor_doubled"},
    {"denominator_head_dim", "exponents over head_dim", plain, wrong_denominator, kOver,
     "denominator_head_dim"},
    {"rotary_dim_is_head_dim", "the whole head rotated", plain,
     with_table_of<[](RopeCase* c) { c->rope.rotary_dim = c->head_dim; }>, kOver,
     "rotary_dim_is_head_dim"},
    {"rotary_dim_halved", "half of rotary_dim rotated", plain,
     with_table_of<[](RopeCase* c) { c->rope.rotary_dim /= 2; }>, kOver, "rotary_dim_halved"},
    {"stale_table", "the table of the model before, base 10000", plain,
     with_table_of<[](RopeCase* c) { c->rope.theta = 10000; }>, kOver, "theta_default"},
    {"scaling_missing", "frequencies without their scaling", yarn,
     with_table_of<[](RopeCase* c) { c->rope.scaling = {}; }>, kOver, "scaling_missing"},
    {"section_order", "sections of the axes reversed", axes,
     with_table_of<[](RopeCase* c) {
       std::reverse(c->rope.axes.section.begin(), c->rope.axes.section.end());
     }>,
     kOver, "section_order"},
    {"axis_order", "positions of two axes exchanged", axes,
     with_table_of<[](RopeCase* c) {
       std::swap(c->positions.axis_lists[1], c->positions.axis_lists[2]);
     }>,
     kOver, "axis_order"},
    {"axes_interleaved", "axes interleaved instead of contiguous", axes,
     with_table_of<[](RopeCase* c) { c->rope.axes.kind = "mrope_interleaved"; }>, kOver,
     "axes_interleaved"},
    {"norm_order", "the norm after the rotation", normed,
     changed<[](RopeKernelArgs* a) { a->norm_after = 1; }>, kOver, "norm_order"},
    {"norm_missing", "no norm", normed,
     [](L& l) {
       l.args.op = ROPE_OP_SPLIT_ROPE;
       l.args.norm = ROPE_NORM_NONE;
       l.run();
     },
     kOver, "norm_missing"},
    {"eps_missing", "no eps to speak of", normed,
     changed<[](RopeKernelArgs* a) { a->norm_eps = 1e-30f; }>, kOver, "eps_missing"},
    {"weight_offset", "w instead of 1 + w", normed,
     changed<[](RopeKernelArgs* a) { a->weight_offset = 0; }>, kOver, "weight_offset"},
    {"weights_missing", "no weights", normed,
     changed<[](RopeKernelArgs* a) { a->q_weight = a->k_weight = nullptr; }>, kOver,
     "weights_missing"},
    {"weights_swapped", "weights of q and k exchanged", normed,
     changed<[](RopeKernelArgs* a) { std::swap(a->q_weight, a->k_weight); }>, kOver,
     "weights_swapped"},
    {"bias_missing", "no bias", normed, changed<[](RopeKernelArgs* a) { a->bias = nullptr; }>,
     kOver, "bias_missing"},
    {"v_normalised", "the norm reaches v", normed, normalise_v<false>, kOver, "v_normalised"},
    {"v_normalised_as_k", "v takes the norm of k", normed, normalise_v<true>, kOver,
     "v_normalised_as_k"},
    // What is read.
    {"k_head_of_query", "heads of k found as those of q", plain,
     changed<[](RopeKernelArgs* a) { a->k.in_head_stride = 0; }>, kOver, "k_head_of_query"},
    {"k_from_q", "k computed from q", plain,
     changed<[](RopeKernelArgs* a) {
       a->k.in = a->q.in;
       a->k.in_token_stride = a->q.in_token_stride;
     }>,
     kOver, "k_from_q"},
    {"transposed", "tokens and heads exchanged", plain,
     changed<[](RopeKernelArgs* a) {
       for (RopeTensor* t : {&a->q, &a->k}) {
         t->in_token_stride = a->head_dim;
         t->in_head_stride = a->num_tokens * a->head_dim;
       }
     }>,
     kOver, "transposed"},
    {"read_behind", "the last element read one too far: out of bounds", distant,
     [](L& l) {
       l.rotate(
           [](Pair* p) {
             const float x = p->x;
             p->x = x * p->cosine - p->y * p->sine;
             p->y = p->y * p->cosine + x * p->sine;
           },
           true);
     },
     kOver, "none"},
    // How it is computed.
    {"float32_angle", "float32 angles where exact ones were promised", distant,
     with_table_of<[](RopeCase* c) { c->rope.table.angle = TableAngle::kFloat32; }>, kOver,
     "float32_angle"},
    {"fast_math", "float32 angles with fast trigonometry", distant, fast_trigonometry, kOver,
     "fast_math"},
    {"table_bf16", "a bf16 table where float32 was promised", plain,
     with_table<[](float* c, float* s) { *c = in_bf16(*c), *s = in_bf16(*s); }>, kOver,
     "table_bf16"},
    {"table_f16", "an f16 table where float32 was promised", float32,
     with_table<[](float* c, float* s) {
       *c = static_cast<float>(round_to(Dtype::kF16, *c));
       *s = static_cast<float>(round_to(Dtype::kF16, *s));
     }>,
     kOver, "table_f16"},
    {"second_rounding", "products rounded to bf16 before they are added", plain,
     on_host<[](Pair* p) {
       const float x = p->x;
       p->x = in_bf16(x * p->cosine) - in_bf16(p->y * p->sine);
       p->y = in_bf16(p->y * p->cosine) + in_bf16(x * p->sine);
     }>,
     kOver, "second_rounding"},
    {"dtype_arithmetic", "everything in bf16", plain,
     on_host<[](Pair* p) {
       const float x = p->x, c = in_bf16(p->cosine), s = in_bf16(p->sine);
       p->x = in_bf16(x * c) - in_bf16(p->y * s);
       p->y = in_bf16(p->y * c) + in_bf16(x * s);
     }>,
     kOver, "dtype_arithmetic"},
    {"nan_lost", "0 instead of a NaN", special,
     [](L& l) {
       l.run();
       l.change_outputs([](double x) { return std::isnan(x) ? 0 : x; });
     },
     kOver, "nan_lost"},
    {"race", "y' computed from x', which came first", in_place,
     on_host<[](Pair* p) {
       p->x = p->x * p->cosine - p->y * p->sine;
       p->y = p->y * p->cosine + p->x * p->sine;
     }>,
     kOver, "none"},
    // What is left out.
    {"nothing_written", "no work at all", plain, [](L&) {}, kOver, "unwritten"},
    {"stale_output", "no work at all, in place", in_place, [](L&) {}, kOver, "not_rotated"},
    {"unwritten_tail", "the last token is not written", plain,
     [](L& l) { l.run_tokens(0, l.args.num_tokens - 1); }, kOver, "unwritten"},
    {"half_of_heads", "half of the heads of q", plain,
     changed<[](RopeKernelArgs* a) { a->q.num_heads /= 2; }>, kOver, "unwritten"},
    {"half_of_tokens", "half of the tokens", in_place,
     [](L& l) { l.run_tokens(0, l.args.num_tokens / 2); }, kOver, "not_rotated"},
    {"beyond_65535", "no token from 65536 on", tall, [](L& l) { l.run_tokens(0, 65536); }, kOver,
     "unwritten"},
    {"last_token", "only the last token is wrong", plain,
     [](L& l) { then_wrong<other_pairing>(l, l.args.num_tokens - 1, l.args.num_tokens); }, kOver,
     "other_pairing"},
    {"one_head", "only head 2 of q is wrong", plain,
     [](L& l) {
       l.run();
       RopeKernelArgs one = l.args;
       one.q.num_heads = 1;
       one.q.in = static_cast<const uint16_t*>(one.q.in) + 2 * one.q.in_head_stride;
       one.q.out = static_cast<uint16_t*>(one.q.out) + 2 * one.q.out_head_stride;
       one.k = one.q;
       other_pairing(&one);
       l.run(one);
     },
     kOver, "other_pairing"},
    {"one_dim", "only dim 5 of one row is wrong", float32,
     [](L& l) {
       l.run();
       l.change_output(l.args.q, 7, 1, 5, [](double x) { return x * (1 + 0x1p-10); });
     },
     kOver, "none"},
    // When.
    {"second_launch", "the second launch does nothing", plain,
     [](L& l) {
       if (l.memory.launches == 0) l.run();
     },
     kSecond, "second_launch"},
    {"cached_output", "the output of the first launch for a pointer seen before", plain, cached,
     kSecond, "second_launch"},
    {"seen_pointer", "no work on a pointer seen before", in_place, seen_pointer, kSecond,
     "second_launch"},
    {"timed_skips", "every third launch does nothing, once the check is over", plain,
     [](L& l) {
       if (l.memory.launches < 2 || l.memory.launches % 3 != 0) l.run();
     },
     kTimed, "timed_launches"},
    {"timed_in_place", "the same in place", in_place,
     [](L& l) {
       if (l.memory.launches < 2 || l.memory.launches % 3 != 0) l.run();
     },
     kTimed, "timed_launches"},
    {"timed_part", "the last token is left out, once the check is over", normed,
     [](L& l) { l.run_tokens(0, l.args.num_tokens - (l.memory.launches < 2 ? 0 : 1)); }, kTimed,
     "timed_launches"},
    {"overlapping_split", "two parts both rotate the token between them", in_place,
     [](L& l) { l.run_tokens(0, 21), l.run_tokens(20, l.args.num_tokens); }, kOver,
     "rotated_twice"},
    {"missing_join", "the second half is done after the launch was over", plain,
     [](L& l) { run_late(l, l.args.num_tokens / 2); }, kOver, "unwritten", kCpu},
    {"wrong_stream", "all work is done after the launch was over", plain,
     [](L& l) { run_late(l, 0); }, kOver, "unwritten", kCuda},
    {"missing_synchronisation", "the last quarter is done after the launch was over", plain,
     [](L& l) { run_late(l, l.args.num_tokens * 3 / 4); }, kOver, "unwritten"},
    // What must not be touched.
    {"write_behind", "one element behind an output", plain,
     [](L& l) {
       l.run();
       l.touch(l.args.k.out, l.args.num_tokens * l.args.k.out_token_stride);
     },
     kGuard, "wrote_outside"},
    {"write_before", "one element before an output", in_place,
     [](L& l) {
       l.run();
       l.touch(l.args.q.out, -1);
     },
     kGuard, "wrote_outside"},
    {"write_gap", "an element between two rows", strided,
     [](L& l) {
       l.run();
       l.touch(l.args.q.out, 4 * 64 + 1);
     },
     "gaps", "wrote_padding"},
    {"write_padding", "a row of padding", sequences,
     [](L& l) {
       l.run();
       l.touch(l.args.q.out, 9 * l.args.q.out_token_stride);
     },
     "rows of padding", "wrote_padding"},
    {"changed_input", "the input is changed", plain,
     [](L& l) {
       l.run();
       l.touch(l.args.q.in, 70);
     },
     "changed its input", "changed_input"},
    {"changed_table", "the table is changed behind what this launch reads", distant,
     [](L& l) {
       l.run();
       l.touch(l.args.table, 2 * 1000);
     },
     "changed the table", "changed_input"},
    {"pass_through", "a dim that does not rotate loses a bit", in_place,
     [](L& l) {
       l.run();
       l.touch(l.args.k.out, 33);
     },
     kOver, "none"},
};

const PlantedFault kRight[] = {
    {"plain", "", plain, nullptr, "", ""},         {"in_place", "", in_place, nullptr, "", ""},
    {"strided", "", strided, nullptr, "", ""},     {"float32", "", float32, nullptr, "", ""},
    {"special", "", special, nullptr, "", ""},     {"yarn", "", yarn, nullptr, "", ""},
    {"axes", "", axes, nullptr, "", ""},           {"distant", "", distant, nullptr, "", ""},
    {"tall", "", tall, nullptr, "", ""},           {"normed", "", normed, nullptr, "", ""},
    {"sequences", "", sequences, nullptr, "", ""}, {"backward", "", backward, nullptr, "", ""},
};

}  // namespace

std::span<const PlantedFault> planted_faults() { return kFaults; }
std::span<const PlantedFault> right_kernels() { return kRight; }

}  // namespace rope_bench
