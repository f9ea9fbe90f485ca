#pragma once

#include <optional>

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* sums_squares =
    "Not on the list: squares and sums are fp32 inside, and the result has its input's type.";

// No autocast entry: they keep x's type, and compute in f32 (f64 for f64). `correction` is
// subtracted from the number of elements by which the sum of squared deviations is divided: 1 for
// the unbiased estimate. At or beyond that number the result is NaN or infinite.

/// Given as a number, or as PyTorch's `unbiased`.
struct Correction {
    Correction(double number = 1) : correction(number) {}

    std::optional<bool> unbiased;
    std::optional<double> correction;
    void read(auto& from) {
        correction.reset();
        from("unbiased", unbiased)("correction", correction);
    }

    /// Error(value) naming the op if both are given.
    double value(const Op& op) const;
};

/// Variance over `dims` (empty: all).
Tensor var(const Tensor& x, const std::vector<std::int64_t>& dims = {}, Correction correction = {},
           bool keepdim = false);
inline constexpr Op var_op(CastPolicy::none,
                           "var(x; dim=[], unbiased=None, correction=None, keepdim=False)",
                           sums_squares, by_name<var>);
/// Its root; the gradient is zero where that is.
Tensor standard_deviation(const Tensor& x, const std::vector<std::int64_t>& dims = {},
                          Correction correction = {}, bool keepdim = false);
inline constexpr Op std_op(CastPolicy::none,
                           "std(x; dim=[], unbiased=None, correction=None, keepdim=False)",
                           sums_squares, by_name<standard_deviation>);
/// Variance and mean.
TensorList var_mean(const Tensor& x, const std::vector<std::int64_t>& dims = {},
                    Correction correction = {}, bool keepdim = false);
inline constexpr Op var_mean_op(
    CastPolicy::none, "var_mean(x; dim=[], unbiased=None, correction=None, keepdim=False)",
    sums_squares, by_name<var_mean>);
/// Standard deviation and mean.
TensorList std_mean(const Tensor& x, const std::vector<std::int64_t>& dims = {},
                    Correction correction = {}, bool keepdim = false);
inline constexpr Op std_mean_op(
    CastPolicy::none, "std_mean(x; dim=[], unbiased=None, correction=None, keepdim=False)",
    sums_squares, by_name<std_mean>);

}  // namespace engine
