#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "kernels/cuda_device.h"
#include "tensor/device.h"

namespace engine {

/// Points in time of the work on a device: by the host's clock, or on a GPU by events in its
/// stream, so that marking does not wait.
class TraceClock {
public:
    explicit TraceClock(const Device& device) : device_(device) {}
    /// Forgets all marks and makes the first, number 0.
    void restart();
    /// Number of the new mark.
    std::size_t mark();
    /// Microseconds from the first mark to each. Waits for the device.
    std::vector<double> times() const;

private:
    Device device_;
    std::vector<std::chrono::steady_clock::time_point> host_;
    std::vector<std::unique_ptr<kernels::cuda::Event>> events_;
};

}  // namespace engine
