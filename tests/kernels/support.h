#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include "kernels/array.h"
#include "kernels/parallel.h"

namespace kernels::test {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

inline const std::vector<DType> floating = {DType::f64, DType::f32, DType::f16, DType::bf16};
inline const std::vector<std::int64_t> sizes = {0, 1, 31, 32, 33, 1000, 100003};

/// Owns dense elements of any dtype, read and written as double.
class Buffer {
public:
    Buffer(DType dtype, std::int64_t size)
        : dtype_(dtype), size_(size), bytes_(static_cast<std::size_t>(size) * size_of(dtype)) {}
    Buffer(DType dtype, const std::vector<double>& values)
        : Buffer(dtype, static_cast<std::int64_t>(values.size())) {
        for (std::size_t i = 0; i < values.size(); ++i)
            set(static_cast<std::int64_t>(i), values[i]);
    }

    /// Braces always list values and never give a size.
    Buffer(DType dtype, std::initializer_list<double> values)
        : Buffer(dtype, std::vector<double>(values)) {}

    std::int64_t size() const { return size_; }
    DType dtype() const { return dtype_; }
    Array array() { return {bytes_.data(), dtype_, size_}; }
    ConstArray view() const { return {bytes_.data(), dtype_, size_}; }
    operator Array() { return array(); }
    operator ConstArray() const { return view(); }
    const std::vector<unsigned char>& bytes() const { return bytes_; }
    template <class T>
    T* as() {
        return reinterpret_cast<T*>(bytes_.data());
    }

    double get(std::int64_t i) const {
        switch (dtype_) {
            case DType::f64:
                return at<double>(i);
            case DType::f32:
                return static_cast<double>(at<float>(i));
            case DType::f16:
                return static_cast<double>(to_float(at<Half>(i)));
            case DType::bf16:
                return static_cast<double>(to_float(at<BFloat16>(i)));
            case DType::i64:
                return static_cast<double>(at<std::int64_t>(i));
            case DType::i32:
                return at<std::int32_t>(i);
            default:
                return at<std::uint8_t>(i);
        }
    }
    /// Rounds through f32 for 16-bit types. Only for test inputs, where that does not matter.
    void set(std::int64_t i, double v) {
        switch (dtype_) {
            case DType::f64:
                return put(i, v);
            case DType::f32:
                return put(i, static_cast<float>(v));
            case DType::f16:
                return put(i, to_half(static_cast<float>(v)));
            case DType::bf16:
                return put(i, to_bfloat16(static_cast<float>(v)));
            case DType::i64:
                return put(i, static_cast<std::int64_t>(v));
            case DType::i32:
                return put(i, static_cast<std::int32_t>(v));
            default:
                return put(i, static_cast<std::uint8_t>(v));
        }
    }
    std::vector<double> values() const {
        std::vector<double> result;
        for (std::int64_t i = 0; i < size_; ++i) result.push_back(get(i));
        return result;
    }

private:
    template <class T>
    T at(std::int64_t i) const {
        T v;
        std::memcpy(&v, bytes_.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
        return v;
    }
    template <class T>
    void put(std::int64_t i, T v) {
        std::memcpy(bytes_.data() + static_cast<std::size_t>(i) * sizeof(T), &v, sizeof(T));
    }

    DType dtype_;
    std::int64_t size_;
    std::vector<unsigned char> bytes_;
};

/// Normal values, rounded to dtype. The same seed gives the same values.
inline Buffer random_buffer(DType dtype, std::int64_t size, unsigned seed, double mean = 0,
                            double deviation = 1) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal(mean, deviation);
    Buffer result(dtype, size);
    for (std::int64_t i = 0; i < size; ++i) result.set(i, normal(engine));
    return result;
}

/// Half the distance between neighbours of dtype around v: the largest error of one rounding.
inline double half_ulp(DType dtype, double v) {
    struct Format {
        int bits, least;
    };
    const Format format = dtype == DType::f16    ? Format{11, -24}
                          : dtype == DType::bf16 ? Format{8, -133}
                          : dtype == DType::f32  ? Format{24, -149}
                                                 : Format{53, -1074};
    if (v == 0 || !std::isfinite(v)) return std::ldexp(0.5, format.least);
    const int exponent = std::max(std::ilogb(v) - format.bits + 1, format.least);
    return std::ldexp(0.5, exponent);
}

/// The exact value v as dtype stores it: infinity if it rounds to 2^(emax + 1) or more.
inline double stored(DType dtype, double v) {
    if (dtype == DType::f64 || !std::isfinite(v)) return v;
    const double unit = 2 * half_ulp(dtype, v);
    const double rounded = std::nearbyint(v / unit) * unit;
    const double limit = dtype == DType::f16 ? 65504.0
                         : dtype == DType::bf16
                             ? 0x1.fep127
                             : static_cast<double>(std::numeric_limits<float>::max());
    return std::fabs(rounded) > limit ? std::copysign(std::numeric_limits<double>::infinity(), v)
                                      : rounded;
}

/// Whether actual is the rounding to dtype of a value within `slack` of expected. NaN and
/// infinities must agree.
inline ::testing::AssertionResult near(double actual, double expected, DType dtype, double slack) {
    if (std::isnan(expected) || std::isnan(actual)) {
        if (std::isnan(expected) && std::isnan(actual)) return ::testing::AssertionSuccess();
    } else if (actual == expected || actual == stored(dtype, expected - slack) ||
               actual == stored(dtype, expected + slack)) {
        return ::testing::AssertionSuccess();
    } else if (std::fabs(actual - expected) <= slack + half_ulp(dtype, expected)) {
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure()
           << "got " << actual << ", expected " << expected << " within " << slack
           << " and one rounding to dtype " << static_cast<int>(dtype);
}

/// Runs f with 1 and with 2 threads, and restores the number of threads.
template <class F>
void with_threads(const F& f) {
    const int before = cpu::threads();
    for (int n : {1, 2}) {
        cpu::set_threads(n);
        f(n);
    }
    cpu::set_threads(before);
}

}  // namespace kernels::test
