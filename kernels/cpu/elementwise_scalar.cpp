#include "cpu/elementwise_scalar.h"

#include <numbers>

#include "cpu/special_functions.h"

namespace kernels::cpu {
namespace {

/// At -infinity NaN, like the product that it is: an overflow before it must not vanish.
double gelu(double x) { return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2); }

double gelu_grad(double x) {
    const double density =
        std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2;
    const double cumulative = 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2);
    return cumulative + x * density;
}

double sigmoid(double x) {
    const double e = std::exp(-std::fabs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
}

}  // namespace

double unary_scalar(UnaryOp op, double x) {
    switch (op) {
        case UnaryOp::neg:
            return -x;
        case UnaryOp::abs:
            return std::fabs(x);
        case UnaryOp::sign:
            return static_cast<double>((x > 0) - (x < 0));
        case UnaryOp::exp:
            return std::exp(x);
        case UnaryOp::expm1:
            return std::expm1(x);
        case UnaryOp::log:
            return std::log(x);
        case UnaryOp::log1p:
            return std::log1p(x);
        case UnaryOp::log2:
            return std::log2(x);
        case UnaryOp::log10:
            return std::log10(x);
        case UnaryOp::sqrt:
            return std::sqrt(x);
        case UnaryOp::rsqrt:
            return 1.0 / std::sqrt(x);
        case UnaryOp::reciprocal:
            return 1.0 / x;
        case UnaryOp::square:
            return x * x;
        case UnaryOp::sin:
            return std::sin(x);
        case UnaryOp::cos:
            return std::cos(x);
        case UnaryOp::tanh:
            return std::tanh(x);
        case UnaryOp::sigmoid:
            return sigmoid(x);
        case UnaryOp::relu:
            return x <= 0 ? 0.0 : x;
        case UnaryOp::gelu:
            return gelu(x);
        case UnaryOp::gelu_grad:
            return gelu_grad(x);
        case UnaryOp::erf:
            return std::erf(x);
        case UnaryOp::erfc:
            return std::erfc(x);
        case UnaryOp::erfinv:
            return erfinv(x);
        case UnaryOp::tan:
            return std::tan(x);
        case UnaryOp::asin:
            return std::asin(x);
        case UnaryOp::acos:
            return std::acos(x);
        case UnaryOp::atan:
            return std::atan(x);
        case UnaryOp::sinh:
            return std::sinh(x);
        case UnaryOp::cosh:
            return std::cosh(x);
        case UnaryOp::asinh:
            return std::asinh(x);
        case UnaryOp::acosh:
            return std::acosh(x);
        case UnaryOp::atanh:
            return std::atanh(x);
        case UnaryOp::tanhshrink:
            return tanhshrink(x);
        case UnaryOp::floor:
            return std::floor(x);
        case UnaryOp::ceil:
            return std::ceil(x);
        case UnaryOp::round:
            return std::nearbyint(x);
        case UnaryOp::trunc:
            return std::trunc(x);
        case UnaryOp::logical_not:
            break;
    }
    return static_cast<double>(x == 0);
}

double binary_scalar(BinaryOp op, double a, double b) {
    switch (op) {
        case BinaryOp::add:
            return a + b;
        case BinaryOp::sub:
            return a - b;
        case BinaryOp::mul:
            return a * b;
        case BinaryOp::div:
            return a / b;
        case BinaryOp::maximum:
            return std::isnan(a) || a > b ? a : b;
        case BinaryOp::minimum:
            return std::isnan(a) || a < b ? a : b;
        case BinaryOp::pow:
            return std::pow(a, b);
        case BinaryOp::atan2:
            return std::atan2(a, b);
        case BinaryOp::relu_backward:
            return b <= 0 ? 0.0 : a;
        case BinaryOp::sigmoid_backward:
            return a * b * (1.0 - b);
        case BinaryOp::tanh_backward:
            return a * (1.0 - b * b);
        case BinaryOp::fmod:
            return std::fmod(a, b);
        case BinaryOp::remainder:
            break;
    }
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace kernels::cpu
