#pragma once

#include <cstddef>
#include <type_traits>

#include "tensor/tensor.h"
#include "tensor/transfer.h"

namespace engine {

/// A plain struct that lies on a device, where kernels write it. Copies share it.
template <typename T>
class DeviceRecord {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    DeviceRecord() = default;
    explicit DeviceRecord(const Device& device)
        : bytes_(Tensor::empty({static_cast<std::int64_t>(sizeof(T))}, DType::u8, device)) {}

    bool defined() const { return bytes_.defined(); }
    const Device& device() const { return bytes_.device(); }
    T* data() const { return bytes_.data_as<T>(); }
    /// Waits for the device.
    T host() const {
        T out;
        copy_to_host(&out, data(), sizeof(T), device());
        return out;
    }
    void set(const T& value) const { copy_from_host(data(), &value, sizeof(T), device()); }
    /// Every byte 0; waits for nothing.
    void clear() const { set_zero(data(), sizeof(T), device()); }

    /// An f32 field as a 0-d tensor that shares its memory.
    Tensor field(float T::*member) const {
        static const T sample{};
        const auto offset = reinterpret_cast<const std::byte*>(&(sample.*member)) -
                            reinterpret_cast<const std::byte*>(&sample);
        Tensor out = bytes_.detach();
        out.impl()->shape = {};
        out.impl()->strides = {};
        out.impl()->dtype = DType::f32;
        out.impl()->offset = offset / static_cast<std::ptrdiff_t>(sizeof(float));
        return out;
    }

private:
    Tensor bytes_;
};

}  // namespace engine
