#pragma once

#include "tensor/tensor.h"
#include "tensor/transfer.h"

namespace engine {

/// Writes element `at` of the tensor's memory, on any device. Does not change the version.
inline void set_element(const Tensor& t, std::int64_t at, double value) {
    const Tensor one = Tensor::of({value}, {1}, t.dtype(), Device{});
    copy_from_host(
        static_cast<std::byte*>(t.data()) + static_cast<std::size_t>(at) * size_of(t.dtype()),
        one.data(), one.bytes(), t.device());
}

}  // namespace engine
