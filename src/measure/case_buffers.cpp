#include "src/measure/case_buffers.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

constexpr uint8_t kGuardPattern = 0xa5;
constexpr size_t kAlignment = 256;

size_t align(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t element_bytes(const RopeCase& c) { return info(c.dtype).size; }

size_t table_row_bytes(const RopeCase& c) {
  return static_cast<size_t>(c.rope.rotary_dim) * info(c.rope.table.dtype).size;
}

// Packed [num_tokens, heads, head_dim].
TensorExtent packed(const RopeCase& c, int64_t heads) {
  return extent_of(c, TensorLayout{}, heads);
}

int64_t rows_used(const std::vector<int64_t>& positions) {
  return positions.empty() ? 1 : *std::max_element(positions.begin(), positions.end()) + 1;
}

std::vector<std::byte> position_bytes(const std::vector<int64_t>& positions, int bits) {
  const size_t width = static_cast<size_t>(bits) / 8;
  std::vector<std::byte> bytes(std::max<size_t>(positions.size() * width, 16));
  for (size_t i = 0; i < positions.size(); ++i) {
    if (bits == 64) {
      std::memcpy(&bytes[i * width], &positions[i], width);
    } else {
      const auto narrow = static_cast<int32_t>(positions[i]);
      std::memcpy(&bytes[i * width], &narrow, width);
    }
  }
  return bytes;
}

}  // namespace

SetLayout layout_of(const RopeCase& c, int64_t table_rows_used, bool own_table) {
  SetLayout layout;
  size_t end = 0;
  const auto add_guard = [&] {
    layout.guards.push_back({end, SetLayout::kGuardBytes});
    end += SetLayout::kGuardBytes;
  };
  const auto add = [&](size_t bytes) {
    const SetLayout::Region region{end, bytes};
    // The guard begins at the very next byte; what follows it is aligned again.
    layout.guards.push_back(
        {end + bytes, align(end + bytes) + SetLayout::kGuardBytes - (end + bytes)});
    end = align(end + bytes) + SetLayout::kGuardBytes;
    return region;
  };
  const size_t size = element_bytes(c);
  const auto tensor_bytes = [&](const TensorExtent& extent) {
    return static_cast<size_t>(extent.elements) * size;
  };
  add_guard();
  layout.q_in = add(tensor_bytes(extent_of(c, c.layout.q, c.num_heads)));
  layout.k_in = add(tensor_bytes(extent_of(c, c.layout.k, c.num_kv_heads)));
  if (!c.layout.in_place) {
    layout.q_out = add(tensor_bytes(packed(c, c.num_heads)));
    layout.k_out = add(tensor_bytes(packed(c, c.num_kv_heads)));
  }
  if (own_table) {
    layout.table = add(static_cast<size_t>(table_rows_used) * table_row_bytes(c));
    layout.positions = add(static_cast<size_t>(c.num_tokens() * c.positions.bits / 8));
  }
  layout.stride = end;
  return layout;
}

