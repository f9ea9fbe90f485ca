#include "core/device.h"

#include "kernels/cuda_device.h"

namespace engine {

std::string to_string(const Device& device) {
    return device.kind == Device::Kind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

DeviceScope::DeviceScope(const Device& device) : before_(-1) {
    if (device.kind == Device::Kind::cpu) return;
    const int current = kernels::cuda::current_device();
    if (current == device.index) return;
    kernels::cuda::set_device(device.index);
    before_ = current;
}

DeviceScope::~DeviceScope() {
    if (before_ < 0) return;
    try {
        kernels::cuda::set_device(before_);
    } catch (...) {  // a device that has failed: whoever uses it next is told
    }
}

}  // namespace engine
