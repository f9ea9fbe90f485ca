#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/attention.h"
#include "kernels/support.h"

/// Attention of random operands in double, with error bounds for a kernel that computes scores, exp
/// and sums in f32 and its products in 16 bits.
namespace kernels::test::attention {

struct Sizes {
    std::int64_t batch, heads, kv_heads, queries, keys, qk_size, v_size;
    bool causal = false;
    double scale = 0.25;
    bool anti_aligned = false;  ///< every score is about -100, and so each row's logsumexp
};

/// Values in dense order, and the bound on each.
struct Bounded {
    std::vector<double> value, bound;
    explicit Bounded(std::int64_t size)
        : value(static_cast<std::size_t>(size)), bound(static_cast<std::size_t>(size)) {}
    void add(std::size_t i, double v, double b) {
        value[i] += v;
        bound[i] += b;
    }
    /// Element i is stored as dtype.
    void store(std::size_t i, DType dtype) {
        bound[i] += half_ulp(dtype, std::abs(value[i]) + bound[i]);
    }
    void store(DType dtype) {
        for (std::size_t i = 0; i < value.size(); ++i) store(i, dtype);
    }
};

inline void expect_within(const std::vector<double>& actual, const Bounded& expected,
                          const char* what) {
    ASSERT_EQ(actual.size(), expected.value.size()) << what;
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_LE(std::abs(actual[i] - expected.value[i]), expected.bound[i])
            << what << " element " << i << " is " << actual[i] << ", not " << expected.value[i];
}

/// All in dense order: q, dq (N, H, L, E), k, dk (N, G, S, E), v, dv (N, G, S, V), y, dy (N, H, L,
/// V), logsumexp (N, H, L).
///
/// Bounds, with u the unit of the 16-bit type and w that of f32:
/// - A sum of n products errs by at most (n + 4) w times the sum of their magnitudes, in any order.
/// - A score errs by that, and once more by its scaling and the range reduction of exp. Together
///   that is e, an absolute error of the score and so a relative one of its exp. exp itself adds
///   two units, and the sum of exp's its own error.
/// - exp is rounded by u, or by `tiny` if it is subnormal, for the product with v or dy, before or
///   after the division by the row's sum, which is at least 1.
/// - The row's sum of dy y reads y as stored.
/// - The scores' gradient is rounded by u, or by `tiny`, before or after it is scaled.
/// - Each result is stored once; the gradients of k and v are stored for each head of a group
///   before they are added.
class Problem {
public:
    Problem(DType dtype_, const Sizes& sizes)
        : dtype(dtype_),
          s(sizes),
          q(random_buffer(dtype, s.batch * s.heads * s.queries * s.qk_size, 1).values()),
          k(random_buffer(dtype, s.batch * s.kv_heads * s.keys * s.qk_size, 2).values()),
          v(random_buffer(dtype, s.batch * s.kv_heads * s.keys * s.v_size, 3).values()),
          dy(random_buffer(dtype, s.batch * s.heads * s.queries * s.v_size, 4).values()),
          y(size(dy)),
          logsumexp(s.batch * s.heads * s.queries),
          dq(size(q)),
          dk(size(k)),
          dv(size(v)) {
        if (s.anti_aligned) {
            const auto set_first = [&](std::vector<double>& rows, double value) {
                for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(s.qk_size))
                    rows[i] = value;
            };
            set_first(q, 1);
            set_first(k, -100 / s.scale);
        }
        const std::int64_t group = s.heads / s.kv_heads;
        for (std::int64_t shared = 0; shared < s.batch * s.kv_heads; ++shared)
            for (std::int64_t h = shared * group; h < (shared + 1) * group; ++h)
                add_head(h, shared, group > 1);
        for (Bounded* stored_once : {&dk, &dv}) stored_once->store(dtype);
    }

    DType dtype;
    Sizes s;
    std::vector<double> q, k, v, dy;
    Bounded y, logsumexp, dq, dk, dv;

private:
    static constexpr double w = 0x1p-24;

    static std::int64_t size(const std::vector<double>& values) {
        return static_cast<std::int64_t>(values.size());
    }

    struct Sum {
        double value = 0, magnitude = 0;
        double error(std::int64_t terms) const {
            return static_cast<double>(terms + 4) * w * magnitude;
        }
    };
    static Sum dot(const std::vector<double>& a, std::int64_t row_a, const std::vector<double>& b,
                   std::int64_t row_b, std::int64_t length) {
        Sum sum;
        for (std::int64_t i = 0; i < length; ++i) {
            const double product = a[static_cast<std::size_t>(row_a * length + i)] *
                                   b[static_cast<std::size_t>(row_b * length + i)];
            sum.value += product;
            sum.magnitude += std::abs(product);
        }
        return sum;
    }

