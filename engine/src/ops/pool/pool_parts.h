#pragma once

#include <optional>

#include "kernels/pool.h"
#include "tensor/tape.h"

namespace engine {

/// Reasons of pooling ops that autocast leaves alone.
inline constexpr const char* chooses = "Chooses values: nothing is lost in its input's type.";
inline constexpr const char* adds = "Not on the list: adds in fp32 and rounds to its input's type.";

// Shared parts of the pools of sequences, images and volumes.

/// The windows along one dimension.
struct PoolAxis {
    std::int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};
/// Windows of a fixed size. Error(value) for options out of range, Error(shape) if none fits.
PoolAxis pool_axis(const Op& info, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                   std::int64_t padding, std::int64_t dilation, bool ceil_mode);
/// Windows chosen so that there are `out` of them.
PoolAxis adaptive_axis(const Op& info, std::int64_t size, std::int64_t out);
/// A divisor in place of the count, or 0 for none. Error(value) if it is 0.
std::int64_t pool_divisor(const Op& info, std::optional<std::int64_t> asked);
/// Planes of x (N, C, H, W) under these windows.
kernels::Pool2dShape pool_shape(const Tensor& x, const PoolAxis& rows, const PoolAxis& cols);

/// y and, of its shape, where in its plane each element came from (h W + w, i32).
struct MaxPooled {
    Tensor y, index;
};

// On batches of planes, recorded as `info`; the results are in NHWC memory and of x's type.

/// The maximum of each window: the first of equal ones. NaN wins over every number, and of several
/// NaNs the last, as in PyTorch.
MaxPooled max_pool_planes(const Op& info, const Tensor& x, const kernels::Pool2dShape& s);
/// Mean of each window, summed in f32 (f64 for f64) and rounded once.
Tensor mean_pool_planes(const Op& info, const Tensor& x, const kernels::Pool2dShape& s,
                        bool adaptive);

/// x, floating, with its batch dimension (ops/shape/window.h).
Tensor pool_batch(const Op& info, const Tensor& x, int dims);

}  // namespace engine
