#pragma once

#include <cstddef>

#include "kernels/cuda_device.h"

namespace kernels::test {

/// A copy of host bytes on the current CUDA device, `offset` bytes into a block of its own.
class DeviceCopy {
public:
    DeviceCopy(const void* host, std::size_t bytes, std::size_t offset = 0)
        : block_(cuda::allocate(bytes + offset)),
          data_(static_cast<std::byte*>(block_) + offset),
          bytes_(bytes) {
        if (bytes > 0) cuda::copy_to_device(data_, host, bytes, {});
    }
    ~DeviceCopy() { cuda::release(block_); }
    DeviceCopy(const DeviceCopy&) = delete;
    DeviceCopy& operator=(const DeviceCopy&) = delete;

    void* get() const { return data_; }
    /// Copies to the host; waits for the device.
    void read(void* host) const {
        if (bytes_ > 0) cuda::copy_to_host(host, data_, bytes_, {});
    }

private:
    void* block_;
    std::byte* data_;
    std::size_t bytes_;
};

}  // namespace kernels::test
