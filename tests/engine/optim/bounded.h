#pragma once

#include <algorithm>
#include <cmath>

namespace engine {

/// A double value with a bound on how far the same steps in f32 may be from it (running error
/// analysis: every f32 operation and every constant rounded to f32 adds at most a relative 2^-24 of
/// its result).
struct Bounded {
    double value = 0;
    double error = 0;
};

constexpr double unit = 0x1p-24;

/// One rounding of x to f32.
inline Bounded rounded(Bounded x) { return {x.value, x.error + unit * std::abs(x.value)}; }
inline Bounded operator+(Bounded a, Bounded b) { return {a.value + b.value, a.error + b.error}; }
inline Bounded operator-(Bounded a, Bounded b) { return {a.value - b.value, a.error + b.error}; }
/// An exact constant, as the kernel holds it: rounded to f32.
inline Bounded constant(double c) { return {c, unit * std::abs(c)}; }
inline Bounded operator*(Bounded a, Bounded b) {
    return {a.value * b.value,
            std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error};
}
/// b away from 0 by more than its error.
inline Bounded operator/(Bounded a, Bounded b) {
    const double q = a.value / b.value;
    return {q, (a.error + std::abs(q) * b.error) / (std::abs(b.value) - b.error)};
}
/// x positive, by more than its error or with none.
inline Bounded root(Bounded x) {
    const double r = std::sqrt(x.value);
    return {r, r == 0 ? std::sqrt(x.error)
                      : x.error / (r + std::sqrt(std::max(0.0, x.value - x.error)))};
}

}  // namespace engine
