#include "instruments/layer_slots.h"

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

LayerSlots::Layer& LayerSlots::layer(ModuleName module) {
    const auto [place, is_new] = places_.emplace(&module.text(), layers_.size());
    if (is_new) layers_.emplace_back().module = module;
    return layers_[place->second];
}

void LayerSlots::add_to(std::size_t& slot, const Tensor& x) {
    if (slot == absent) slot = used_++;
    counters_.add(slot, x);
}

void LayerSlots::add(ModuleName module, HistogramKind kind, const Tensor& x) {
    if (module == ModuleName()) return;
    add_to(layer(module).slots[static_cast<std::size_t>(kind)], x);
}

void LayerSlots::add_flow(ModuleName module, const Tensor& gradient) {
    if (module == ModuleName()) return;
    add_to(layer(module).flow, gradient);
}

void LayerSlots::note_type(ModuleName module, HistogramKind kind, ValueType type) {
    if (module == ModuleName()) return;
    ValueType& narrowest = layer(module).types[static_cast<std::size_t>(kind)];
    narrowest = std::max(narrowest, type);
}

std::vector<LayerHistogram> LayerSlots::read() const {
    const std::vector<ExponentHistogram> counts = counters_.read(used_);
    std::vector<const Layer*> order;
    for (const Layer& each : layers_) order.push_back(&each);
    std::stable_partition(order.begin(), order.end(), [](const Layer* each) {
        return each->slots[static_cast<std::size_t>(HistogramKind::activations)] != absent;
    });
    std::vector<LayerHistogram> out;
    for (const Layer* each : order) {
        for (std::size_t kind = 0; kind < each->slots.size(); ++kind) {
            if (each->slots[kind] == absent) continue;
            const bool gradients = static_cast<HistogramKind>(kind) == HistogramKind::gradients;
            out.push_back({each->module.text(), static_cast<HistogramKind>(kind),
                           counts[each->slots[kind]], each->types[kind],
                           gradients && each->flow != absent && lost_values(counts[each->flow])});
        }
    }
    return out;
}

}  // namespace engine
