#include "cpu/elementwise_scalar.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "shared/elementwise_formulas.h"

namespace kernels::cpu {
namespace {

namespace function {

using namespace formula;  // NOLINT(google-build-using-namespace)

/// erfinv to about three digits; a start for Newton's method. x in (0, 1): (1 - x) is given too.
double rough_erfinv(double x, double rest) {
    // Winitzki's approximation: log(1 - x^2) and 4.33 = 2 / (pi * 0.147).
    const double log_rest = std::log(rest * (1 + x));
    const double half = 2 / (std::numbers::pi * 0.147) + 0.5 * log_rest;
    return std::sqrt(std::sqrt(half * half - log_rest / 0.147) - half);
}

/// The y with erf(y) = x: infinite at -1 and 1, NaN beyond them. Within 2 units in the last place.
double erfinv(double x) {
    const double size = std::fabs(x);
    if (!(size < 1)) {
        if (size == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
        return std::numeric_limits<double>::quiet_NaN();
    }
    // erf is a straight line to the last digit here, and the start below would be 0.
    if (size < 1e-8) return x * (0.5 / std::numbers::inv_sqrtpi);
    const double rest = 1 - size;  // exact from 1/2 on, where it is used
    double y = rough_erfinv(size, rest);
    // Halley's method: three digits become ten, then all.
    for (int i = 0; i < 3; ++i) {
        const double error = size < 0.5 ? std::erf(y) - size : rest - std::erfc(y);
        const double step = error / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
        y -= step / (1 + y * step);
    }
    return std::copysign(y, x);
}

/// NaN at -infinity, as the product gives: an overflow before it must not vanish.
double gelu(double x) { return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2); }

}  // namespace function

constexpr double no_such_function = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double unary_scalar(UnaryOp op, double x) {
    switch (op) {
#define HALFTONE_UNARY(name, cpu, cuda, numbers) \
    case UnaryOp::name:                          \
        return function::name(x);
#include "kernels/elementwise_functions.inc"
    }
    return no_such_function;
}

double binary_scalar(BinaryOp op, double a, double b) {
    switch (op) {
#define HALFTONE_BINARY(name, cpu, cuda, numbers) \
    case BinaryOp::name:                          \
        return function::name(a, b);
#include "kernels/elementwise_functions.inc"
    }
    return no_such_function;
}

}  // namespace kernels::cpu
