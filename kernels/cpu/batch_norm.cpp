#include "kernels/batch_norm.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "cpu/batch_norm_rows.h"
#include "cpu/formula_double.h"
#include "cpu/grain.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"

namespace kernels::cpu {

// f64: plain loops, for gradient checks.
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

namespace {

/// y from the mean and the reciprocal deviation, both f64.
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

/// y from running statistics of any floating dtype.
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

struct BackwardResults {
    Array dx, dresidual, dweight, dbias;
};
/// y is null without relu.
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

/// Work memory of this thread, kept from call to call.
template <class T>
T* scratch(std::int64_t size) {
    thread_local std::vector<T> memory;
    if (memory.size() < static_cast<std::size_t>(size))
        memory.resize(static_cast<std::size_t>(size));
    return memory.data();
}

/// How many rows one task sums: fixed by the shape, so that the result does not depend on threads.
struct Chunks {
    explicit Chunks(const BatchNormShape& shape)
        : total(shape.rows),
          rows(std::max<std::int64_t>(128, row_grain(shape.channels) / 128 * 128)),
          count((shape.rows + rows - 1) / rows) {}
    std::int64_t total, rows, count;
    std::int64_t begin(std::int64_t k) const { return k * rows; }
    std::int64_t end(std::int64_t k) const { return std::min(total, (k + 1) * rows); }
};

/// sum(part, begin, end) fills 2 * channels doubles for each chunk of rows. Returns the parts, one
/// after the other; at least one, zeros for no rows.
template <class Sum>
double* sum_chunks(const Chunks& chunks, std::int64_t channels, const Sum& sum) {
    double* parts = scratch<double>(std::max<std::int64_t>(chunks.count, 1) * 2 * channels);
    if (chunks.count == 0) std::fill_n(parts, 2 * channels, 0.0);
    parallel_for(chunks.count, 1, [&](std::int64_t begin, std::int64_t end) {
        // The last rows first: they were written last, so they may still be in the cache. The pass
        // that follows begins with the first rows, which are then those that were read last.
        for (std::int64_t k = end; k-- > begin;)
            sum(parts + k * 2 * channels, chunks.begin(k), chunks.end(k));
    });
    return parts;
}

/// (channels) means and (channels) sums of squared deviations over all rows.
const double* all_moments(ConstArray x, const BatchNormShape& shape) {
    const Chunks chunks(shape);
    const std::int64_t n = shape.channels;
    double* parts = sum_chunks(chunks, n, [&](double* part, std::int64_t begin, std::int64_t end) {
        moments(part, x, n, begin, end);
    });
    for (std::int64_t k = 1; k < chunks.count; ++k) {
        const double* more = parts + k * 2 * n;
        join_moments(parts, parts + n, more, more + n, n, chunks.begin(k),
                     chunks.end(k) - chunks.begin(k));
    }
    return parts;
}

/// (channels) sums of g and (channels) sums of g * xhat over all rows.
const double* all_gradient_sums(const Gradients& in, const BatchNormShape& shape) {
    const Chunks chunks(shape);
    const std::int64_t n = shape.channels;
    double* parts = sum_chunks(chunks, n, [&](double* part, std::int64_t begin, std::int64_t end) {
        gradient_sums(part, in, n, begin, end);
    });
    for (std::int64_t k = 1; k < chunks.count; ++k)
        for (std::int64_t i = 0; i < 2 * n; ++i) parts[i] += parts[k * 2 * n + i];
    return parts;
}

void normalize_all(Array y, ConstArray x, ConstArray residual, bool relu, const Affine& affine,
                   const BatchNormShape& shape) {
    parallel_for(shape.rows, row_grain(shape.channels), [&](std::int64_t begin, std::int64_t end) {
        normalize(y, x, residual, relu, affine, shape.channels, begin, end);
    });
}

/// Three f32 rows, one value a channel, in memory for 3 * channels values.
struct ChannelRows {
    ChannelRows(float* memory, std::int64_t channels)
        : mean(memory), factor(mean + channels), shift(factor + channels) {}
    float* mean;
    float* factor;
    float* shift;
    Affine affine() const { return {mean, factor, shift}; }
};

/// Factor and addend of the forward pass in training, from its saved statistics.
Affine forward_rows(const ChannelRows& rows, ConstArray mean, ConstArray invstd, ConstArray weight,
                    ConstArray bias, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
        rows.mean[c] = static_cast<const float*>(mean.data)[c];
        rows.factor[c] =
            static_cast<float>(static_cast<double>(static_cast<const float*>(invstd.data)[c]) *
                               channel_or(weight, c, 1));
        rows.shift[c] = static_cast<float>(channel_or(bias, c, 0));
    }
    return rows.affine();
}

}  // namespace

