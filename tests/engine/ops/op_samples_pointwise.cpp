#include "op_samples.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pointwise/reflected.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/trigonometric.h"
#include "ops/pointwise/unary.h"

namespace engine {
namespace {

using In = const TensorList&;

template <Tensor (*op)(const Tensor&)>
Tensor one(In x) {
    return op(x[0]);
}
/// Multiplies the result by x: a gradient that is zero would have no second derivative to check.
template <Tensor (*op)(const Tensor&)>
Tensor beside(In x) {
    return mul(op(x[0]), x[0]);
}

}  // namespace

void add_pointwise_samples(std::vector<OpSample>& out) {
    const auto unary = [&](const char* op, Function f, double low = -2, double high = 2) {
        out.push_back({op, "plain", std::move(f), {{3, 5}}, low, high});
    };
    unary("acos", one<acos>, -0.8, 0.8);
    unary("asin", one<asin>, -0.8, 0.8);
    unary("atan", one<atan>);
    unary("tan", one<tan>, -1.2, 1.2);
    unary("cosh", one<cosh>);
    unary("sinh", one<sinh>);
    unary("acosh", one<acosh>, 1.3, 3);
    unary("asinh", one<asinh>);
    unary("atanh", one<atanh>, -0.8, 0.8);
    unary("erfc", one<erfc>);
    unary("erfinv", one<erfinv>, -0.8, 0.8);
    unary("exp2", one<exp2>);
    unary("silu", one<silu>);
    unary("mish", one<mish>);
    unary("softplus", [](In x) { return softplus(x[0], 1.5, 1); });
    unary("softsign", one<softsign>);
    unary("tanhshrink", one<tanhshrink>);
    out.push_back({"gelu", "tanh", one<gelu_tanh>, {{3, 5}}});
    unary("elu", [](In x) { return elu(x[0], 0.7); });
    unary("selu", one<selu>);
    unary("celu", [](In x) { return celu(x[0], 1.3); });
    unary("leaky_relu", [](In x) { return leaky_relu(x[0], 0.1); });
    unary("hardtanh", [](In x) { return hardtanh(x[0], -0.7, 0.9); });
    unary("relu6", one<relu6>, -2, 8);
    unary("hardsigmoid", one<hardsigmoid>, -5, 5);
    unary("hardswish", one<hardswish>, -5, 5);
    unary("threshold", [](In x) { return threshold(x[0], 0.3, -1); });
    unary("floor", beside<floor>);
    unary("ceil", beside<ceil>);
    unary("round", beside<round>);
    unary("trunc", beside<trunc>);
    unary("sign", beside<sign>);
    unary(
        "rdiv", [](In x) { return div(1.5, x[0]); }, 0.4, 3);
    unary(
        "rtruediv", [](In x) { return div(-2.0, x[0]); }, 0.4, 3);
    unary("rpow", [](In x) { return pow(1.5, x[0]); });
    const auto several = [&](const char* op, const char* label, Function f,
                             std::vector<Shape> shapes, double low = -2, double high = 2) {
        out.push_back({op, label, std::move(f), std::move(shapes), low, high});
    };
    several("prelu", "one", [](In x) { return prelu(x[0], x[1]); }, {{3, 4}, {1}});
    several("prelu", "channels", [](In x) { return prelu(x[0], x[1]); }, {{2, 3, 2}, {3}});
    several(
        "fmod", "broadcast", [](In x) { return mul(fmod(x[0], x[1]), x[0]); }, {{3, 4}, {4}}, 0.3,
        2);
    several(
        "remainder", "broadcast", [](In x) { return mul(remainder(x[0], x[1]), x[1]); },
        {{3, 4}, {3, 1}}, 0.3, 2);
    several("addcmul", "broadcast", [](In x) { return addcmul(x[0], x[1], x[2], -0.5); },
            {{3, 4}, {4}, {3, 1}});
    several(
        "addcdiv", "broadcast", [](In x) { return addcdiv(x[0], x[1], x[2], 2); },
        {{3, 1}, {3, 4}, {4}}, 0.4, 2);
    several("lerp", "tensor", [](In x) { return lerp(x[0], x[1], x[2]); }, {{3, 4}, {4}, {3, 1}});
    several("lerp", "start", [](In x) { return mul(lerp(x[0], x[1], 0.3), x[1]); }, {{3, 4}, {4}});
    several("lerp", "end", [](In x) { return mul(lerp(x[0], x[1], 0.8), x[1]); }, {{3, 4}, {4}});
}

}  // namespace engine
