#include "src/measure/case_buffers.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/thread_pool.h"
#include "src/case/axes.h"
#include "src/case/errors.h"
#include "src/math/inputs.h"
#include "src/measure/gaps.h"
#include "src/measure/launch_shape.h"

namespace rope_bench {
namespace {

constexpr uint8_t kGuardPattern = 0xa5;

// Sets move by odd multiples of 256 bytes, which is what their buffers are aligned to, within so
// much more memory than they take.
constexpr size_t kOffsets = 16;
constexpr size_t kOffsetStep = 17 * 256;

size_t element_bytes(const RopeCase& c) { return info(c.dtype).size; }

std::vector<bool> written_rows(const Operands& operands, const TokenRows& rows) {
  std::vector<bool> written(static_cast<size_t>(operands.out.grid.num_tokens()));
  for (const int64_t row : rows.out_rows) {
    if (row >= 0) written[static_cast<size_t>(row)] = true;
  }
  return written;
}

}  // namespace

CaseBuffers::CaseBuffers(Backend& backend, const RopeCase& c, bool uses_table,
                         const CosSinTable& table, const TokenRows& rows, int num_sets,
                         bool own_parameters)
    : backend_(backend),
      case_(c),
      num_sets_(num_sets),
      own_parameters_(own_parameters),
      attention_factor_(table.frequencies.attention_factor),
      operands_(operands_of(c)),
      table_rows_(table_rows_used(rows)),
      parameter_bytes_(parameter_bytes(c, uses_table, table_rows_)),
      layout_(layout_of(c, uses_table, table_rows_, own_parameters)),
      host_parameters_(c, uses_table, table, rows),
      shapes_(launch_shape(c, operands_)),
      written_(written_rows(operands_, rows)) {
  shapes_.table_dtype = static_cast<int32_t>(table.dtype);
  shapes_.table_rows = table_rows_;
  shapes_.attention_factor = static_cast<float>(attention_factor_);
  if (parameter_bytes_[static_cast<size_t>(Parameter::kPairAxis)] > 0)
    shapes_.num_axes = static_cast<int32_t>(num_axes(c.rope.axes));
  shapes_.num_threads = backend.num_threads();
  shapes_.stream = backend.stream();
  sets_bytes_ = layout_.stride * static_cast<size_t>(num_sets);
  sets_memory_ = DeviceMemory(backend, sets_bytes_ + kOffsets * kOffsetStep);
  make_inputs();
  make_parameters();
  lay_out_sets();
  const auto upload = [&](const std::vector<int64_t>& values) {
    DeviceMemory memory(backend, values.size() * sizeof(int64_t));
    backend.upload(memory.data(), values.data(), values.size() * sizeof(int64_t));
    return memory;
  };
  judge_positions_ = upload(rows.table_rows);
  judge_out_rows_ = upload(rows.out_rows);
}

void CaseBuffers::make_inputs() {
  for (size_t b = 0; b < operands_.in.buffers.size(); ++b) {
    const OperandBuffer& buffer = operands_.in.buffers[b];
    const size_t bytes = layout_.in[b].bytes;
    Input& input = inputs_.emplace_back();
    input.pristine = DeviceMemory(backend_, bytes);
    if (backend_.is_host()) {
      input.host = input.pristine.data();
    } else if (bytes > 0) {
      input.copy = {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
      input.host = input.copy.data.get();
    }
    if (buffer.used != buffer.elements) std::memset(input.host, kGuardPattern, bytes);
    for (size_t i = 0; i < operands_.in.views.size(); ++i) {
      const OperandView& view = operands_.in.views[i];
      if (view.buffer != static_cast<int>(b)) continue;
      const Grid& grid = operands_.in.grid;
      fill_inputs(case_, static_cast<TensorId>(i),
                  {operands_.heads[i], operands_.widths[i], view.token_stride, view.head_stride,
                   grid.batches > 1 ? grid.tokens : 0, view.batch_stride},
                  input.host + static_cast<size_t>(view.offset) * element_bytes(case_),
                  available_threads());
    }
    if (!backend_.is_host()) backend_.upload(input.pristine.data(), input.host, bytes);
  }
}

void CaseBuffers::make_parameters() {
  for (size_t i = 0; i < kNumParameters; ++i) {
    const auto p = static_cast<Parameter>(i);
    const size_t bytes = host_parameters_.bytes(p);
    if (bytes == 0) continue;
    parameters_[i] = DeviceMemory(backend_, bytes);
    backend_.upload(parameters_[i].data(), host_parameters_.data(p), bytes);
  }
}

void CaseBuffers::lay_out_sets() {
  backend_.fill({at({}, 0), 0, 1, sets_bytes_}, kGuardPattern);
  for (size_t b = 0; b < inputs_.size() && !operands_.in_place; ++b)
    backend_.replicate(range(layout_.in[b], num_sets_), inputs_[b].pristine.data());
  for (size_t i = 0; i < kNumParameters; ++i) {
    if (layout_.parameters[i].bytes > 0)
      backend_.replicate(range(layout_.parameters[i], num_sets_), parameters_[i].data());
  }
}

void CaseBuffers::move_sets() {
  if (damage_.evidence == nullptr) damage_ = damage_here();
  const size_t bytes = sets_bytes_ + kOffsets * kOffsetStep;
  // Taken before the old memory goes: else it would be the same again. A host's pages lie anywhere
  // as it is, and fresh ones cost a fault each.
  if (!backend_.is_host() && backend_.free_bytes() / 2 >= bytes) {
    try {
      sets_memory_ = DeviceMemory(backend_, bytes);
    } catch (const OutOfMemory&) {  // in pieces, perhaps: the offset moves them
    }
  }
  offset_ = static_cast<size_t>(++moves_) % kOffsets * kOffsetStep;
  lay_out_sets();
  restore(num_sets_);
  // On a host what was viewed lay in a set.
  for (size_t b = 0; b < viewed_.size() && backend_.is_host(); ++b)
    viewed_[b] = at(written_regions()[b], 0);
}

std::byte* CaseBuffers::at(const SetLayout::Region& region, int set) const {
  return sets_memory_.data() + offset_ + static_cast<size_t>(set) * layout_.stride + region.offset;
}

SetRange CaseBuffers::range(const SetLayout::Region& region, int count) const {
  return {at(region, 0), layout_.stride, count, region.bytes};
}

const std::vector<SetLayout::Region>& CaseBuffers::written_regions() const {
  return operands_.in_place ? layout_.in : layout_.out;
}

template <typename In, typename Out>
void CaseBuffers::point_operands(const In& in, const Out& out, RopeKernelArgs* args) const {
  RopeTensor* tensors[] = {&args->q, &args->k, &args->v};
  const size_t size = element_bytes(case_);
  for (size_t i = 0; i < operands_.heads.size(); ++i) {
    const OperandView &from = operands_.in.views[i], &to = operands_.out.views[i];
    if (from.buffer < 0) continue;
    tensors[i]->in = in(static_cast<size_t>(from.buffer)) + static_cast<size_t>(from.offset) * size;
    tensors[i]->out = out(static_cast<size_t>(to.buffer)) + static_cast<size_t>(to.offset) * size;
  }
}

template <typename Pointer>
void CaseBuffers::point_parameters(const Pointer& pointer, RopeKernelArgs* args) {
  args->table = pointer(Parameter::kTable);
  args->positions = pointer(Parameter::kPositions);
  args->sequence_starts = static_cast<const int32_t*>(pointer(Parameter::kSequenceStarts));
  args->out_rows = static_cast<const int32_t*>(pointer(Parameter::kOutRows));
  args->turns = static_cast<const uint64_t*>(pointer(Parameter::kTurns));
  args->inv_freq = static_cast<const float*>(pointer(Parameter::kInvFreq));
  args->pair_axis = static_cast<const uint8_t*>(pointer(Parameter::kPairAxis));
  args->axis_positions = pointer(Parameter::kAxisPositions);
  args->bias = pointer(Parameter::kBias);
  args->q_weight = pointer(Parameter::kQWeight);
  args->k_weight = pointer(Parameter::kKWeight);
}

RopeKernelArgs CaseBuffers::args(int set) const {
  RopeKernelArgs a = shapes_;
  point_operands([&](size_t b) { return at(layout_.in[b], set); },
                 [&](size_t b) { return at(written_regions()[b], set); }, &a);
  point_parameters(
      [&](Parameter p) -> const void* {
        const size_t i = static_cast<size_t>(p);
        if (parameter_bytes_[i] == 0) return nullptr;
        return own_parameters_ ? at(layout_.parameters[i], set) : parameters_[i].data();
      },
      &a);
  return a;
}

JudgeArgs CaseBuffers::judge_args(const RopeVariant& variant, int set, int repeats) {
  JudgeArgs a;
  a.launch = shapes_;
  point_operands([&](size_t b) { return inputs_[b].pristine.data(); },
                 [&](size_t b) { return at(written_regions()[b], set); }, &a.launch);
  point_parameters(
      [&](Parameter p) -> const void* {
        const size_t i = static_cast<size_t>(p);
        return parameter_bytes_[i] == 0 ? nullptr : parameters_[i].data();
      },
      &a.launch);
  a.table = parameters_[static_cast<size_t>(Parameter::kTable)].data();
  a.table_dtype = shapes_.table_dtype;
  a.table_row_stride = shapes_.table_row_stride;
  a.positions = reinterpret_cast<const int64_t*>(judge_positions_.data());
  a.out_rows = reinterpret_cast<const int64_t*>(judge_out_rows_.data());
  a.repeats = operands_.in_place ? repeats : 1;
  allow_angles(variant, attention_factor_, &a);
  const auto scratch = static_cast<size_t>(judge_scratch_bytes(a));
  if (scratch > scratch_bytes_) {
    scratch_.reset();
    scratch_ = DeviceMemory(backend_, scratch);
    scratch_bytes_ = scratch;
  }
  a.scratch = scratch_.data();
  return a;
}

void CaseBuffers::restore(int count) {
  // All ones is a NaN in every dtype; the other is a large finite number in bf16 and f32, a NaN in
  // f16.
  poison_ = poison_ == 0xff ? 0x7f : 0xff;
  for (size_t b = 0; b < written_regions().size(); ++b) {
    const SetRange written = range(written_regions()[b], count);
    if (operands_.in_place) {
      backend_.replicate(written, inputs_[b].pristine.data());
    } else {
      backend_.fill(written, poison_);
    }
  }
}

RopeKernelArgs CaseBuffers::host_view(int set) {
  viewed_.clear();
  host_out_.resize(written_regions().size());
  for (size_t b = 0; b < host_out_.size(); ++b) {
    const SetLayout::Region& region = written_regions()[b];
    if (backend_.is_host()) {
      viewed_.push_back(at(region, set));
      continue;
    }
    HostBytes& copy = host_out_[b];
    if (copy.bytes != region.bytes)
      copy = {std::make_unique_for_overwrite<std::byte[]>(region.bytes), region.bytes};
    if (region.bytes > 0) backend_.download(copy.data.get(), at(region, set), region.bytes);
    viewed_.push_back(copy.data.get());
  }
  viewed_poison_ = poison_;
  RopeKernelArgs a = shapes_;
  point_operands([&](size_t b) { return inputs_[b].host; },
                 [&](size_t b) { return const_cast<std::byte*>(viewed_[b]); }, &a);
  point_parameters(
      [&](Parameter p) -> const void* {
        return parameter_bytes_[static_cast<size_t>(p)] == 0 ? nullptr : host_parameters_.data(p);
      },
      &a);
  return a;
}

bool CaseBuffers::gaps_intact() const {
  for (size_t b = 0; b < viewed_.size(); ++b) {
    Untouched want;
    // Where device memory is host memory, what was viewed is what was last restored.
    want.pattern = std::byte{backend_.is_host() ? poison_ : viewed_poison_};
    if (operands_.in_place) want.pristine = inputs_[b].host;
    if (count_changed_gaps(operands_.out.buffers[b], operands_.out.grid, written_,
                           element_bytes(case_), viewed_[b], want) != 0) {
      return false;
    }
  }
  return true;
}

std::string CaseBuffers::changed_inputs() {
  if (operands_.in_place) return {};
  for (size_t b = 0; b < inputs_.size(); ++b) {
    if (backend_.count_differences(range(layout_.in[b], num_sets_), inputs_[b].pristine.data()) !=
        0)
      return std::string("changed its input ") + operands_.in.buffers[b].name;
  }
  return {};
}

std::string CaseBuffers::changed_parameters() {
  std::vector<std::byte> seen;
  for (size_t i = 0; i < kNumParameters; ++i) {
    if (parameter_bytes_[i] == 0) continue;
    const auto p = static_cast<Parameter>(i);
    bool changed = false;
    if (own_parameters_) {
      changed = backend_.count_differences(range(layout_.parameters[i], num_sets_),
                                           parameters_[i].data()) != 0;
    } else {
      seen.resize(parameter_bytes_[i]);
      backend_.download(seen.data(), parameters_[i].data(), seen.size());
      changed = std::memcmp(seen.data(), host_parameters_.data(p), seen.size()) != 0;
    }
    if (changed) return std::string("changed ") + name(p);
  }
  return {};
}

Damage CaseBuffers::find_damage() { return damage_.evidence != nullptr ? damage_ : damage_here(); }

Damage CaseBuffers::damage_here() {
  for (const SetLayout::Region& guard : layout_.guards) {
    if (backend_.count_other_than(range(guard, num_sets_), kGuardPattern) != 0)
      return {&evidence::kOutside, "wrote outside its outputs: a guard band changed"};
  }
  if (std::string input = changed_inputs(); !input.empty()) return {&evidence::kInput, input};
  if (std::string changed = changed_parameters(); !changed.empty())
    return {&evidence::kInput, changed};
  if (!gaps_intact()) {
    return {&evidence::kPadding, is_padded(case_) || case_.num_real_tokens() != case_.num_tokens()
                                     ? "wrote into rows of padding, or into the gaps between rows"
                                     : "wrote into the gaps between rows"};
  }
  return {};
}

std::optional<uint8_t> CaseBuffers::poison() const {
  if (operands_.in_place) return std::nullopt;
  return poison_;
}

void CaseBuffers::negate_inputs() {
  const size_t size = element_bytes(case_);
  for (size_t b = 0; b < inputs_.size(); ++b) {
    std::byte* host = inputs_[b].host;
    const size_t bytes = layout_.in[b].bytes;
    parallel_for(available_threads(), static_cast<int64_t>(bytes / size), 1 << 16,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     host[static_cast<size_t>(i + 1) * size - 1] ^= std::byte{0x80};
                 });
    if (!backend_.is_host()) backend_.upload(inputs_[b].pristine.data(), host, bytes);
    if (!operands_.in_place)
      backend_.replicate(range(layout_.in[b], num_sets_), inputs_[b].pristine.data());
  }
}

}  // namespace rope_bench
