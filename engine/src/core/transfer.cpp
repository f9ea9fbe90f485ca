#include "core/transfer.h"

#include <cstring>

#include "kernels/cuda_device.h"

namespace engine {

void copy_from_host(void* to, const void* host, std::size_t bytes, const Device& device) {
    if (bytes == 0) return;
    if (device.kind == Device::Kind::cpu) {
        std::memcpy(to, host, bytes);
        return;
    }
    const DeviceScope scope(device);
    kernels::cuda::copy_to_device(to, host, bytes, current_stream());
}

void copy_to_host(void* host, const void* from, std::size_t bytes, const Device& device) {
    if (bytes == 0) return;
    if (device.kind == Device::Kind::cpu) {
        std::memcpy(host, from, bytes);
        return;
    }
    const DeviceScope scope(device);
    kernels::cuda::copy_to_host(host, from, bytes, current_stream());
}

void copy_bytes(void* to, const void* from, std::size_t bytes, const Device& device) {
    if (bytes == 0) return;
    if (device.kind == Device::Kind::cpu) {
        std::memcpy(to, from, bytes);
        return;
    }
    const DeviceScope scope(device);
    kernels::cuda::copy_on_device(to, from, bytes, current_stream());
}

void set_zero(void* to, std::size_t bytes, const Device& device) {
    if (bytes == 0) return;
    if (device.kind == Device::Kind::cpu) {
        std::memset(to, 0, bytes);
        return;
    }
    const DeviceScope scope(device);
    kernels::cuda::set_zero(to, bytes, current_stream());
}

}  // namespace engine
