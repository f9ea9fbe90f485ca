#include "kernels/batch_norm.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "cpu/batch_norm_rows.h"
#include "cpu/grain.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// sum(part, begin, end) fills 2 * channels doubles for each chunk of rows, and join(all, part,
/// before, rows) adds one to the first. The shape alone determines the chunks, so the result does
/// not depend on the thread count.
template <class Sum, class Join>
std::vector<double> over_chunks(std::int64_t rows, std::int64_t channels, const Sum& sum,
                                const Join& join) {
    const std::int64_t size = std::max<std::int64_t>(128, row_grain(channels) / 128 * 128);
    const std::int64_t count = (rows + size - 1) / size;
    std::vector<double> parts(
        static_cast<std::size_t>(std::max<std::int64_t>(count, 1) * 2 * channels));
    const auto end_of = [&](std::int64_t k) { return std::min(rows, (k + 1) * size); };
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
            sum(parts.data() + k * 2 * channels, k * size, end_of(k));
    });
    for (std::int64_t k = 1; k < count; ++k)
        join(parts.data(), parts.data() + k * 2 * channels, k * size, end_of(k) - k * size);
    return parts;
}

const double* doubles(ConstArray x) { return static_cast<const double*>(x.data); }

/// The sums of the gradient in f64.
void gradient_sums_double(double* sums, ConstArray dy, ConstArray x, ConstArray mean,
                          std::int64_t channels, std::int64_t begin, std::int64_t end) {
    std::fill_n(sums, 2 * channels, 0.0);
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t c = 0; c < channels; ++c) {
            const std::int64_t i = row * channels + c;
            sums[c] += doubles(dy)[i];
            sums[channels + c] += doubles(dy)[i] * (doubles(x)[i] - doubles(mean)[c]);
        }
}

}  // namespace

void welford_local(Array mean, Array var, ConstArray x, std::int64_t rows, std::int64_t channels,
                   Stream) {
    assert(x.size == rows * channels && mean.size == channels && var.size == channels);
    std::vector<double> stats(static_cast<std::size_t>(2 * channels));
    if (rows > 0 && x.dtype == DType::f64) {
        const double* found = moments_double(x, {rows, channels});
        stats.assign(found, found + 2 * channels);
    } else if (rows > 0) {
        stats = over_chunks(
            rows, channels,
            [&](double* part, std::int64_t begin, std::int64_t end) {
                moments(part, x, channels, begin, end);
            },
            [&](double* all, const double* part, std::int64_t before, std::int64_t more) {
                join_moments(all, all + channels, part, part + channels, channels, before, more);
            });
    }
    const auto count = static_cast<double>(std::max<std::int64_t>(rows, 1));
    for (std::int64_t c = 0; c < channels; ++c) {
        put_channel(mean, c, stats[static_cast<std::size_t>(c)]);
        put_channel(var, c, stats[static_cast<std::size_t>(channels + c)] / count);
    }
}

void welford_merge(Array mean, Array var, Array unbiased, ConstArray means, ConstArray vars,
                   ConstArray counts, std::int64_t channels, Stream) {
    const auto* of = static_cast<const std::int64_t*>(counts.data);
    for (std::int64_t c = 0; c < channels; ++c) {
        double n = 0, mu = 0, squares = 0;
        for (std::int64_t part = 0; part < counts.size; ++part) {
            const auto k = static_cast<double>(of[part]);
            if (of[part] == 0) continue;
            const double m = channel_or(means, part * channels + c, 0), total = n + k;
            const double delta = mu - m;
            squares += channel_or(vars, part * channels + c, 0) * k + delta * delta * k * n / total;
            mu = (m * k + mu * n) / total;
            n = total;
        }
        put_channel(mean, c, mu);
        put_channel(var, c, squares / n);
        put_channel(unbiased, c, squares / (n - 1));
    }
}

void welford_backward_sums(Array sum_dy, Array sum_dy_centred, ConstArray dy, ConstArray x,
                           ConstArray mean, std::int64_t rows, std::int64_t channels, Stream) {
    assert(x.size == rows * channels && dy.size == x.size && dy.dtype == x.dtype);
    // The sums of batch norm's gradient for deviations of 1.
    const std::vector<float> ones(static_cast<std::size_t>(channels), 1.0f);
    const Gradients in{
        dy, x, {nullptr, x.dtype, 0}, static_cast<const float*>(mean.data), ones.data()};
    const auto sums = over_chunks(
        rows, channels,
        [&](double* part, std::int64_t begin, std::int64_t end) {
            if (x.dtype == DType::f64)
                gradient_sums_double(part, dy, x, mean, channels, begin, end);
            else
                gradient_sums(part, in, channels, begin, end);
        },
        [&](double* all, const double* part, std::int64_t, std::int64_t) {
            for (std::int64_t i = 0; i < 2 * channels; ++i) all[i] += part[i];
        });
    for (std::int64_t c = 0; c < channels; ++c) {
        put_channel(sum_dy, c, sums[static_cast<std::size_t>(c)]);
        put_channel(sum_dy_centred, c, sums[static_cast<std::size_t>(channels + c)]);
    }
}

}  // namespace kernels::cpu
