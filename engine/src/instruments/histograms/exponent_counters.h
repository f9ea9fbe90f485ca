#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "engine/record/exponent_histogram.h"
#include "engine/record/histogram_record.h"
#include "kernels/exponent_histogram.h"
#include "tensor/module_scope.h"
#include "tensor/tensor.h"

namespace engine {

/// Exponent histograms on a device, by slot. Counting does not wait and is no op: it is neither on
/// the tape nor observed.
class ExponentCounters {
public:
    explicit ExponentCounters(const Device& device) : device_(device) {}

    /// Adds the values of a floating tensor on this device. A sparse one must be coalesced; its
    /// missing places count as zeros.
    void add(std::size_t slot, const Tensor& x);
    void add(std::size_t slot, const kernels::ConstArray& x);
    /// Histograms of slots [0, count); unused slots are empty. Waits for the device.
    std::vector<ExponentHistogram> read(std::size_t count) const;

private:
    kernels::ExponentCounts* counts(std::size_t slot);

    Device device_;
    std::vector<Tensor> blocks_;        // of counters in device memory, each twice the one before
    std::vector<std::int64_t> absent_;  // zeros of each slot that sparse tensors do not hold
};

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
