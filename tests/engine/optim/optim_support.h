#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "optim/optimizers.h"
#include "tensor/transfer.h"

namespace engine {

/// The bytes of a dense tensor.
inline std::vector<std::byte> bytes_of(const Tensor& t) {
    std::vector<std::byte> out(t.bytes());
    copy_to_host(out.data(), t.data(), out.size(), t.device());
    return out;
}

inline Tensor weight_of(const std::vector<double>& values, DType dtype = DType::f32) {
    Tensor t = Tensor::of(values, {static_cast<std::int64_t>(values.size())}, dtype);
    t.set_requires_grad(true);
    return t;
}

/// Uniform in [-1, 1), in multiples of 2^(1 - bits): with 8 bits exact in every type down to bf16.
/// SplitMix64.
class Uniform {
public:
    explicit Uniform(std::uint64_t seed, int bits = 24)
        : state_(seed), bits_(bits), unit_(std::ldexp(2.0, -bits)) {}
    double operator()() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<double>((z ^ (z >> 31)) >> (64 - bits_)) * unit_ - 1;
    }
    std::vector<double> many(std::int64_t count) {
        std::vector<double> values(static_cast<std::size_t>(count));
        for (auto& value : values) value = (*this)();
        return values;
    }

private:
    std::uint64_t state_;
    int bits_;
    double unit_;
};

}  // namespace engine
