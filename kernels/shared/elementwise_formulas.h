#pragma once

#include <cmath>
#include <numbers>

#include "kernels/host_device.h"

/// The elementwise functions of one number whose formula the backends share: C is double on the
/// CPU, float or double on CUDA. One function for a row of kernels/elementwise_functions.inc.
namespace kernels::formula {

using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::ceil;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::expm1;
using std::floor;
using std::fmod;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

template <typename C>
HALFTONE_HOST_DEVICE inline C neg(C x) {
    return -x;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C abs(C x) {
    return std::fabs(x);
}
template <typename C>
HALFTONE_HOST_DEVICE inline C sign(C x) {
    return static_cast<C>((x > 0) - (x < 0));
}
template <typename C>
HALFTONE_HOST_DEVICE inline C rsqrt(C x) {
    return C{1} / std::sqrt(x);
}
template <typename C>
HALFTONE_HOST_DEVICE inline C reciprocal(C x) {
    return C{1} / x;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C square(C x) {
    return x * x;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C relu(C x) {
    return x <= 0 ? C{0} : x;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C relu6(C x) {
    return x <= 0 ? C{0} : x >= 6 ? C{6} : x;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C round(C x) {
    return std::nearbyint(x);
}
template <typename C>
HALFTONE_HOST_DEVICE inline C logical_not(C x) {
    return static_cast<C>(x == 0);
}
template <typename C>
HALFTONE_HOST_DEVICE inline C sigmoid(C x) {
    const C e = std::exp(-std::fabs(x));
    return (x < 0 ? e : C{1}) / (C{1} + e);
}
template <typename C>
HALFTONE_HOST_DEVICE inline C tanhshrink(C x) {
    if (!(std::fabs(x) < 1)) return x - std::tanh(x);
    // Lambert's continued fraction tanh(x) = x / (1 + c), c = x^2 / (3 + x^2 / (5 + ...)): no term
    // is negative, so nothing cancels. At |x| = 1 the first omitted term is 1e-19.
    const C xx = x * x;
    C c = 0;
    for (int odd = 21; odd >= 3; odd -= 2) c = xx / (static_cast<C>(odd) + c);
    return x * (c / (1 + c));
}

/// sigmoid(v) and sigmoid(-v) of gelu_tanh(x) = x sigmoid(v), and v's derivative.
template <typename C>
struct GeluTanhAt {
    C of_v, of_minus_v, slope;

    HALFTONE_HOST_DEVICE explicit GeluTanhAt(C x) {
        constexpr C root = static_cast<C>(1.5957691216057308);  // sqrt(8 / pi)
        constexpr C cubic = static_cast<C>(0.044715);
        const C v = root * x * (C{1} + cubic * x * x);
        const C e = std::exp(-std::fabs(v));
        const C large = C{1} / (C{1} + e), small = e * large;
        of_v = v < 0 ? small : large;
        of_minus_v = v < 0 ? large : small;
        slope = root * (C{1} + C{3} * cubic * x * x);
    }
};

template <typename C>
HALFTONE_HOST_DEVICE inline C gelu_tanh(C x) {
    return x * GeluTanhAt<C>(x).of_v;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C gelu_tanh_backward(C dy, C x) {
    const GeluTanhAt<C> at(x);
    return dy * (at.of_v + at.of_v * (x * at.of_minus_v * at.slope));
}
template <typename C>
HALFTONE_HOST_DEVICE inline C gelu_backward(C dy, C x) {
    constexpr C half_root = static_cast<C>(std::numbers::sqrt2 / 2);
    constexpr C peak = static_cast<C>(std::numbers::inv_sqrtpi) * half_root;
    const C density = std::exp(C{-0.5} * x * x) * peak;
    return dy * (C{0.5} * std::erfc(-x * half_root) + x * density);
}

template <typename C>
HALFTONE_HOST_DEVICE inline C add(C a, C b) {
    return a + b;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C sub(C a, C b) {
    return a - b;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C mul(C a, C b) {
    return a * b;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C div(C a, C b) {
    return a / b;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C maximum(C a, C b) {
    return a != a || a > b ? a : b;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C minimum(C a, C b) {
    return a != a || a < b ? a : b;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C relu_backward(C a, C b) {
    return b <= 0 ? C{0} : a;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C relu6_backward(C a, C b) {
    return b <= 0 || b >= 6 ? C{0} : a;
}
template <typename C>
HALFTONE_HOST_DEVICE inline C sigmoid_backward(C a, C b) {
    return a * b * (C{1} - b);
}
template <typename C>
HALFTONE_HOST_DEVICE inline C remainder(C a, C b) {
    const C r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// In f32 the product is fused, as in the CPU's vector loops.
HALFTONE_HOST_DEVICE inline float tanh_backward(float a, float b) {
    return a * std::fma(-b, b, 1.0f);
}
HALFTONE_HOST_DEVICE inline double tanh_backward(double a, double b) { return a * (1.0 - b * b); }

}  // namespace kernels::formula
