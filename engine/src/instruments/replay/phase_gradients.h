#pragma once

#include <cstddef>
#include <string>

#include "tensor/cast.h"
#include "tensor/observer.h"
#include "train/step/step_observer.h"

namespace engine {

/// A gradient as it is before the update: multiplied by the loss scale, dense or coalesced. In the
/// type of the parameter, of which a step may leave it uncast (LowGradients).
struct PhaseGradient {
    const Optimizer& optimizer;
    std::size_t index;  ///< of the parameter in its optimizer
    const std::string& name;
    Tensor values;
};

/// The gradient in the type of the parameter. The cast is the observer's, and not shown.
inline Tensor in_type_of(const Tensor& parameter, const Tensor& gradient) {
    if (gradient.is_sparse() || gradient.dtype() == parameter.dtype()) return gradient;
    const AudienceScope unseen(Audience::gradients_alone);
    return to(gradient.detach(), parameter.dtype());
}

/// Calls f(PhaseGradient) for each parameter that has a gradient, of those that the step's phase is
/// about to update, in the order of its optimizers.
template <typename F>
void for_each_gradient(const StepView& step, const F& f) {
    const Phase phase = step.task.phases()[step.phase];
    for (const std::size_t part : phase.optimizers) {
        const Optimizer& optimizer = *step.optimizers[part];
        for (std::size_t i = 0; i < optimizer.parameters().size(); ++i) {
            const Parameter& parameter = optimizer.parameters()[i];
            const Tensor gradient = parameter.tensor.grad();
            if (!gradient.defined()) continue;
            f(PhaseGradient{optimizer, i, parameter.name, in_type_of(parameter.tensor, gradient)});
        }
    }
}

/// The factor on the step's gradients; 1 without a loss scale. Waits for the device.
inline double loss_scale_of(const StepView& step) {
    const Tensor scale = step.precision.loss_scale();
    return scale.defined() ? scale.item() : 1;
}

}  // namespace engine
