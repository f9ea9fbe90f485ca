#pragma once

#include <algorithm>
#include <cmath>

namespace engine {

/// A double value with a bound on the error of the same computation in f32. Running error analysis:
/// every f32 operation, and every constant rounded to f32, adds a relative error of at most 2^-24.
struct Bounded {
    double value = 0;
    double error = 0;
};

constexpr double unit = 0x1p-24;

/// x, rounded to f32 once.
inline Bounded rounded(Bounded x) { return {x.value, x.error + unit * std::abs(x.value)}; }
inline Bounded operator+(Bounded a, Bounded b) { return {a.value + b.value, a.error + b.error}; }
inline Bounded operator-(Bounded a, Bounded b) { return {a.value - b.value, a.error + b.error}; }
/// An exact constant in the form that the kernel has: rounded to f32.
inline Bounded constant(double c) { return {c, unit * std::abs(c)}; }
inline Bounded operator*(Bounded a, Bounded b) {
    return {a.value * b.value,
            std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error};
}
/// b must differ from 0 by more than its error.
inline Bounded operator/(Bounded a, Bounded b) {
    const double q = a.value / b.value;
    return {q, (a.error + std::abs(q) * b.error) / (std::abs(b.value) - b.error)};
}
/// x must be positive, and larger than its error.
inline Bounded root(Bounded x) {
    const double r = std::sqrt(x.value);
    return {r, r == 0 ? std::sqrt(x.error)
                      : x.error / (r + std::sqrt(std::max(0.0, x.value - x.error)))};
}

}  // namespace engine
