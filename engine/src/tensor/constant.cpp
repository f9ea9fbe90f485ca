#include "tensor/constant.h"

#include <numeric>

#include "engine/base/error.h"
#include "kernels/cuda_copies.h"
#include "tensor/transfer.h"

namespace engine {

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
