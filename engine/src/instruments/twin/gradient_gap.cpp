#include "instruments/twin/gradient_gap.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "instruments/replay/phase_gradients.h"
#include "ops/index/sparse.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/binary.h"
#include "tensor/cast.h"
#include "tensor/tape.h"

namespace engine {
namespace {

std::string module_of(const std::string& parameter) {
    const auto dot = parameter.rfind('.');
    return dot == std::string::npos ? std::string() : parameter.substr(0, dot);
}

double squared_norm(const Tensor& x) {
    const double n = norm(to(x, DType::f64)).item();
    return n * n;
}

Tensor find(const GradientMap& gradients, const std::string& name) {
    const auto found = gradients.find(name);
    return found == gradients.end() ? Tensor() : found->second;
}

/// Sums of squares over a layer.
struct Sums {
    double reference = 0, other = 0, difference = 0;

    void add(const Tensor& a, const Tensor& b) {
        if (a.defined()) reference += squared_norm(a);
        if (b.defined()) other += squared_norm(b);
        if (a.defined() && b.defined())
            difference += squared_norm(sub(b, a));
        else if (a.defined() || b.defined())
            difference += squared_norm(a.defined() ? a : b);
    }
};

/// Computed from the distance between the directions, which stays precise where the cosine rounds
/// to 1.
double angle_of(double reference, double other, double difference) {
    if (reference == 0 && other == 0) return 0;
    if (reference == 0 || other == 0) return 180;
    const double apart = difference * difference - (reference - other) * (reference - other);
    const double chord = std::sqrt(std::max(0.0, apart / (reference * other)));
    return 2 * std::asin(std::min(1.0, chord / 2)) * 180 / std::numbers::pi;
}

}  // namespace

std::vector<ParameterLayer> parameter_layers(const Model& model) {
    std::vector<ParameterLayer> out;
    for (const Parameter& parameter : model.parameters()) {
        if (!parameter.tensor.requires_grad()) continue;
        const std::string name = module_of(parameter.name);
        if (out.empty() || out.back().name != name) out.push_back({name, {}});
        out.back().parameters.push_back(parameter.name);
    }
    return out;
}

GradientMap unscaled_gradients(const StepView& step) {
    const GradMode off(false);
    const double factor = 1 / loss_scale_of(step);
    GradientMap out;
    for_each_gradient(step, [&](const PhaseGradient& gradient) {
        const Tensor wide = to(to_dense(gradient.values), DType::f32);
        out[gradient.name] = factor == 1 ? wide : mul(wide, factor);
    });
    return out;
}

GradientGap gradient_gap(const GradientMap& reference, const GradientMap& other,
                         const ParameterLayer& layer) {
    const GradMode off(false);
    Sums sums;
    for (const std::string& name : layer.parameters)
        sums.add(find(reference, name), find(other, name));
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(sums.reference) || !std::isfinite(sums.other)) return {nan, nan};
    const double r = std::sqrt(sums.reference), o = std::sqrt(sums.other),
                 d = std::sqrt(sums.difference);
    if (d == 0) return {0, 0};
    return {r > 0 ? d / r : std::numeric_limits<double>::infinity(), angle_of(r, o, d)};
}

}  // namespace engine
