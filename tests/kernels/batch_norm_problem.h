#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/batch_norm.h"
#include "kernels/device_array.h"
#include "kernels/support.h"

/// Batch norms with their operands, for the tests of both passes on every backend.
namespace kernels::test::batch_norm {

inline const Array no_array{nullptr, DType::f32, 0};

/// Inputs and outputs of one batch norm. Parameters are f32; with f64 x they are f64.
struct Case {
    Case(DType dtype, std::int64_t rows, std::int64_t channels, double mean_of_x = 0.5,
         double deviation = 2)
        : shape{rows, channels},
          wide(dtype == DType::f64 ? DType::f64 : DType::f32),
          x(random_buffer(dtype, rows * channels, 1, mean_of_x, deviation)),
          residual(random_buffer(dtype, rows * channels, 2)),
          weight(random_buffer(wide, channels, 3, 1, 0.2)),
          bias(random_buffer(wide, channels, 4)),
          y(dtype, rows * channels),
          mean(wide, channels),
          invstd(wide, channels),
          running_mean(random_buffer(wide, channels, 5)),
          running_var(random_buffer(wide, channels, 6, 2, 0.1)) {}

    void forward(bool with_residual, bool relu) {
        const ConstArray none(nullptr, x.dtype(), 0);
        cpu::batch_norm_forward_train(y, mean, invstd, running_mean, running_var, x, weight, bias,
                                      with_residual ? residual.view() : none, relu, shape, {});
    }

    BatchNormShape shape;
    DType wide;
    Buffer x, residual, weight, bias, y, mean, invstd, running_mean, running_var;
};

inline double unit_of(DType dtype) { return dtype == DType::f64 ? 0x1p-52 : 0x1p-23; }

/// Blocks of 128 rows are summed in f32 and combined in double: 128 half units of the largest
/// magnitude.
inline constexpr double block_steps = 64;

inline DType compute_type(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }
inline double half_unit_of(DType dtype) { return dtype == DType::f64 ? 0x1p-53 : 0x1p-24; }

struct TwinCase {
    std::int64_t rows, channels;
    DType dtype = DType::f32;
    DType weight = DType::f32;  ///< f64 if x is f64
    bool affine = true, residual = true, relu = true;
    double mean = 0.5, deviation = 2;
};

inline std::vector<TwinCase> cases() {
    std::vector<TwinCase> result;
    for (const DType dtype : floating) {
        const DType weight = compute_type(dtype);
        for (const auto& [rows, channels] : std::vector<std::pair<int, int>>{
                 {1, 1}, {2, 3}, {5, 8}, {33, 16}, {100, 64}, {700, 5}, {2100, 7}, {40, 130}}) {
            result.push_back({rows, channels, dtype, weight});
            result.push_back({rows, channels, dtype, weight, rows % 2 == 0, false, rows % 3 == 0});
        }
        result.push_back({130, 32, dtype, weight, false, true, false});
        if (dtype == DType::f16 || dtype == DType::bf16)
            result.push_back({64, 24, dtype, dtype, true, false, false});
    }
    return result;
}

/// The operands of one case, on the host and on the device.
struct Operands {
    explicit Operands(const TwinCase& c)
        : shape{c.rows, c.channels, 1e-5, 0.1},
          n(c.rows * c.channels),
          x(random_buffer(c.dtype, n, 1, c.mean, c.deviation)),
          residual(random_buffer(c.dtype, n, 2)),
          weight(random_buffer(c.weight, c.channels, 3, 1, 0.3)),
          bias(random_buffer(c.weight, c.channels, 4)),
          running_mean(random_buffer(c.weight, c.channels, 5)),
          running_var(random_buffer(c.weight, c.channels, 6, 3, 0.1)),
          device_x(x),
          device_residual(residual),
          device_weight(weight),
          device_bias(bias),
          device_running_mean(running_mean),
          device_running_var(running_var) {}
    BatchNormShape shape;
    std::int64_t n;
    Buffer x, residual, weight, bias, running_mean, running_var;
    DeviceBuffer device_x, device_residual, device_weight, device_bias, device_running_mean,
        device_running_var;
};

inline ConstArray given(bool there, ConstArray array) {
    return there ? array : ConstArray(no_array);
}

/// Exact statistics of one channel.
struct Exact {
    Exact(const Buffer& x, const BatchNormShape& shape, std::int64_t c) {
        for (std::int64_t r = 0; r < shape.rows; ++r) mean += x.get(r * shape.channels + c);
        mean /= static_cast<double>(shape.rows);
        for (std::int64_t r = 0; r < shape.rows; ++r) {
            const double d = x.get(r * shape.channels + c) - mean;
            squares += d * d;
            spread = std::max(spread, std::fabs(d));
        }
        variance = squares / static_cast<double>(shape.rows);
    }
    double mean = 0, squares = 0, spread = 0, variance = 0;
};

}  // namespace kernels::test::batch_norm
