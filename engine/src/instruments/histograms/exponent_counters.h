#pragma once

#include <cstddef>
#include <vector>

#include "engine/record/exponent_histogram.h"
#include "kernels/exponent_histogram.h"
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

}  // namespace engine
