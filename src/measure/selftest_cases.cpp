#include "src/measure/selftest_cases.h"

namespace rope_bench::selftest_cases {

RopeCase plain() {
  RopeCase c;
  c.name = "plain";
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.rope.rotary_dim = 32;
  c.rope.theta = 500000;
  c.tokens = 40;
  c.positions.offset = 3;
  c.max_position = 64;
  c.layout.in_place = false;
  c.measure.max_time_s = 0.001;
  return c;
}

RopeCase in_place() {
  RopeCase c = plain();
  c.name = "in_place";
  c.layout.in_place = true;
  c.measure.cache = {CacheMode::kWarm};  // launches repeat on a set
  return c;
}

RopeCase strided() {
  RopeCase c = in_place();
  c.name = "strided";
  c.layout.q.token_stride = 4 * 64 + 64;
  return c;
}

RopeCase float32() {
  RopeCase c = plain();
  c.name = "float32";
  c.dtype = Dtype::kF32;
  return c;
}

RopeCase special() {
  RopeCase c = plain();
  c.name = "special";
  c.data = DataKind::kSpecial;
  return c;
}

RopeCase yarn() {
  RopeCase c = plain();
  c.name = "yarn";
  c.rope.theta = 10000;
  c.rope.scaling.type = "yarn";
  c.rope.scaling.params = {{"factor", 4.0}, {"original_max_position_embeddings", 32.0}};
  return c;
}

RopeCase axes() {
  RopeCase c = plain();
  c.name = "axes";
  c.rope.axes = {"mrope", {8, 5, 3}};
  c.tokens = 6;
  c.positions.kind = PositionKind::kExplicit;
  c.positions.offset = 0;
  c.positions.axis_lists = {{1, 2, 3, 4, 5, 6}, {9, 7, 9, 7, 9, 7}, {20, 30, 40, 22, 32, 42}};
  c.positions.list = c.positions.axis_lists[0];
  return c;
}

RopeCase distant() {
  RopeCase c = float32();
  c.name = "distant";
  c.max_position = 131072;
  c.positions.kind = PositionKind::kExplicit;
  c.positions.offset = 0;
  c.tokens = 8;
  c.positions.list = {0, 1, 255, 4096, 65535, 65536, 131070, 131071};
  c.head_dim = c.rope.rotary_dim = 8;  // the table has many rows
  return c;
}

RopeCase tall() {
  RopeCase c = plain();
  c.name = "tall";
  c.num_heads = c.num_kv_heads = 1;
  c.head_dim = c.rope.rotary_dim = 8;
  c.tokens = 65600;
  c.max_position = 65700;
  return c;
}

RopeCase normed() {
  RopeCase c = plain();
  c.name = "normed";
  c.op = Op::kNormSplitRope;
  c.qkv_bias = true;
  c.norm.given = true;
  c.norm.eps = 0.25;
  c.norm.weight_offset = 1;
  return c;
}

RopeCase sequences() {
  RopeCase c = plain();
  c.name = "sequences";
  c.op = Op::kVarlenSplitRope;
  c.seq_lens = {3, 0, 5};
  c.tokens = 10;
  return c;
}

RopeCase backward() {
  RopeCase c = plain();
  c.name = "backward";
  c.op = Op::kRopeBackward;
  return c;
}

RopeCase timed() {
  RopeCase c = plain();
  c.name = "timed";
  c.tokens = 128;
  c.max_position = 1024;
  c.measure.cache = {CacheMode::kWarm};
  return c;
}

}  // namespace rope_bench::selftest_cases
