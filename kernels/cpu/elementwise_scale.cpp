#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>

#include "cpu/elementwise_scalar.h"
#include "cpu/grain.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elementwise_scale.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

void axpby_range(Array y, ConstArray a, ConstArray b, float alpha, float beta, std::int64_t begin,
                 std::int64_t n) {
    const VF scale_a = hn::Set(DF(), alpha);
    const VF scale_b = hn::Set(DF(), beta);
    with_vector_type(y.dtype, [&]<typename T>(T) {
        map(static_cast<T*>(y.data) + begin, static_cast<const T*>(a.data) + begin,
            static_cast<const T*>(b.data) + begin, n,
            [&](VF u, VF v) { return hn::MulAdd(scale_a, u, hn::Mul(scale_b, v)); });
    });
}

void scale_range(Array y, ConstArray x, float scale, std::int64_t begin, std::int64_t n) {
    const VF factor = hn::Set(DF(), scale);
    with_vector_type(y.dtype, [&]<typename T>(T) {
        map(static_cast<T*>(y.data) + begin, static_cast<const T*>(x.data) + begin, n,
            [&](VF v) { return hn::Mul(v, factor); });
    });
}

void leaky_relu_range(Array y, ConstArray a, ConstArray b, float slope, std::int64_t begin,
                      std::int64_t n) {
    const VF factor = hn::Set(DF(), slope);
    with_vector_type(y.dtype, [&]<typename T>(T) {
        map(static_cast<T*>(y.data) + begin, static_cast<const T*>(a.data) + begin,
            static_cast<const T*>(b.data) + begin, n, [&](VF u, VF v) HWY_ATTR {
                return hn::IfThenElse(hn::Gt(v, hn::Zero(DF())), u, hn::Mul(u, factor));
            });
    });
}

void add_bias_rows(Array y, ConstArray x, ConstArray bias, bool relu, std::int64_t begin,
                   std::int64_t end) {
    const std::int64_t cols = bias.size;
    with_vector_type(y.dtype, [&]<typename T>(T) {
        const auto* b = static_cast<const T*>(bias.data);
        for (std::int64_t row = begin; row < end; ++row) {
            T* out = static_cast<T*>(y.data) + row * cols;
            const T* in = static_cast<const T*>(x.data) + row * cols;
            if (relu)
                map(out, in, b, cols, [](VF u, VF v) { return relu_of(hn::Add(u, v)); });
            else
                map(out, in, b, cols, [](VF u, VF v) { return hn::Add(u, v); });
        }
    });
}

/// Bits of the largest magnitude. Without the sign the bits of floats increase with the value, and
/// NaN is above infinity, so an integer maximum finds the largest and keeps NaN.
std::uint32_t abs_max_bits(ConstArray x, std::int64_t begin, std::int64_t n) {
    const DI i32;
    const std::int64_t lanes = lane_count();
    const auto mask = hn::Set(i32, 0x7fffffff);
    auto most = hn::Zero(i32);
    with_vector_type(x.dtype, [&]<typename T>(T) {
        const T* p = static_cast<const T*>(x.data) + begin;
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes)
            most = hn::Max(most, hn::And(hn::BitCast(i32, load(p + i)), mask));
        if (i < n) {
            const VF last = load_part(p + i, static_cast<std::size_t>(n - i));
            most = hn::Max(most, hn::And(hn::BitCast(i32, last), mask));
        }
    });
    return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(i32, most)));
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(axpby_range);
HWY_EXPORT(scale_range);
HWY_EXPORT(leaky_relu_range);
HWY_EXPORT(add_bias_rows);
HWY_EXPORT(abs_max_bits);

void add_bias_double(Array y, ConstArray x, ConstArray bias, bool relu, std::int64_t begin,
                     std::int64_t end) {
    const auto* b = static_cast<const double*>(bias.data);
    for (std::int64_t row = begin; row < end; ++row) {
        double* out = static_cast<double*>(y.data) + row * bias.size;
        const double* in = static_cast<const double*>(x.data) + row * bias.size;
        for (std::int64_t c = 0; c < bias.size; ++c) {
            const double sum = in[c] + b[c];
            out[c] = relu && sum <= 0 ? 0.0 : sum;
        }
    }
}

std::uint32_t abs_max_double(ConstArray x, std::int64_t begin, std::int64_t n) {
    std::uint32_t most = 0;
    const double* p = static_cast<const double*>(x.data) + begin;
    for (std::int64_t i = 0; i < n; ++i)
        most = std::max(most, std::bit_cast<std::uint32_t>(static_cast<float>(std::fabs(p[i]))));
    return most;
}

}  // namespace

void axpby(Array y, ConstArray a, ConstArray b, double alpha, double beta, Stream) {
    assert(a.size == y.size && b.size == y.size && a.dtype == y.dtype && b.dtype == y.dtype);
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        if (y.dtype == DType::f64)
            map_scalar<double>(y, a, b, begin, end,
                               [&](double u, double v) { return alpha * u + beta * v; });
        else
            HWY_DYNAMIC_DISPATCH(axpby_range)
        (y, a, b, static_cast<float>(alpha), static_cast<float>(beta), begin, end - begin);
    });
}

void scale_by(Array y, ConstArray x, const float* scale, Stream) {
    assert(x.size == y.size && x.dtype == y.dtype);
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        if (y.dtype == DType::f64)
            map_scalar<double>(y, x, begin, end,
                               [&](double v) { return v * static_cast<double>(*scale); });
        else
            HWY_DYNAMIC_DISPATCH(scale_range)(y, x, *scale, begin, end - begin);
    });
}

void leaky_relu(Array y, ConstArray a, ConstArray b, double slope, Stream) {
    assert(a.size == y.size && b.size == y.size && a.dtype == y.dtype && b.dtype == y.dtype);
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        if (y.dtype == DType::f64)
            map_scalar<double>(y, a, b, begin, end,
                               [&](double u, double v) { return v > 0 ? u : u * slope; });
        else
            HWY_DYNAMIC_DISPATCH(leaky_relu_range)
        (y, a, b, static_cast<float>(slope), begin, end - begin);
    });
}

void add_bias(Array y, ConstArray x, ConstArray bias, bool relu, Stream) {
    assert(x.size == y.size && x.dtype == y.dtype && bias.dtype == y.dtype);
    if (bias.size == 0) return;
    parallel_for(x.size / bias.size, row_grain(bias.size),
                 [&](std::int64_t begin, std::int64_t end) {
                     if (y.dtype == DType::f64)
                         add_bias_double(y, x, bias, relu, begin, end);
                     else
                         HWY_DYNAMIC_DISPATCH(add_bias_rows)(y, x, bias, relu, begin, end);
                 });
}

void fill(Array y, double value, Stream) {
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        with_type(y.dtype, [&]<typename T>(T) {
            std::fill(static_cast<T*>(y.data) + begin, static_cast<T*>(y.data) + end,
                      narrow<T>(value));
        });
    });
}

void abs_max(float* result, ConstArray x, Stream) {
    std::atomic<std::uint32_t> most{std::bit_cast<std::uint32_t>(*result)};
    parallel_for(x.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        const std::uint32_t here = x.dtype == DType::f64
                                       ? abs_max_double(x, begin, end - begin)
                                       : HWY_DYNAMIC_DISPATCH(abs_max_bits)(x, begin, end - begin);
        std::uint32_t seen = most.load();
        while (seen < here && !most.compare_exchange_weak(seen, here)) {
        }
    });
    *result = std::bit_cast<float>(most.load());
}

}  // namespace kernels::cpu
#endif
