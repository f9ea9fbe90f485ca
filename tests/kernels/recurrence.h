#pragma once

#include <cmath>
#include <vector>

#include "kernels/support.h"

/// The recurrence of kernels/reduce.h, by plain loops in f64.
namespace kernels::test {

struct ScanCase {
    std::int64_t outer, n, inner;
    bool factors, terms, reverse;
    std::int64_t size() const { return outer * n * inner; }
};

/// Near 1, so that products stay in the range of the type.
inline Buffer scan_factors(DType dtype, const ScanCase& c) {
    return c.factors ? random_buffer(dtype, c.size(), 1, 1, 0.02) : Buffer(dtype, 0);
}
inline Buffer scan_terms(DType dtype, const ScanCase& c) {
    return c.terms ? random_buffer(dtype, c.size(), 2) : Buffer(dtype, 0);
}
/// The operand, or no memory if it is not given.
inline ConstArray given(const Buffer& x) {
    Buffer& all = const_cast<Buffer&>(x);
    return x.size() > 0 ? ConstArray(Array(all)) : ConstArray(nullptr, x.dtype(), 0);
}

/// Checks the recurrence y. With m the same recurrence of magnitudes, each of k steps has at most
/// two roundings of m in any order of joining, and the store has one.
inline void expect_recurrence(const Buffer& y, const Buffer& a, const Buffer& b,
                              const ScanCase& c) {
    const bool wide = (c.factors ? a : b).dtype() == DType::f64;
    const double unit = wide ? 0x1p-52 : 0x1p-24;  // in f64 this loop errs as much as the kernel
    for (std::int64_t column = 0; column < c.outer * c.inner; ++column) {
        const std::int64_t first = column / c.inner * c.n * c.inner + column % c.inner;
        double exact = 0, magnitude = 0;
        for (std::int64_t step = 0; step < c.n; ++step) {
            const std::int64_t at = first + (c.reverse ? c.n - 1 - step : step) * c.inner;
            const double factor = c.factors ? a.get(at) : 1, term = c.terms ? b.get(at) : 0;
            const bool begins = step == 0;
            exact = begins ? (c.terms ? term : factor) : term + factor * exact;
            magnitude = begins ? std::fabs(exact) : std::fabs(term) + std::fabs(factor) * magnitude;
            const double slack = static_cast<double>(2 * step + 2) * unit * magnitude;
            ASSERT_TRUE(near(y.get(at), exact, y.dtype(), slack))
                << "(" << c.outer << ", " << c.n << ", " << c.inner << ") column " << column
                << " step " << step;
        }
    }
}

/// Sums, products and both, forward and backward, of these shapes.
inline std::vector<ScanCase> scan_cases(const std::vector<std::vector<std::int64_t>>& shapes) {
    std::vector<ScanCase> cases;
    for (const auto& s : shapes)
        for (const bool reverse : {false, true}) {
            cases.push_back({s[0], s[1], s[2], false, true, reverse});
            cases.push_back({s[0], s[1], s[2], true, false, reverse});
            cases.push_back({s[0], s[1], s[2], true, true, reverse});
        }
    return cases;
}

}  // namespace kernels::test