    /// The weights of one row, and their relative errors in f32.
    struct Weights {
        std::vector<double> p;
        double logsumexp = 0, error = 0;
    };
    Weights weights(std::int64_t row, std::int64_t head, std::int64_t shared) const {
        const std::int64_t seen = s.causal ? row - head * s.queries + 1 : s.keys;
        Weights out;
        double of_score = 0, top = -INFINITY, total = 0;
        for (std::int64_t j = 0; j < seen; ++j) {
            const Sum sum = dot(q, row, k, shared * s.keys + j, s.qk_size);
            const double score = s.scale * sum.value;
            out.p.push_back(score);
            top = std::max(top, score);
            of_score = std::max(of_score, s.scale * sum.error(s.qk_size) + 4 * w * std::abs(score));
        }
        for (double& p : out.p) total += p = std::exp(p - top);
        for (double& p : out.p) p /= total;
        out.logsumexp = top + std::log(total);
        out.error = 2 * of_score + static_cast<double>(seen + 8) * w;
        return out;
    }

    void add_head(std::int64_t head, std::int64_t shared, bool grouped) {
        Bounded own_dk(s.keys * s.qk_size), own_dv(s.keys * s.v_size);
        for (std::int64_t row = head * s.queries; row < (head + 1) * s.queries; ++row) {
            const Weights weight = weights(row, head, shared);
            const auto at = static_cast<std::size_t>(row);
            // Two units for ln and one for the addition.
            logsumexp.add(at, weight.logsumexp,
                          weight.error + 4 * w * (1 + std::abs(weight.logsumexp)));
            add_result(row, shared, weight);
            add_gradients(row, shared, weight, own_dk, own_dv);
        }
        for (Bounded* own : {&own_dk, &own_dv}) {
            if (grouped) own->store(dtype);
            Bounded& all = own == &own_dk ? dk : dv;
            const auto start = own->value.size() * static_cast<std::size_t>(shared);
            for (std::size_t i = 0; i < own->value.size(); ++i)
                all.add(start + i, own->value[i], own->bound[i] + 8 * w * std::abs(own->value[i]));
        }
    }

    void add_result(std::int64_t row, std::int64_t shared, const Weights& weight) {
        for (std::int64_t c = 0; c < s.v_size; ++c) {
            const auto at = static_cast<std::size_t>(row * s.v_size + c);
            for (std::size_t j = 0; j < weight.p.size(); ++j) {
                const double value = v[at_key(shared, j, s.v_size, c)], p = weight.p[j];
                y.add(at, p * value,
                      ((unit() + weight.error + sum_error(s.keys)) * p + tiny()) * std::abs(value));
            }
            y.store(at, dtype);
        }
    }

    void add_gradients(std::int64_t row, std::int64_t shared, const Weights& weight,
                       Bounded& own_dk, Bounded& own_dv) {
        double of_row = 0, of_row_error = 0;  // the sum of dy y
        for (std::int64_t c = 0; c < s.v_size; ++c) {
            const auto at = static_cast<std::size_t>(row * s.v_size + c);
            of_row += dy[at] * y.value[at];
            of_row_error +=
                std::abs(dy[at]) * (y.bound[at] + sum_error(s.v_size) * std::abs(y.value[at]));
        }
        for (std::size_t j = 0; j < weight.p.size(); ++j) {
            const Sum dp =
                dot(dy, row, v, shared * s.keys + static_cast<std::int64_t>(j), s.v_size);
            const double p = weight.p[j], ds = p * (dp.value - of_row) * s.scale;
            const double exact = (weight.error + 4 * w) * std::abs(ds) +
                                 p * s.scale * (of_row_error + dp.error(s.v_size));
            const double error =
                exact + unit() * (std::abs(ds) + exact) + tiny() * std::max(1.0, s.scale);
            for (std::int64_t e = 0; e < s.qk_size; ++e) {
                const auto at_q = static_cast<std::size_t>(row * s.qk_size + e);
                const std::size_t at_k = at_key(shared, j, s.qk_size, e);
                dq.add(at_q, ds * k[at_k],
                       (error + sum_error(s.keys) * std::abs(ds)) * std::abs(k[at_k]));
                own_dk.add(at_key(0, j, s.qk_size, e), ds * q[at_q],
                           (error + sum_error(s.queries) * std::abs(ds)) * std::abs(q[at_q]));
            }
            for (std::int64_t c = 0; c < s.v_size; ++c) {
                const double grad = dy[static_cast<std::size_t>(row * s.v_size + c)];
                own_dv.add(
                    at_key(0, j, s.v_size, c), p * grad,
                    ((unit() + weight.error + sum_error(s.queries)) * p + tiny()) * std::abs(grad));
            }
        }
        for (std::int64_t e = 0; e < s.qk_size; ++e)
            dq.store(static_cast<std::size_t>(row * s.qk_size + e), dtype);
    }

    std::size_t at_key(std::int64_t shared, std::size_t j, std::int64_t length,
                       std::int64_t i) const {
        return (static_cast<std::size_t>(shared * s.keys) + j) * static_cast<std::size_t>(length) +
               static_cast<std::size_t>(i);
    }
    /// The relative and absolute error of one rounding to the type.
    double unit() const { return dtype == DType::f16 ? 0x1p-11 : 0x1p-8; }
    double tiny() const { return half_ulp(dtype, 0); }
    static double sum_error(std::int64_t terms) { return static_cast<double>(terms + 4) * w; }
};

}  // namespace kernels::test::attention
