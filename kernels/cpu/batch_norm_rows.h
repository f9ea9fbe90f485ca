#pragma once

#include <cstdint>

#include "cpu/scalar_convert.h"
#include "kernels/batch_norm.h"

// Batch norm over a range of rows, for f32, f16 and bf16; arrays by channel are f32 or double.
namespace kernels::cpu {

/// One value of a per-channel array as double, `otherwise` where there is no array.
inline double channel_or(ConstArray x, std::int64_t c, double otherwise) {
    if (x.data == nullptr) return otherwise;
    if (x.dtype == DType::f32) return static_cast<double>(static_cast<const float*>(x.data)[c]);
    double value = 0;
    with_type(x.dtype, [&](auto type) {
        value = static_cast<double>(widen(static_cast<const decltype(type)*>(x.data)[c]));
    });
    return value;
}

/// Rounds a value into a per-channel array, if there is one.
inline void put_channel(Array x, std::int64_t c, double value) {
    if (x.data == nullptr) return;
    with_type(x.dtype, [&]<typename T>(T) {
        static_cast<T*>(x.data)[c] = narrow<T>(value);
    });
}

/// Moments of the rows [begin, end): (channels) means, then (channels) sums of squared deviations.
void moments(double* result, ConstArray x, std::int64_t channels, std::int64_t begin,
             std::int64_t end);

/// Moments of all rows of f64 x. Valid until this thread's next call.
const double* moments_double(ConstArray x, const BatchNormShape& shape);

/// Joins the moments of `rows` more rows to those of `before` rows (Chan, Golub, LeVeque 1979).
void join_moments(double* mean, double* squares, const double* more_mean,
                  const double* more_squares, std::int64_t channels, std::int64_t before,
                  std::int64_t rows);

/// y = (x - mean) * factor + shift [+ residual] [relu]; residual.data may be null.
struct Affine {
    const float* mean;
    const float* factor;
    const float* shift;
};
void normalize(Array y, ConstArray x, ConstArray residual, bool relu, const Affine& affine,
               std::int64_t channels, std::int64_t begin, std::int64_t end);

/// Inputs of the backward pass. The gradient d is dy, or dy + addend rounded to their type if
/// addend.data is not null; sum is where gradient_sums then writes it, perhaps the memory of dx.
/// Where relu closed, g is 0 instead of d: that is where y <= 0, and y is read, or computed again
/// from x with `forward` if that is not null. Without relu both are null.
struct Gradients {
    ConstArray dy, x, y;
    const float* mean;
    const float* invstd;
    const Affine* forward = nullptr;
    ConstArray addend{nullptr, DType::f32, 0};
    Array sum{nullptr, DType::f32, 0};
};

/// (channels) sums of g over the rows [begin, end), then (channels) sums of g * xhat.
void gradient_sums(double* result, const Gradients& in, std::int64_t channels, std::int64_t begin,
                   std::int64_t end);

/// dx = scale * g + slope * (x - mean) + offset, or scale * g alone if slope is null (an infinite x
/// would otherwise enter as 0 * inf); dresidual = g if its data is not null.
struct DxFactors {
    const float* scale;
    const float* slope;
    const float* offset;
};
void gradient_rows(Array dx, Array dresidual, const Gradients& in, const DxFactors& factors,
                   std::int64_t channels, std::int64_t begin, std::int64_t end);

}  // namespace kernels::cpu
