#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/array.h"

/// Values of one floating dtype as a kernel holds them, read and written as doubles.
class TypedValues {
public:
    TypedValues(kernels::DType dtype, std::int64_t size)
        : dtype_(dtype),
          size_(size),
          bytes_(static_cast<std::size_t>(size) * kernels::size_of(dtype)) {}
    TypedValues(kernels::DType dtype, const std::vector<double>& values)
        : TypedValues(dtype, static_cast<std::int64_t>(values.size())) {
        for (std::int64_t i = 0; i < size_; ++i) set(i, values[static_cast<std::size_t>(i)]);
    }
    /// Uniform in [-1, 1), rounded to dtype.
    static TypedValues random(kernels::DType dtype, std::int64_t size, unsigned seed) {
        TypedValues result(dtype, size);
        std::mt19937 generator(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (std::int64_t i = 0; i < size; ++i) result.set(i, uniform(generator));
        return result;
    }

    double operator[](std::int64_t i) const {
        if (dtype_ == kernels::DType::f64) return read<double>(i);
        if (dtype_ == kernels::DType::f32) return static_cast<double>(read<float>(i));
        if (dtype_ == kernels::DType::f16)
            return static_cast<double>(kernels::to_float(read<kernels::Half>(i)));
        return static_cast<double>(kernels::to_float(read<kernels::BFloat16>(i)));
    }
    void set(std::int64_t i, double value) {
        const auto f = static_cast<float>(value);
        if (dtype_ == kernels::DType::f64)
            write(i, value);
        else if (dtype_ == kernels::DType::f32)
            write(i, f);
        else if (dtype_ == kernels::DType::f16)
            write(i, kernels::to_half(f));
        else
            write(i, kernels::to_bfloat16(f));
    }
    void fill(double value) {
        for (std::int64_t i = 0; i < size_; ++i) set(i, value);
    }

    kernels::DType dtype() const { return dtype_; }
    std::int64_t size() const { return size_; }
    void* data() { return bytes_.data(); }
    const void* data() const { return bytes_.data(); }
    kernels::Array array() { return {data(), dtype_, size_}; }
    kernels::ConstArray array() const { return {data(), dtype_, size_}; }

private:
    template <class T>
    T read(std::int64_t i) const {
        T value;
        std::memcpy(&value, bytes_.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
        return value;
    }
    template <class T>
    void write(std::int64_t i, T value) {
        std::memcpy(bytes_.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }

    kernels::DType dtype_;
    std::int64_t size_;
    std::vector<unsigned char> bytes_;
};

/// Half a unit in the last place of 1, and half the smallest subnormal: what one rounding to
/// nearest changes a value by at most, relatively and absolutely.
inline double rounding(kernels::DType dtype) {
    switch (dtype) {
        case kernels::DType::f64:
            return 0x1p-53;
        case kernels::DType::f32:
            return 0x1p-24;
        case kernels::DType::f16:
            return 0x1p-11;
        default:
            return 0x1p-8;
    }
}
inline double smallest_rounding(kernels::DType dtype) {
    return dtype == kernels::DType::f16 ? 0x1p-25 : 0;
}

/// Bound on |computed - exact| of a sum of `terms` products, `magnitude` the sum of their absolute
/// values, added in f32 (f64 for f64) in any order and rounded once to dtype: each of the terms'
/// additions, and the product where it is not exact, errs by at most one rounding of a partial sum,
/// which is at most `magnitude`; the store by one rounding of the result. `extra` counts the
/// operations of an epilogue.
inline double sum_tolerance(kernels::DType dtype, std::int64_t terms, double magnitude,
                            double result, int extra = 4) {
    const double unit = dtype == kernels::DType::f64 ? 0x1p-53 : 0x1p-24;
    const double sums = static_cast<double>(terms + extra) * unit * magnitude;
    return sums + rounding(dtype) * (std::abs(result) + sums) + smallest_rounding(dtype);
}
