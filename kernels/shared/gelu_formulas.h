#pragma once

#include <cmath>

#include "kernels/host_device.h"

/// gelu, its tanh form and their derivatives, computed in f32 only, because most cards do 64
/// operations in f32 in the time of one in f64. The error is at most one and a half units in the
/// last place; for the derivatives, sums that cancel, units of the number 1. exp multiplies the
/// error of its argument, so its argument is the sum of two floats. The compiler must not join
/// products and sums: only the explicit fma may.
namespace kernels::gelu_formula {

/// The unevaluated sum of a float and its rounding error.
struct Pair {
    float high, low;
};

HALFTONE_HOST_DEVICE inline Pair sum(float a, float b) {
    const float high = a + b, of_b = high - a;
    return {high, (a - (high - of_b)) + (b - of_b)};
}
HALFTONE_HOST_DEVICE inline Pair sum(Pair a, Pair b) {
    const Pair s = sum(a.high, b.high);
    return sum(s.high, s.low + (a.low + b.low));
}
HALFTONE_HOST_DEVICE inline Pair product(float a, float b) {
    const float high = a * b;
    return {high, std::fma(a, b, -high)};
}
HALFTONE_HOST_DEVICE inline Pair product(Pair a, Pair b) {
    const Pair p = product(a.high, b.high);
    return {p.high, p.low + (a.high * b.low + a.low * b.high)};
}
HALFTONE_HOST_DEVICE inline Pair quotient(Pair a, Pair b) {
    const float high = a.high / b.high;
    const float rest = std::fma(-high, b.high, a.high) + a.low - high * b.low;
    return {high, rest / b.high};
}
HALFTONE_HOST_DEVICE inline float rounded(Pair p) { return p.high + p.low; }
HALFTONE_HOST_DEVICE inline Pair negative(Pair p) { return {-p.high, -p.low}; }
HALFTONE_HOST_DEVICE inline Pair scaled(Pair p, int exponent) {
    return {std::ldexp(p.high, exponent), std::ldexp(p.low, exponent)};
}

/// The nearest float and the remainder.
HALFTONE_HOST_DEVICE constexpr Pair pair_of(double x) {
    const float high = static_cast<float>(x);
    return {high, static_cast<float>(x - static_cast<double>(high))};
}

/// Coefficients begin with the highest power.
template <typename... Rest>
HALFTONE_HOST_DEVICE inline float polynomial(float x, float first, Rest... rest) {
    float y = first;
    ((y = std::fma(y, x, rest)), ...);
    return y;
}

/// value * 2^exponent
struct Power {
    Pair value;
    int exponent;
};

/// exp(-s), 0 <= s < 2^10.
HALFTONE_HOST_DEVICE inline Power exp_of_minus(Pair s) {
    constexpr float log2_e = 1.44269504f;
    // ln 2 in two parts, of which the first has 15 bits: its products with counts are exact.
    constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
    const float count = std::rint(s.high * log2_e);
    const Pair rest = sum(std::fma(count, ln2_high, -s.high), std::fma(count, ln2_low, -s.low));
    // (exp(r) - 1 - r) / r^2 up to ln(2) / 2.
    const float r = rest.high;
    const float curve =
        r * r *
        polynomial(r, 1.0f / 40320, 1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f);
    const Pair line = sum(1.0f, r);
    return {sum(line.high, line.low + (rest.low + curve)), -static_cast<int>(count)};
}

/// Beyond these limits the result in f32 is 0 or x.
constexpr float far_from_0 = 21, tanh_far_from_0 = 12;

/// exp(-x^2 / 2), and the normal distribution's tail beyond |x| divided by it.
struct NormalAt {
    Power bell;
    Pair tail;
};
HALFTONE_HOST_DEVICE inline NormalAt normal_at(float x) {
    const float size = std::fabs(x);
    const Pair square = product(x, x);
    // (1 + |x|) tail, a smooth function of (|x| - 4) / (|x| + 4), fitted to 2.4e-9. The last
    // coefficient is most of it.
    constexpr Pair most = pair_of(4.720532063677e-01);
    const float t = (size - 4) / (size + 4);
    const float slope = polynomial(t, -7.450260104201e-05f, -6.730625798935e-05f,
                                   6.901596557606e-04f, -2.999107889200e-04f, -5.001708538229e-03f,
                                   1.793958476102e-02f, -3.219789236539e-02f, 2.860000331248e-02f,
                                   1.399964066781e-02f, -9.670346667357e-02f);
    const Pair top = sum(most, product(t, slope));
    return {exp_of_minus({0.5f * square.high, 0.5f * square.low}), quotient(top, sum(1.0f, size))};
}

/// x times the normal distribution at x; at -infinity NaN, like the product that it is.
HALFTONE_HOST_DEVICE inline float gelu(float x) {
    if (!(std::fabs(x) <= far_from_0)) return x > 0 ? x : x * 0.0f;
    const NormalAt at = normal_at(x);
    const Pair tail = product(product({x, 0}, at.tail), at.bell.value);
    if (x < 0) return std::ldexp(rounded(tail), at.bell.exponent);
    return rounded(sum({x, 0}, negative(scaled(tail, at.bell.exponent))));
}

/// 0 or 1; NaN of an infinite x, like the product with the density that it is.
HALFTONE_HOST_DEVICE inline float far_derivative(float x) {
    return (x > 0 ? 1.0f : 0.0f) + x * 0.0f;
}
HALFTONE_HOST_DEVICE inline float gelu_derivative(float x) {
    if (!(std::fabs(x) <= far_from_0)) return far_derivative(x);
    constexpr Pair peak = pair_of(0.3989422804014327);  // 1 / sqrt(2 pi)
    const NormalAt at = normal_at(x);
    const Pair beyond = sum(at.tail, negative(product({std::fabs(x), 0}, peak)));
    const Pair part = scaled(product(beyond, at.bell.value), at.bell.exponent);
    return x < 0 ? rounded(part) : rounded(sum({1, 0}, negative(part)));
}
HALFTONE_HOST_DEVICE inline float gelu_backward(float dy, float x) {
    return dy * gelu_derivative(x);
}

/// exp(-|v|), v = sqrt(8 / pi) (x + 0.044715 x^3), of the tanh form x sigmoid(v).
HALFTONE_HOST_DEVICE inline Power logistic_at(float x) {
    constexpr Pair slope = pair_of(1.5957691216057308), bend = pair_of(0.044715);
    const Pair factor = sum({1, 0}, product(product(x, x), bend));
    return exp_of_minus(product(product({std::fabs(x), 0}, slope), factor));
}

HALFTONE_HOST_DEVICE inline float gelu_tanh(float x) {
    if (!(std::fabs(x) <= tanh_far_from_0)) return x > 0 ? x : x * 0.0f;
    const Power e = logistic_at(x);
    const Pair whole = sum({1, 0}, scaled(e.value, e.exponent));
    if (x >= 0) return rounded(quotient({x, 0}, whole));
    return std::ldexp(rounded(quotient(product({x, 0}, e.value), whole)), e.exponent);
}

/// sigmoid(v) (1 + x sigmoid(-v) v').
HALFTONE_HOST_DEVICE inline float gelu_tanh_derivative(float x) {
    if (!(std::fabs(x) <= tanh_far_from_0)) return far_derivative(x);
    constexpr float root = 1.59576912f, cubic = 3 * 0.044715f;
    const Power e = logistic_at(x);
    const Pair power = scaled(e.value, e.exponent), whole = sum({1, 0}, power);
    const Pair large = quotient({1, 0}, whole), small = quotient(power, whole);
    const Pair &of_v = x < 0 ? small : large, &of_minus_v = x < 0 ? large : small;
    const float slope = root * std::fma(cubic, x * x, 1.0f);
    const Pair inner = sum({1, 0}, product(product(x, slope), of_minus_v));
    return rounded(product(of_v, inner));
}
HALFTONE_HOST_DEVICE inline float gelu_tanh_backward(float dy, float x) {
    return dy * gelu_tanh_derivative(x);
}

}  // namespace kernels::gelu_formula
