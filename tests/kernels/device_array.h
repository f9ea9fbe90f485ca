#pragma once

#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/support.h"
#include "needs_cuda.h"

namespace kernels::test {

/// A copy of a Buffer on the current CUDA device, for comparing twins.
class DeviceBuffer {
public:
    explicit DeviceBuffer(const Buffer& host) : DeviceBuffer(host.dtype(), host.size()) {
        cuda::copy_to_device(data_, host.bytes().data(), bytes(), {});
    }
    /// Filled with 0xff, so that whatever a kernel does not write stays NaN.
    DeviceBuffer(DType dtype, std::int64_t size)
        : dtype_(dtype), size_(size), data_(cuda::allocate(bytes())) {
        const std::vector<unsigned char> poison(bytes(), 0xff);
        cuda::copy_to_device(data_, poison.data(), bytes(), {});
    }
    ~DeviceBuffer() { cuda::release(data_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    Array array() const { return {data_, dtype_, size_}; }
    operator Array() const { return array(); }
    operator ConstArray() const { return array(); }
    template <typename T>
    T* as() const {
        return static_cast<T*>(data_);
    }
    /// Waits for the compute stream.
    Buffer host() const {
        Buffer out(dtype_, size_);
        if (size_ > 0) cuda::copy_to_host(out.as<unsigned char>(), data_, bytes(), {});
        return out;
    }

private:
    std::size_t bytes() const { return static_cast<std::size_t>(size_) * size_of(dtype_); }

    DType dtype_;
    std::int64_t size_;
    void* data_;
};

/// One plain value (a counter, a scale, a struct) on the device.
template <typename T>
class DeviceValue {
public:
    explicit DeviceValue(const T& value = {}) : data_(cuda::allocate(sizeof(T))) {
        cuda::copy_to_device(data_, &value, sizeof(T), {});
    }
    ~DeviceValue() { cuda::release(data_); }
    DeviceValue(const DeviceValue&) = delete;
    DeviceValue& operator=(const DeviceValue&) = delete;
    T* get() const { return static_cast<T*>(data_); }
    T host() const {
        T out;
        cuda::copy_to_host(&out, data_, sizeof(T), {});
        return out;
    }

private:
    void* data_;
};

}  // namespace kernels::test
