#include "instruments/replay/step_gradients.h"

#include <cmath>
#include <limits>

#include "instruments/replay/phase_gradients.h"
#include "ops/index/sparse.h"
#include "tensor/sparse.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// An f16 gradient is scaled by up to 2^24: the quotient is taken in f64.
std::vector<double> unscaled(const Tensor& gradient, double scale) {
    std::vector<double> out = (gradient.is_sparse() ? to_dense(gradient) : gradient).values();
    for (double& each : out) each /= scale;
    return out;
}

}  // namespace

void StepGradients::before_update(const StepView& step) {
    const GradMode off(false);
    const double scale = loss_scale_of(step);
    for_each_gradient(step, [&](const PhaseGradient& gradient) {
        gradients_[gradient.name] = unscaled(gradient.values, scale);
    });
}

double relative_error(const StepGradients& found, const StepGradients& exact) {
    double difference = 0, size = 0;
    for (const auto& [name, wanted] : exact.values()) {
        const auto own = found.values().find(name);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const double value = own == found.values().end() ? 0 : own->second[i];
            if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
            difference += (value - wanted[i]) * (value - wanted[i]);
            size += wanted[i] * wanted[i];
        }
    }
    if (difference == 0) return 0;
    return size > 0 ? std::sqrt(difference / size) : std::numeric_limits<double>::infinity();
}

}  // namespace engine
