#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/support.h"

/// f64 arithmetic that also propagates an error bound: how far the same formula in a narrower type
/// may be off, in any order of its sums (a running error analysis; Higham, Accuracy and Stability
/// of Numerical Algorithms, 3.3).
namespace kernels::test {

/// value: the exact value; error: the largest error of the computed one.
struct Bounded {
    double value = 0, error = 0;
};

/// Arithmetic with the rounding unit `unit` (2^-24 for f32), which stores in `dtype`.
class BoundedMath {
public:
    explicit BoundedMath(DType dtype)
        // In f64 these loops err as much as the code under test.
        : dtype_(dtype), unit_(dtype == DType::f64 ? 0x1p-52 : 0x1p-24) {}

    Bounded add(Bounded a, Bounded b) const { return done(a.value + b.value, a.error + b.error); }
    Bounded sub(Bounded a, Bounded b) const { return done(a.value - b.value, a.error + b.error); }
    Bounded mul(Bounded a, Bounded b) const {
        return done(a.value * b.value, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error +
                                           a.error * b.error);
    }
    /// Functions with an error of at most 4 units, as ours and CUDA's have, and a slope of at most
    /// 1 and 1/4.
    Bounded tanh(Bounded a) const {
        const double y = std::tanh(a.value);
        return done(y, a.error, 4);
    }
    Bounded logistic(Bounded a) const {
        const double y = 1 / (1 + std::exp(-a.value));
        return done(y, a.error / 4, 4);
    }
    Bounded relu(Bounded a) const { return {std::max(a.value, 0.0), a.error}; }
    /// d if a > 0. If the sign of a is within its error: either d or 0.
    Bounded if_positive(Bounded a, Bounded d) const {
        const double value = a.value > 0 ? d.value : 0;
        return {value, std::fabs(a.value) <= a.error ? d.error + std::fabs(d.value) : d.error};
    }
    /// The value after one rounding to the type, or none.
    Bounded stored(Bounded a) const {
        const double size = std::fabs(a.value) + a.error;
        return {a.value, a.error + half_ulp(dtype_, size)};
    }

    /// A sum of products in any order.
    class Sum {
    public:
        explicit Sum(const BoundedMath& math) : math_(math) {}
        void add(Bounded a) {
            value_ += a.value;
            error_ += a.error;
            size_ += std::fabs(a.value) + a.error;
            ++terms_;
        }
        void add(Bounded a, Bounded b) { add(math_.mul(a, b)); }
        Bounded get() const { return {value_, error_ + terms_ * math_.unit_ * size_}; }

    private:
        const BoundedMath& math_;
        double value_ = 0, error_ = 0, size_ = 0;
        int terms_ = 0;
    };

private:
    Bounded done(double value, double error, double units = 1) const {
        return {value, error + units * unit_ * (std::fabs(value) + error)};
    }

    DType dtype_;
    double unit_;
};

/// The computed value is within the bound, or is the rounding to the type of a value within it.
inline ::testing::AssertionResult within(double computed, const Bounded& bound, DType dtype) {
    return near(computed, bound.value, dtype, bound.error);
}

}  // namespace kernels::test
