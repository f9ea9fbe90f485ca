#include "instruments/histograms/layer_slots.h"

#include <algorithm>

namespace engine {
namespace {

/// Whether f16 held so many values just above 0 that others must have become 0.
bool lost_values(const ExponentHistogram& flow) {
    constexpr int last_exponent = -24;
    const std::int64_t last =
        flow.bins[static_cast<std::size_t>(last_exponent - ExponentHistogram::first_exponent)];
    return last * 1000 > flow.finite_nonzero();
}

}  // namespace

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