void batch_norm_forward_train(Array y, Array mean, Array invstd, Array running_mean,
                              Array running_var, ConstArray x, ConstArray weight, ConstArray bias,
                              ConstArray residual, bool relu, const BatchNormShape& shape, Stream) {
    assert(x.size == shape.rows * shape.channels && y.size == x.size && y.dtype == x.dtype);
    const double* stats = x.dtype == DType::f64 ? moments_double(x, shape) : all_moments(x, shape);
    const auto rows = static_cast<double>(shape.rows);
    for (std::int64_t c = 0; c < shape.channels; ++c) {
        const double squares = stats[shape.channels + c];
        const double unbiased = squares / std::max(rows - 1, 1.0);
        put_channel(mean, c, stats[c]);
        put_channel(invstd, c, 1 / std::sqrt(squares / rows + shape.eps));
        const double keep = 1 - shape.momentum;
        put_channel(running_mean, c,
                    keep * channel_or(running_mean, c, 0) + shape.momentum * stats[c]);
        put_channel(running_var, c,
                    keep * channel_or(running_var, c, 0) + shape.momentum * unbiased);
    }
    if (x.dtype == DType::f64) {
        normalize_double(y, x, mean, invstd, weight, bias, residual, relu, shape);
        return;
    }
    const ChannelRows rows_of(scratch<float>(3 * shape.channels), shape.channels);
    const Affine affine = forward_rows(rows_of, mean, invstd, weight, bias, shape.channels);
    normalize_all(y, x, residual, relu, affine, shape);
}

void batch_norm_forward_infer(Array y, ConstArray x, ConstArray weight, ConstArray bias,
                              ConstArray running_mean, ConstArray running_var, ConstArray residual,
                              bool relu, const BatchNormShape& shape, Stream) {
    assert(x.size == shape.rows * shape.channels && y.size == x.size && y.dtype == x.dtype);
    if (x.dtype == DType::f64) {
        normalize_running_double(y, x, running_mean, running_var, weight, bias, residual, relu,
                                 shape);
        return;
    }
    const ChannelRows rows_of(scratch<float>(3 * shape.channels), shape.channels);
    for (std::int64_t c = 0; c < shape.channels; ++c) {
        const double invstd = 1 / std::sqrt(channel_or(running_var, c, 1) + shape.eps);
        rows_of.mean[c] = static_cast<float>(channel_or(running_mean, c, 0));
        rows_of.factor[c] = static_cast<float>(invstd * channel_or(weight, c, 1));
        rows_of.shift[c] = static_cast<float>(channel_or(bias, c, 0));
    }
    normalize_all(y, x, residual, relu, rows_of.affine(), shape);
}

void batch_norm_backward(Array dx, Array dresidual, Array dweight, Array dbias, float* f16_max,
                         ConstArray dy, ConstArray addend, ConstArray x, ConstArray y,
                         ConstArray weight, ConstArray bias, ConstArray mean, ConstArray invstd,
                         bool relu, bool training, const BatchNormShape& shape, Stream stream) {
    assert(x.size == shape.rows * shape.channels && dx.size == x.size && dx.dtype == x.dtype);
    // A result has room for the sum: each element takes its place when the sum's was last read.
    const Array sum = dresidual.data != nullptr ? dresidual : dx;
    if (x.dtype == DType::f64) {
        if (addend.data != nullptr) binary(sum, dy, addend, BinaryOp::add, stream);
        backward_double({dx, dresidual, dweight, dbias}, addend.data != nullptr ? sum : dy, x,
                        relu ? y.data : nullptr, weight, mean, invstd, training, shape);
        return;
    }
    float* const memory = scratch<float>(6 * shape.channels);
    const ChannelRows factors(memory, shape.channels);
    Affine forward;
    const bool recomputed = relu && bias.data != nullptr;
    if (recomputed)
        forward = forward_rows({memory + 3 * shape.channels, shape.channels}, mean, invstd, weight,
                               bias, shape.channels);
    Gradients in{dy,
                 x,
                 {relu && !recomputed ? y.data : nullptr, y.dtype, y.size},
                 static_cast<const float*>(mean.data),
                 static_cast<const float*>(invstd.data)};
    if (recomputed) in.forward = &forward;
    in.addend = addend;
    in.sum = sum;
    const double* sums = all_gradient_sums(in, shape);
    if (addend.data != nullptr) in.dy = sum;
    in.addend = {nullptr, x.dtype, 0};
    if (f16_max != nullptr) abs_max(f16_max, in.dy, stream);
    const auto rows = static_cast<double>(shape.rows);
    for (std::int64_t c = 0; c < shape.channels; ++c) {
        const double sum_g = sums[c], sum_gx = sums[shape.channels + c];
        put_channel(dbias, c, sum_g);
        put_channel(dweight, c, sum_gx);
        const auto inverse = static_cast<double>(in.invstd[c]);
        const double scale = channel_or(weight, c, 1) * inverse;
        factors.mean[c] = static_cast<float>(scale);
        factors.factor[c] = training ? static_cast<float>(-scale * inverse * sum_gx / rows) : 0;
        factors.shift[c] = training ? static_cast<float>(-scale * sum_g / rows) : 0;
    }
    const DxFactors dx_factors{factors.mean, training ? factors.factor : nullptr, factors.shift};
    parallel_for(shape.rows, row_grain(shape.channels), [&](std::int64_t begin, std::int64_t end) {
        gradient_rows(dx, dresidual, in, dx_factors, shape.channels, begin, end);
    });
    if (f16_max != nullptr) abs_max(f16_max, dx, stream);
}

}  // namespace kernels::cpu
