#pragma once

#include <array>
#include <map>
#include <vector>

#include "engine/record/histogram_record.h"
#include "instruments/histograms/exponent_counters.h"
#include "tensor/module_scope.h"

namespace engine {

/// The type of values in a tensor of a floating type.
ValueType value_type(DType dtype);

/// The counters of a step by layer and kind. Layers are in the order of their first activation,
/// which is that of the forward pass; layers without activations follow.
class LayerSlots {
public:
    explicit LayerSlots(const Device& device) : counters_(device) {}

    /// Adds the values of a floating tensor.
    void add(ModuleName module, HistogramKind kind, const Tensor& x);
    /// Adds values on the device that were computed from values of `type`.
    void add(ModuleName module, HistogramKind kind, const kernels::ConstArray& x, ValueType type);
    /// Adds an f16 gradient on its way through the module's ops.
    void add_flow(ModuleName module, const Tensor& gradient);
    /// The narrowest type noted is the one that stands.
    void note_type(ModuleName module, HistogramKind kind, ValueType type);
    /// Everything that was added; what belongs to no module is left out. Waits for the device.
    std::vector<LayerHistogram> read() const;

private:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);
    struct Layer {
        ModuleName module;
        std::array<std::size_t, histogram_kind_count> slots{absent, absent, absent, absent};
        std::array<ValueType, histogram_kind_count> types{};
        std::size_t flow = absent;  // slot of the f16 gradients that passed
    };

    Layer& layer(ModuleName module);
    std::size_t used(std::size_t& slot);
    static void append(std::vector<LayerHistogram>& out, const Layer& layer,
                       const std::vector<ExponentHistogram>& counts);

    ExponentCounters counters_;
    std::size_t used_ = 0;
    std::vector<Layer> layers_;
    std::map<const std::string*, std::size_t> places_;  // of a module's name, whose text is shared
    std::size_t last_ = 0;                              // the layer that was asked for last
};

}  // namespace engine
