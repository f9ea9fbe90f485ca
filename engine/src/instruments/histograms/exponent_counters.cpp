#include "instruments/histograms/exponent_counters.h"

#include <algorithm>
#include <bit>

#include "tensor/layout.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using kernels::ExponentCounts;

/// Slots of the first block. A small model needs no more, and clearing a block and reading it are a
/// good part of what its sample costs.
constexpr std::size_t first_block_slots = 16;

constexpr std::size_t slots_of(std::size_t block) { return first_block_slots << block; }
constexpr std::size_t first_slot(std::size_t block) { return slots_of(block) - first_block_slots; }
constexpr std::size_t block_of(std::size_t slot) {
    return static_cast<std::size_t>(std::bit_width(slot / first_block_slots + 1)) - 1;
}

Tensor cleared_block(std::size_t slots, const Device& device) {
    const auto bytes = static_cast<std::int64_t>(slots * sizeof(ExponentCounts));
    const Tensor block = Tensor::empty({bytes}, DType::u8, device);
    set_zero(block.data(), block.bytes(), device);
    return block;
}

/// `absent`: zeros that were not counted.
void write(ExponentHistogram& out, const ExponentCounts& counts, std::int64_t absent) {
    static_assert(ExponentCounts::bin_count == ExponentHistogram::bin_count &&
                  ExponentCounts::first_exponent == ExponentHistogram::first_exponent);
    std::copy(std::begin(counts.bins), std::end(counts.bins), out.bins.begin());
    out.zero = counts.zero + absent;
    out.below = counts.below;
    out.infinite = counts.infinite;
    out.nan = counts.nan;
    if (counts.largest != 0) out.largest = std::bit_cast<double>(counts.largest);
    if (counts.smallest_inverted != 0)
        out.smallest = std::bit_cast<double>(~counts.smallest_inverted);
}

/// Whether f16 held so many values just above 0 that others must have become 0.
bool lost_values(const ExponentHistogram& flow) {
    constexpr int last_exponent = -24;
    const std::int64_t last =
        flow.bins[static_cast<std::size_t>(last_exponent - ExponentHistogram::first_exponent)];
    return last * 1000 > flow.finite_nonzero();
}

}  // namespace

ExponentCounts* ExponentCounters::counts(std::size_t slot) {
    const std::size_t block = block_of(slot);
    while (block >= blocks_.size()) {
        const UseScope use(MemoryUse::workspace);
        blocks_.push_back(cleared_block(slots_of(blocks_.size()), device_));
        absent_.resize(first_slot(blocks_.size()));
    }
    return blocks_[block].data_as<ExponentCounts>() + (slot - first_slot(block));
}

void ExponentCounters::add(std::size_t slot, const Tensor& x) {
    const UseScope use(MemoryUse::workspace);
    const Tensor values = dense(x.is_sparse() ? sparse_parts(x).values : x);
    add(slot, values.array());
    absent_[slot] += x.numel() - values.numel();
}

void ExponentCounters::add(std::size_t slot, const kernels::ConstArray& x) {
    on(device_, kernels::cpu::count_exponents, kernels::cuda::count_exponents)(counts(slot), x,
                                                                               current_stream());
}

std::vector<ExponentHistogram> ExponentCounters::read(std::size_t count) const {
    std::vector<ExponentHistogram> out(count);
    const std::size_t used = std::min(count, absent_.size());
    std::vector<ExponentCounts> copy;
    for (std::size_t block = 0; first_slot(block) < used; ++block) {
        const std::size_t first = first_slot(block), here = std::min(used - first, slots_of(block));
        const ExponentCounts* counts = blocks_[block].data_as<ExponentCounts>();
        if (device_.kind != Device::Kind::cpu) {
            copy.resize(here);
            copy_to_host(copy.data(), counts, here * sizeof(ExponentCounts), device_);
            counts = copy.data();
        }
        for (std::size_t i = 0; i < here; ++i) write(out[first + i], counts[i], absent_[first + i]);
    }
    return out;
}

ValueType value_type(DType dtype) {
    if (dtype == DType::f16) return ValueType::f16;
    return dtype == DType::bf16 ? ValueType::bf16 : ValueType::f32;
}

LayerSlots::Layer& LayerSlots::layer(ModuleName module) {
    if (last_ < layers_.size() && layers_[last_].module == module) return layers_[last_];
    const auto [place, is_new] = places_.try_emplace(&module.text(), layers_.size());
    if (is_new) layers_.emplace_back().module = module;
    last_ = place->second;
    return layers_[last_];
}

/// The slot itself, which is a new one if it was absent.
std::size_t LayerSlots::used(std::size_t& slot) {
    if (slot == absent) slot = used_++;
    return slot;
}

void LayerSlots::add(ModuleName module, HistogramKind kind, const Tensor& x) {
    if (module == ModuleName()) return;
    counters_.add(used(layer(module).slots[static_cast<std::size_t>(kind)]), x);
    note_type(module, kind, value_type(x.dtype()));
}

void LayerSlots::add(ModuleName module, HistogramKind kind, const kernels::ConstArray& x,
                     ValueType type) {
    if (module == ModuleName()) return;
    counters_.add(used(layer(module).slots[static_cast<std::size_t>(kind)]), x);
    note_type(module, kind, type);
}

void LayerSlots::add_flow(ModuleName module, const Tensor& gradient) {
    if (module == ModuleName()) return;
    counters_.add(used(layer(module).flow), gradient);
}

void LayerSlots::note_type(ModuleName module, HistogramKind kind, ValueType type) {
    if (module == ModuleName()) return;
    ValueType& narrowest = layer(module).types[static_cast<std::size_t>(kind)];
    narrowest = std::max(narrowest, type);
}

std::vector<LayerHistogram> LayerSlots::read() const {
    const std::vector<ExponentHistogram> counts = counters_.read(used_);
    std::vector<LayerHistogram> out;
    out.reserve(used_);
    for (const bool with_activations : {true, false}) {
        for (const Layer& each : layers_) {
            const std::size_t activations =
                each.slots[static_cast<std::size_t>(HistogramKind::activations)];
            if ((activations != absent) == with_activations) append(out, each, counts);
        }
    }
    return out;
}

void LayerSlots::append(std::vector<LayerHistogram>& out, const Layer& layer,
                        const std::vector<ExponentHistogram>& counts) {
    for (std::size_t kind = 0; kind < layer.slots.size(); ++kind) {
        if (layer.slots[kind] == absent) continue;
        const bool gradients = static_cast<HistogramKind>(kind) == HistogramKind::gradients;
        LayerHistogram& histogram = out.emplace_back();
        histogram.layer = layer.module.text();
        histogram.kind = static_cast<HistogramKind>(kind);
        histogram.values = counts[layer.slots[kind]];
        histogram.type = layer.types[kind];
        histogram.flushed = gradients && layer.flow != absent && lost_values(counts[layer.flow]);
    }
}

}  // namespace engine