CaseBuffers::CaseBuffers(Backend& backend, const RopeCase& c, const CosSinTable& table,
                         const std::vector<int64_t>& positions, int num_sets, bool own_tables)
    : backend_(backend),
      case_(c),
      num_sets_(num_sets),
      own_tables_(own_tables),
      table_rows_(rows_used(positions)),
      layout_(layout_of(c, table_rows_, own_tables)),
      attention_factor_(table.frequencies.attention_factor) {
  q_.id = TensorId::kQ;
  q_.heads = c.num_heads;
  q_.in = extent_of(c, c.layout.q, c.num_heads);
  q_.in_region = layout_.q_in;
  q_.out_region = layout_.q_out;
  k_.id = TensorId::kK;
  k_.heads = c.num_kv_heads;
  k_.in = extent_of(c, c.layout.k, c.num_kv_heads);
  k_.in_region = layout_.k_in;
  k_.out_region = layout_.k_out;
  for (Operand* operand : {&q_, &k_})
    operand->out = c.layout.in_place ? operand->in : packed(c, operand->heads);

  sets_ = DeviceMemory(backend, layout_.stride * static_cast<size_t>(num_sets));
  backend.fill({sets_.data(), 0, 1, layout_.stride * static_cast<size_t>(num_sets)}, kGuardPattern);
  make_inputs(q_);
  make_inputs(k_);

  const size_t used = static_cast<size_t>(table_rows_) * table_row_bytes(c);
  const std::vector<std::byte> position_data = position_bytes(positions, c.positions.bits);
  table_ = DeviceMemory(backend, used);
  if (table.dtype == Dtype::kF32) {  // as it lies
    backend.upload(table_.data(), table.values.data(), used);
  } else {
    backend.upload(table_.data(), stored_rows(table, table_rows_, available_threads()).data(),
                   used);
  }
  positions_ = DeviceMemory(backend, position_data.size());
  backend.upload(positions_.data(), position_data.data(), position_data.size());
  judge_positions_ = DeviceMemory(backend, positions.size() * sizeof(int64_t));
  backend.upload(judge_positions_.data(), positions.data(), positions.size() * sizeof(int64_t));
  if (own_tables) {
    backend.replicate(range(layout_.table, num_sets), table_.data());
    backend.replicate(range(layout_.positions, num_sets), positions_.data());
  }
  if (!c.layout.in_place) {
    backend.replicate(range(q_.in_region, num_sets), q_.pristine.data());
    backend.replicate(range(k_.in_region, num_sets), k_.pristine.data());
  }
}

