#pragma once

#include <cmath>

#include "kernels/host_device.h"
#include "kernels/multi_tensor_update.h"

/// The device scalars of an update, read: shared by the twins.
namespace kernels {

/// Turns a tensor's gradient into the optimizer's: g * factor * clip, then (g + decay * p) * rate
/// of that if it adapts.
struct GradientValues {
    double factor = 1, clip = 1;
    double rate = 1, decay = 0;
    bool adapts = false;
    bool write = false;
};

HALFTONE_HOST_DEVICE inline GradientValues gradient_values(const UpdateScalars& scalars) {
    GradientValues values;
    if (scalars.grad_scale != nullptr) {
        const auto inverse = static_cast<float>(1.0 / static_cast<double>(*scalars.grad_scale));
        values.factor = static_cast<double>(inverse);
    }
    if (scalars.clip != nullptr) values.clip = static_cast<double>(*scalars.clip);
    values.write = scalars.write_grads;
    return values;
}

/// Values that a tensor's update depends on, besides its options.
struct UpdateValues {
    double lr, weight_decay;
    double step;         ///< of the group
    double own_step;     ///< of the parameter
    double divisor = 1;  ///< LAMB: of all gradients
};

HALFTONE_HOST_DEVICE inline double group_decay(const UpdateScalars& scalars, double of_options,
                                               int group) {
    return scalars.weight_decay != nullptr ? scalars.weight_decay[group] : of_options;
}

HALFTONE_HOST_DEVICE inline double step_of(const std::int64_t* steps, int i) {
    return steps != nullptr ? static_cast<double>(steps[i]) : 0.0;
}

HALFTONE_HOST_DEVICE inline UpdateValues update_values(const UpdateScalars& scalars,
                                                       double weight_decay, int group,
                                                       int parameter) {
    // LARC has taken the decay into the gradient.
    const double decay = scalars.larc.on ? 0.0 : group_decay(scalars, weight_decay, group);
    return {static_cast<double>(scalars.lr[group]), decay, step_of(scalars.step, group),
            step_of(scalars.own_step, parameter)};
}

/// LARC's rate for a tensor (optimizers.md#larc, 4.4).
HALFTONE_HOST_DEVICE inline void adapt(GradientValues& gradient, const Larc& larc, double lr,
                                       double weight_decay, double weight_norm,
                                       double gradient_norm) {
    if (weight_norm == 0 || gradient_norm == 0) return;
    double rate =
        larc.trust * weight_norm / (gradient_norm + weight_norm * weight_decay + larc.eps);
    if (larc.clip) {
        rate /= lr;
        if (rate > 1) rate = 1;
    }
    gradient.rate = rate;
    gradient.decay = weight_decay;
    gradient.adapts = true;
}

/// LAMB: what the gradients are divided by.
HALFTONE_HOST_DEVICE inline double lamb_divisor(double sum_squares, double max_grad_norm) {
    const double norm = std::sqrt(sum_squares);
    return max_grad_norm > 0 && norm > max_grad_norm ? norm / max_grad_norm : 1.0;
}

/// LAMB: the rate of a tensor, from the norms of its weights and of their direction.
HALFTONE_HOST_DEVICE inline double lamb_rate(const LambOptions& options, const UpdateValues& at,
                                             double weight_norm, double direction_norm) {
    const bool trusts = options.nvlamb || at.weight_decay != 0;
    if (!trusts || weight_norm == 0 || direction_norm == 0) return at.lr;
    return at.lr * (weight_norm / direction_norm);
}

/// NovoGrad: the running norm after this step, from the one before.
HALFTONE_HOST_DEVICE inline double novograd_norm(const NovoGradOptions& options, double own_step,
                                                 double before, double gradient_norm) {
    if (own_step <= 1 && !options.init_zero) before = gradient_norm;
    const double rest = 1 - options.beta2;
    if (options.norm == NormKind::largest) return options.beta2 * before + rest * gradient_norm;
    return std::sqrt(options.beta2 * before * before + rest * gradient_norm * gradient_norm);
}

/// NovoGrad: what the gradient or its mean is divided by.
HALFTONE_HOST_DEVICE inline double novograd_divisor(const NovoGradOptions& options, double step,
                                                    double norm) {
    const double root_c2 =
        options.bias_correction ? std::sqrt(1 - std::pow(options.beta2, step)) : 1.0;
    return norm / root_c2 + options.eps;
}

}  // namespace kernels
