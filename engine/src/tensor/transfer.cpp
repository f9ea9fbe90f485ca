#include "tensor/transfer.h"

#include <cstring>
#include <numeric>

#include "engine/base/error.h"
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

void put_constant(void* to, const void* host, std::size_t bytes, const Device& device) {
    // 69 launches; beyond, one copy, which cannot be recorded.
    constexpr std::size_t most = std::size_t{256} << 10;
    if (device.kind == Device::Kind::cpu || bytes > most)
        return copy_from_host(to, host, bytes, device);
    const DeviceScope scope(device);
    kernels::cuda::put_bytes(to, host, bytes, current_stream());
}

Tensor constant_on(const Device& device, const Tensor& host) {
    // The bytes are copied as they are, so both tensors must be contiguous.
    if (host.device().kind != Device::Kind::cpu || !host.is_contiguous())
        throw Error(ErrorCode::state, "a constant must be a contiguous tensor of the host");
    if (device.kind == Device::Kind::cpu) return host;
    const Tensor out = Tensor::empty(host.shape(), host.dtype(), device);
    put_constant(out.data(), host.data(), host.bytes(), device);
    return out;
}

Tensor counting(const Shape& shape, const Device& device) {
    const Tensor host = Tensor::empty(shape, DType::i64, Device{});
    auto* first = host.data_as<std::int64_t>();
    std::iota(first, first + host.numel(), 0);
    return constant_on(device, host);
}

}  // namespace engine