void CaseBuffers::make_inputs(Operand& operand) {
  const size_t bytes = operand.in_region.bytes;
  operand.pristine = DeviceMemory(backend_, bytes);
  if (backend_.is_host()) {
    operand.host_in_data = operand.pristine.data();
  } else {
    if (bytes > 0) operand.host_in = {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
    operand.host_in_data = operand.host_in.data.get();
  }
  if (operand.in.elements != case_.num_tokens() * operand.heads * case_.head_dim) {
    std::memset(operand.host_in_data, kGuardPattern, bytes);
  }
  fill_inputs(case_, operand.id, operand.heads, operand.in.token_stride, operand.in.head_stride,
              operand.host_in_data, available_threads());
  if (!backend_.is_host()) backend_.upload(operand.pristine.data(), operand.host_in_data, bytes);
}

std::byte* CaseBuffers::at(const SetLayout::Region& region, int set) const {
  return sets_.data() + static_cast<size_t>(set) * layout_.stride + region.offset;
}

SetRange CaseBuffers::range(const SetLayout::Region& region, int count) const {
  return {at(region, 0), layout_.stride, count, region.bytes};
}

RopeTensor CaseBuffers::tensor(const Operand& operand, int set) const {
  RopeTensor t{};
  t.in = at(operand.in_region, set);
  t.out = case_.layout.in_place ? at(operand.in_region, set) : at(operand.out_region, set);
  t.in_token_stride = operand.in.token_stride;
  t.in_head_stride = operand.in.head_stride;
  t.out_token_stride = operand.out.token_stride;
  t.out_head_stride = operand.out.head_stride;
  t.num_heads = static_cast<int32_t>(operand.heads);
  return t;
}

RopeKernelArgs CaseBuffers::args(int set) const {
  RopeKernelArgs a{};
  a.struct_size = sizeof(a);
  a.op = static_cast<int32_t>(case_.op);
  a.dtype = static_cast<int32_t>(case_.dtype);
  a.pairing = static_cast<int32_t>(case_.rope.pairing);
  a.num_tokens = case_.num_tokens();
  a.head_dim = static_cast<int32_t>(case_.head_dim);
  a.rotary_dim = static_cast<int32_t>(case_.rope.rotary_dim);
  a.q = tensor(q_, set);
  a.k = tensor(k_, set);
  a.q.rotary_offset = static_cast<int32_t>(case_.layout.q.rotary_offset);
  a.k.rotary_offset = static_cast<int32_t>(case_.layout.k.rotary_offset);
  a.table = own_tables_ ? at(layout_.table, set) : table_.data();
  a.table_rows = table_rows_;
  a.table_row_stride = case_.rope.rotary_dim;
  a.table_dtype = static_cast<int32_t>(case_.rope.table.dtype);
  a.position_bits = case_.positions.bits;
  a.positions = own_tables_ ? at(layout_.positions, set) : positions_.data();
  a.stream = backend_.stream();
  a.num_threads = backend_.num_threads();
  return a;
}

JudgeArgs CaseBuffers::judge_args(const RopeVariant& variant, int set, int repeats) const {
  JudgeArgs a;
  a.launch = args(set);
  a.launch.q.in = q_.pristine.data();
  a.launch.k.in = k_.pristine.data();
  a.table = table_.data();
  a.table_dtype = a.launch.table_dtype;
  a.table_row_stride = a.launch.table_row_stride;
  a.positions = reinterpret_cast<const int64_t*>(judge_positions_.data());
  a.repeats = case_.layout.in_place ? repeats : 1;
  allow_angles(variant, attention_factor_, &a);
  return a;
}

void CaseBuffers::restore(int count) {
  // All ones is a NaN in every dtype; the other is a large finite number in bf16 and f32, a NaN in
  // f16.
  poison_ = poison_ == 0xff ? 0x7f : 0xff;
  for (const Operand* operand : {&q_, &k_}) {
    if (case_.layout.in_place) {
      backend_.replicate(range(operand->in_region, count), operand->pristine.data());
    } else {
      backend_.fill(range(operand->out_region, count), poison_);
    }
  }
}

const std::byte* CaseBuffers::output(Operand& operand, int set) {
  const SetLayout::Region& region = case_.layout.in_place ? operand.in_region : operand.out_region;
  if (backend_.is_host()) return at(region, set);
  if (operand.host_out.bytes != region.bytes) {
    operand.host_out = {std::make_unique_for_overwrite<std::byte[]>(region.bytes), region.bytes};
  }
  if (region.bytes > 0)
    backend_.download(operand.host_out.data.get(), at(region, set), region.bytes);
  return operand.host_out.data.get();
}

RopeKernelArgs CaseBuffers::host_view(int set) {
  viewed_q_ = output(q_, set);
  viewed_k_ = output(k_, set);
  RopeKernelArgs a = args(set);
  a.q.in = q_.host_in_data;
  a.k.in = k_.host_in_data;
  a.q.out = const_cast<std::byte*>(viewed_q_);
  a.k.out = const_cast<std::byte*>(viewed_k_);
  return a;
}

bool CaseBuffers::gaps_intact(const Operand& operand, const std::byte* data) const {
  const TensorExtent& extent = operand.out;
  const auto size = static_cast<int64_t>(element_bytes(case_));
  const int64_t tokens = case_.num_tokens();
  if (data == nullptr || extent.elements == tokens * operand.heads * case_.head_dim) return true;
  for (int64_t row = 0; row + 1 < tokens * operand.heads; ++row) {
    const auto start = [&](int64_t r) {
      return (r / operand.heads * extent.token_stride + r % operand.heads * extent.head_stride) *
             size;
    };
    const std::byte* gap = data + start(row) + case_.head_dim * size;
    const std::byte* next = data + start(row + 1);
    for (; gap < next; ++gap) {
      if (*gap != std::byte{kGuardPattern}) return false;
    }
  }
  return true;
}

std::string CaseBuffers::find_damage() {
  for (const SetLayout::Region& guard : layout_.guards) {
    if (backend_.count_other_than(range(guard, num_sets_), kGuardPattern) != 0) {
      return "wrote outside its outputs: a guard band changed";
    }
  }
  if (!case_.layout.in_place) {
    if (backend_.count_differences(range(q_.in_region, num_sets_), q_.pristine.data()) != 0)
      return "changed its input q";
    if (backend_.count_differences(range(k_.in_region, num_sets_), k_.pristine.data()) != 0)
      return "changed its input k";
  }
  if (own_tables_) {
    if (backend_.count_differences(range(layout_.table, num_sets_), table_.data()) != 0)
      return "changed the table";
    if (backend_.count_differences(range(layout_.positions, num_sets_), positions_.data()) != 0) {
      return "changed the positions";
    }
  }
  if (!gaps_intact(q_, viewed_q_) || !gaps_intact(k_, viewed_k_))
    return "wrote into the gaps between rows";
  return {};
}

}  // namespace rope_bench
