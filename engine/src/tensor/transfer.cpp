#include "tensor/transfer.h"

#include <cstring>

#include "kernels/cuda_copies.h"
#include "kernels/cuda_device.h"
#include "tensor/deferred_errors.h"

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
    DeferredErrorCheck look(device);
    kernels::cuda::copy_to_host(host, from, bytes, current_stream());
    look.finish();
}

void copy_to_pinned(void* pinned, const void* from, std::size_t bytes, const Device& device) {
    if (device.kind == Device::Kind::cpu) return copy_to_host(pinned, from, bytes, device);
    const DeviceScope scope(device);
    kernels::cuda::copy_to_host(pinned, from, bytes, current_stream());
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

void copy_between(void* to, const Device& to_device, const void* from, const Device& from_device,
                  std::size_t bytes) {
    if (bytes == 0) return;
    const DeviceScope of_target(to_device);
    kernels::cuda::Event ready;  // earlier work may still use the block that the copy writes
    ready.record({});
    const DeviceScope of_source(from_device);
    ready.hold({});
    kernels::cuda::copy_between_devices(to, to_device.index, from, from_device.index, bytes, {});
    kernels::cuda::Event copied;
    copied.record({});
    const DeviceScope of_readers(to_device);
    copied.hold({});
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
