#pragma once

#include <cstddef>
#include <vector>

#include "core/device_record.h"
#include "engine/exponent_histogram.h"
#include "kernels/exponent_histogram.h"

namespace engine {

/// Exponent histograms on a device, by slot. Counting does not wait and is no op: it is neither on
/// the tape nor observed.
class ExponentCounters {
public:
    explicit ExponentCounters(const Device& device) : device_(device) {}

    /// Adds the values of a floating tensor on this device. A sparse one must be coalesced; its
    /// missing places count as zeros.
    void add(std::size_t slot, const Tensor& x);
    /// Histograms of slots [0, count); unused slots are empty. Waits for the device.
    std::vector<ExponentHistogram> read(std::size_t count) const;

private:
    /// Slots of one block of device memory.
    static constexpr std::size_t block_slots = 128;
    struct Block {
        kernels::ExponentCounts of[block_slots];
    };

    kernels::ExponentCounts* counts(std::size_t slot);

    Device device_;
    std::vector<DeviceRecord<Block>> blocks_;
    std::vector<std::int64_t> sizes_;  // values of each slot, sparse ones as dense
};

}  // namespace engine
