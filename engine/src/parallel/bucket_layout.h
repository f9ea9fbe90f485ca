#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/exchange_line.h"

namespace engine {

/// How the gradients of a bucket lie in the buffer that is exchanged: dense, one after the other.
class BucketLayout {
public:
    explicit BucketLayout(const ExchangeBucket& bucket);

    std::size_t bytes() const { return static_cast<std::size_t>(count_) * size_of(type_); }
    /// The whole buffer that begins at `data`.
    kernels::Array all(std::byte* data) const { return {data, type_, count_}; }
    /// Calls f(gradient, place) for each gradient and its place in the buffer.
    template <typename F>
    void each(std::byte* data, const F& f) const {
        for (const Tensor& gradient : gradients_) {
            f(gradient.array(), kernels::Array{data, type_, gradient.numel()});
            data += static_cast<std::size_t>(gradient.numel()) * size_of(type_);
        }
    }

private:
    const TensorList& gradients_;
    DType type_;
    std::int64_t count_ = 0;
};

}  // namespace engine
