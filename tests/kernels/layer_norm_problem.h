#pragma once

#include "kernels/layer_norm.h"
#include "kernels/support.h"

namespace kernels::test {

/// One layer norm: its shape, types and operands, and the results of plain loops in f64.
struct LayerNormProblem {
    LayerNormProblem(DType x_type, DType y_type, const LayerNormShape& shape_, bool affine_,
                     double mean = 0.5, double deviation = 2)
        : shape(shape_),
          affine(affine_),
          wide(x_type == DType::f64 ? DType::f64 : DType::f32),
          unit(x_type == DType::f64 ? 0x1p-52 : 0x1p-23),
          n(shape.rows * shape.cols),
          x(random_buffer(x_type, n, 1, mean, deviation)),
          dy(random_buffer(y_type, n, 2)),
          weight(random_buffer(wide, shape.cols, 3, 1, 0.3)),
          bias(random_buffer(wide, shape.cols, 4)) {}

    LayerNormShape shape;
    bool affine;
    DType wide;
    double unit;
    std::int64_t n;
    Buffer x, dy, weight, bias;

    double w(std::int64_t c) const { return affine ? weight.get(c) : 1; }
    double b(std::int64_t c) const { return affine ? bias.get(c) : 0; }
};

struct RowMoments {
    double mean = 0, rstd = 0, spread = 0;
};

inline RowMoments exact_moments(const LayerNormProblem& p, std::int64_t row) {
    RowMoments out;
    const auto count = static_cast<double>(p.shape.cols);
    const std::int64_t first = row * p.shape.cols, last = first + p.shape.cols;
    for (std::int64_t i = first; i < last && !p.shape.rms; ++i) out.mean += p.x.get(i) / count;
    double squares = 0;
    for (std::int64_t i = first; i < last; ++i) {
        const double apart = p.x.get(i) - out.mean;
        squares += apart * apart;
        out.spread = std::max(out.spread, std::fabs(apart));
    }
    out.rstd = 1 / std::sqrt(squares / count + p.shape.eps);
    return out;
}

/// Compares y, mean and rstd with their definition. The mean is rounded once, and its sum, of
/// deviations from a first mean, errs by at most 150 units of the spread. The sum of squares errs
/// by 150 units, its root by half of that. y has a few more roundings.
inline void expect_forward(const LayerNormProblem& p, const Buffer& y, const Buffer& mean,
                           const Buffer& rstd) {
    for (std::int64_t row = 0; row < p.shape.rows; ++row) {
        const RowMoments m = exact_moments(p, row);
        const double mean_slack = p.unit * (std::fabs(m.mean) + 150 * m.spread);
        ASSERT_TRUE(p.shape.rms || near(mean.get(row), m.mean, p.wide, mean_slack));
        ASSERT_TRUE(near(rstd.get(row), m.rstd, p.wide, 100 * p.unit * m.rstd));
        for (std::int64_t c = 0; c < p.shape.cols; ++c) {
            const std::int64_t i = row * p.shape.cols + c;
            const double expected = (p.x.get(i) - m.mean) * m.rstd * p.w(c) + p.b(c);
            const double slack = m.rstd * std::fabs(p.w(c)) *
                                     (mean_slack + 110 * p.unit * (m.spread + std::fabs(m.mean))) +
                                 4 * p.unit * (std::fabs(p.b(c)) + std::fabs(expected));
            ASSERT_TRUE(near(y.get(i), expected, y.dtype(), slack))
                << "(" << p.shape.rows << ", " << p.shape.cols << "), element " << i;
        }
    }
}

/// Compares the gradients for these moments. A row's sums err by at most 150 units of their
/// magnitudes, a column's by a unit a row.
inline void expect_backward(const LayerNormProblem& p, const Buffer& mean, const Buffer& rstd,
                            const Buffer& dx, const Buffer& dweight, const Buffer& dbias) {
    const std::int64_t cols = p.shape.cols;
    const auto count = static_cast<double>(cols);
    std::vector<double> sum_gx(static_cast<std::size_t>(cols)), sum_g = sum_gx, size_gx = sum_gx,
                                                                size_g = sum_gx;
    for (std::int64_t row = 0; row < p.shape.rows; ++row) {
        const double middle = p.shape.rms ? 0 : mean.get(row), scale = rstd.get(row);
        const auto normal = [&](std::int64_t c) {
            return (p.x.get(row * cols + c) - middle) * scale;
        };
        double shift = 0, slope = 0, shift_size = 0, slope_size = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            const double above = p.dy.get(row * cols + c), g = above * p.w(c);
            shift += p.shape.rms ? 0 : g / count;
            slope += g * normal(c) / count;
            shift_size += std::fabs(g) / count;
            slope_size += std::fabs(g * normal(c)) / count;
            sum_g[static_cast<std::size_t>(c)] += above;
            sum_gx[static_cast<std::size_t>(c)] += above * normal(c);
            size_g[static_cast<std::size_t>(c)] += std::fabs(above);
            size_gx[static_cast<std::size_t>(c)] += std::fabs(above * normal(c));
        }
        for (std::int64_t c = 0; c < cols; ++c) {
            const std::int64_t i = row * cols + c;
            const double g = p.dy.get(i) * p.w(c);
            const double expected = scale * (g - shift - normal(c) * slope);
            const double slack =
                p.unit * scale *
                (156 * shift_size + 160 * std::fabs(normal(c)) * slope_size + 6 * std::fabs(g));
            ASSERT_TRUE(near(dx.get(i), expected, dx.dtype(), slack)) << "element " << i;
        }
    }
    for (std::int64_t c = 0; c < cols; ++c) {
        const auto at = static_cast<std::size_t>(c);
        const double units = p.unit * (static_cast<double>(p.shape.rows) + 8);
        ASSERT_TRUE(near(dweight.get(c), sum_gx[at], p.wide, units * size_gx[at]));
        ASSERT_TRUE(near(dbias.get(c), sum_g[at], p.wide, units * size_g[at]));
    }
}

inline const std::vector<std::pair<std::int64_t, std::int64_t>> layer_norm_shapes = {
    {1, 1}, {3, 2}, {5, 31}, {4, 32}, {7, 33}, {300, 20}, {2, 1000}, {2, 1025}, {1, 3001}};

/// Calls f(x type, y type, shape, affine) for all combinations.
template <class F>
void for_each_layer_norm(const F& f) {
    for (const DType x : floating)
        for (const DType y : {x, x == DType::f64 ? DType::f64 : DType::f32})
            for (const auto& [rows, cols] : layer_norm_shapes)
                for (const bool rms : {false, true})
                    f(x, y, LayerNormShape{rows, cols, 1e-5, rms}, (rows + cols) % 2 == 0);
}

}  // namespace kernels::test
