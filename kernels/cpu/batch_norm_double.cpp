#include "cpu/batch_norm_double.h"

#include <cmath>
#include <vector>

#include "cpu/batch_norm_channel.h"
#include "cpu/formula_double.h"

namespace kernels::cpu {
namespace wide {
namespace {

#define HALFTONE_FORMULA
#include "cpu/norm_formulas.inc"
#undef HALFTONE_FORMULA

}  // namespace
}  // namespace wide

namespace {

/// Element of one channel of x seen as (rows, channels).
struct Column {
    const double* data;
    std::int64_t channels, channel;
    double operator[](std::int64_t row) const { return data[row * channels + channel]; }
};

void normalize_channel(double* y, const Column& x, const double* residual, bool relu, double mean,
                       double factor, double shift, std::int64_t rows) {
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t i = r * x.channels + x.channel;
        double v = wide::batch_normalized(x[r], mean, factor, shift);
        if (residual != nullptr) v += residual[i];
        y[i] = relu && v <= 0 ? 0 : v;
    }
}

}  // namespace

const double* moments_double(ConstArray x, const BatchNormShape& shape) {
    thread_local std::vector<double> result;
    result.assign(static_cast<std::size_t>(2 * shape.channels), 0);
    const auto rows = static_cast<double>(shape.rows);
    for (std::int64_t c = 0; c < shape.channels; ++c) {
        const Column column{static_cast<const double*>(x.data), shape.channels, c};
        double sum = 0, squares = 0;
        for (std::int64_t r = 0; r < shape.rows; ++r) sum += column[r];
        const double mean = sum / rows;
        for (std::int64_t r = 0; r < shape.rows; ++r)
            squares += (column[r] - mean) * (column[r] - mean);
        result[static_cast<std::size_t>(c)] = mean;
        result[static_cast<std::size_t>(shape.channels + c)] = squares;
    }
    return result.data();
}

void normalize_double(Array y, ConstArray x, ConstArray mean, ConstArray invstd, ConstArray weight,
                      ConstArray bias, ConstArray residual, bool relu,
                      const BatchNormShape& shape) {
    for (std::int64_t c = 0; c < shape.channels; ++c)
        normalize_channel(static_cast<double*>(y.data),
                          {static_cast<const double*>(x.data), shape.channels, c},
                          static_cast<const double*>(residual.data), relu, channel_or(mean, c, 0),
                          channel_or(invstd, c, 1) * channel_or(weight, c, 1),
                          channel_or(bias, c, 0), shape.rows);
}

void normalize_running_double(Array y, ConstArray x, ConstArray running_mean,
                              ConstArray running_var, ConstArray weight, ConstArray bias,
                              ConstArray residual, bool relu, const BatchNormShape& shape) {
    for (std::int64_t c = 0; c < shape.channels; ++c) {
        const double invstd = 1 / std::sqrt(channel_or(running_var, c, 1) + shape.eps);
        normalize_channel(
            static_cast<double*>(y.data), {static_cast<const double*>(x.data), shape.channels, c},
            static_cast<const double*>(residual.data), relu, channel_or(running_mean, c, 0),
            invstd * channel_or(weight, c, 1), channel_or(bias, c, 0), shape.rows);
    }
}

void backward_double(const BackwardResults& out, ConstArray dy, ConstArray x, const void* y,
                     ConstArray weight, ConstArray mean, ConstArray invstd, bool training,
                     const BatchNormShape& shape) {
    const auto* mask = static_cast<const double*>(y);
    const auto rows = static_cast<double>(shape.rows);
    for (std::int64_t c = 0; c < shape.channels; ++c) {
        const Column column{static_cast<const double*>(x.data), shape.channels, c};
        const Column above{static_cast<const double*>(dy.data), shape.channels, c};
        const double middle = channel_or(mean, c, 0), inverse = channel_or(invstd, c, 1);
        const auto gradient = [&](std::int64_t r) {
            return mask != nullptr && mask[r * shape.channels + c] <= 0 ? 0.0 : above[r];
        };
        double sum_g = 0, sum_gx = 0;
        for (std::int64_t r = 0; r < shape.rows; ++r) {
            sum_g += gradient(r);
            sum_gx += gradient(r) * (column[r] - middle) * inverse;
        }
        const double scale = channel_or(weight, c, 1) * inverse;
        for (std::int64_t r = 0; r < shape.rows; ++r) {
            const std::int64_t i = r * shape.channels + c;
            const double g = gradient(r);
            const double xhat = (column[r] - middle) * inverse;
            if (out.dresidual.data != nullptr) static_cast<double*>(out.dresidual.data)[i] = g;
            static_cast<double*>(out.dx.data)[i] =
                scale * (training ? g - sum_g / rows - xhat * sum_gx / rows : g);
        }
        put_channel(out.dbias, c, sum_g);
        put_channel(out.dweight, c, sum_gx);
    }
}

}  // namespace kernels::cpu
