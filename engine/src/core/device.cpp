#include "core/device.h"

#include "kernels/cuda_device.h"

namespace engine {

std::string to_string(const Device& device) {
    return device.kind == Device::Kind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

DeviceScope::DeviceScope(const Device& device) : before_(-1) {
    if (device.kind == Device::Kind::cpu) return;
    before_ = kernels::cuda::current_device();
    kernels::cuda::set_device(device.index);
}

DeviceScope::~DeviceScope() {
    if (before_ < 0) return;
    try {
        kernels::cuda::set_device(before_);
    } catch (...) {  // a device that has failed: whoever uses it next is told
    }
}

}  // namespace engine
