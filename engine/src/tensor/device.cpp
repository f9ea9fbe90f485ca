#include "tensor/device.h"

#include "kernels/cuda_device.h"

namespace engine {

std::string to_string(const Device& device) {
    return device.kind == Device::Kind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

DeviceScope::DeviceScope(const Device& device) {
    if (device.kind == Device::Kind::cpu) return;
    if (kernels::cuda::current_device() == device.index) return;
    const int chosen = kernels::cuda::chosen_device();
    kernels::cuda::set_device(device.index);
    before_ = chosen;
}

DeviceScope::~DeviceScope() {
    if (!before_) return;
    try {
        kernels::cuda::set_device(*before_);
    } catch (...) {  // a failed device throws again at its next use
    }
}

}  // namespace engine
