#pragma once

#include "kernels/batch_norm.h"
#include "kernels/support.h"

namespace kernels::test {

/// A batch in parts of different sizes, as if each were in a process of its own.
struct WelfordProblem {
    WelfordProblem(DType dtype_, const std::vector<std::int64_t>& counts_, std::int64_t channels_,
                   double mean = 0.5, double deviation = 2)
        : dtype(dtype_),
          wide(dtype == DType::f64 ? DType::f64 : DType::f32),
          unit(dtype == DType::f64 ? 0x1p-52 : 0x1p-23),
          channels(channels_),
          counts(counts_) {
        for (const auto n : counts) rows += n;
        x = random_buffer(dtype, rows * channels, 1, mean, deviation);
        dy = random_buffer(dtype, rows * channels, 2);
    }
    DType dtype, wide;
    double unit;
    std::int64_t channels, rows = 0;
    std::vector<std::int64_t> counts;
    Buffer x{DType::f32, 0}, dy{DType::f32, 0};

    /// The rows of part k of x or dy.
    Buffer part(const Buffer& whole, std::size_t k) const {
        std::int64_t begin = 0;
        for (std::size_t i = 0; i < k; ++i) begin += counts[i];
        Buffer out(dtype, counts[k] * channels);
        for (std::int64_t i = 0; i < out.size(); ++i) out.set(i, whole.get(begin * channels + i));
        return out;
    }
    Buffer counts_buffer() const {
        Buffer out(DType::i64, static_cast<std::int64_t>(counts.size()));
        for (std::size_t i = 0; i < counts.size(); ++i)
            out.set(static_cast<std::int64_t>(i), static_cast<double>(counts[i]));
        return out;
    }
};

/// Compares the statistics of all rows. The mean is rounded once in each part and once when merged.
/// Its sums, and those of the squares, err by at most one unit of the added values for each row of
/// a chunk (150).
inline void expect_merged(const WelfordProblem& p, const Buffer& mean, const Buffer& var,
                          const Buffer& unbiased) {
    const auto n = static_cast<double>(p.rows);
    for (std::int64_t c = 0; c < p.channels; ++c) {
        double m = 0, squares = 0, spread = 0;
        for (std::int64_t r = 0; r < p.rows; ++r) m += p.x.get(r * p.channels + c) / n;
        for (std::int64_t r = 0; r < p.rows; ++r) {
            const double d = p.x.get(r * p.channels + c) - m;
            squares += d * d;
            spread = std::max(spread, std::fabs(d));
        }
        const double mean_slack = p.unit * (4 * std::fabs(m) + 150 * spread);
        // An error of the parts' means affects the variance by twice the spread.
        const double slack = 300 * p.unit * squares / n + 2 * spread * mean_slack;
        EXPECT_TRUE(near(mean.get(c), m, p.wide, mean_slack)) << "channel " << c;
        EXPECT_TRUE(near(var.get(c), squares / n, p.wide, slack)) << "channel " << c;
        EXPECT_TRUE(near(unbiased.get(c), squares / (n - 1), p.wide, 2 * slack)) << "channel " << c;
    }
}

/// The sums of the gradient over all rows, with the given mean. A sum errs by at most one unit per
/// row.
inline void expect_sums(const WelfordProblem& p, const Buffer& mean, const std::vector<double>& sum,
                        const std::vector<double>& centred) {
    for (std::int64_t c = 0; c < p.channels; ++c) {
        double s = 0, t = 0, size = 0, centred_size = 0;
        for (std::int64_t r = 0; r < p.rows; ++r) {
            const double g = p.dy.get(r * p.channels + c);
            const double d = p.x.get(r * p.channels + c) - mean.get(c);
            s += g;
            t += g * d;
            size += std::fabs(g);
            centred_size += std::fabs(g * d);
        }
        const double units = p.unit * (static_cast<double>(p.rows) + 8);
        const auto at = static_cast<std::size_t>(c);
        EXPECT_NEAR(sum[at], s, units * size) << "channel " << c;
        EXPECT_NEAR(centred[at], t, units * centred_size) << "channel " << c;
    }
}

/// Calls f(problem) for every type, and for several counts and channels.
template <class F>
void for_each_welford(const F& f) {
    for (const DType dtype : floating)
        for (const auto& counts : std::vector<std::vector<std::int64_t>>{
                 {7}, {2, 3}, {50, 1, 0, 9}, {300, 31}, {1, 1, 1, 1}})
            for (const std::int64_t channels : {1, 3, 8, 33})
                f(WelfordProblem(dtype, counts, channels));
    f(WelfordProblem(DType::f32, {400, 30}, 5, 100, 0.1));
}

/// The example of optimizers.md#synchronised-batch-norm (4.5): parts (2, 1.5, 0.25) and (3, 6, 2/3)
/// give mean 4.2, variance 5.36 and unbiased variance 6.7, as the values 1, 2, 5, 6, 7 do.
struct WelfordExample {
    Buffer means{DType::f64, {1.5, 6}}, vars{DType::f64, {0.25, 2.0 / 3}},
        counts{DType::i64, {2, 3}};
    double mean = 4.2, var = 5.36, unbiased = 6.7;
};

}  // namespace kernels::test
