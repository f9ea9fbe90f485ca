#pragma once

#include <string>

#include "kernels/array.h"

namespace engine {

struct Device {
    enum class Kind { cpu, cuda };
    Kind kind = Kind::cpu;
    int index = 0;
    bool operator==(const Device&) const = default;
};

/// "cpu", "cuda:0"
std::string to_string(const Device& device);

/// The kernel of a device: both twins share one function type.
template <typename F>
F* on(const Device& device, F* cpu, F* cuda) {
    return device.kind == Device::Kind::cpu ? cpu : cuda;
}

/// The queue of the calling thread on the device that it computes for.
inline kernels::Stream current_stream() { return {}; }

}  // namespace engine
