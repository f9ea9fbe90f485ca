#include "cpu/elementwise_scalar.h"

#include <limits>
#include <numbers>

#include "cpu/special_functions.h"
#include "shared/elementwise_formulas.h"

namespace kernels::cpu {
namespace {

namespace function {

using namespace formula;  // NOLINT(google-build-using-namespace)
using cpu::erfinv;

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
