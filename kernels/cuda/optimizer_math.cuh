#pragma once

#include "cuda/device_math.cuh"
#include "kernels/multi_tensor.h"

/// The optimizers' arithmetic for one element, operation by operation as the CPU twins': in f32
/// products and sums are joined where theirs are.
namespace kernels::cuda {

/// The unscaled gradient is g * grad_factor * clip.
template <typename W>
struct CommonStep {
    W grad_factor, clip;
    bool write_grads;
};

template <typename W>
__device__ __forceinline__ CommonStep<W> common_step(const UpdateScalars& scalars) {
    float factor = 1, clip = 1;
    if (scalars.grad_scale != nullptr)
        factor = static_cast<float>(1.0 / static_cast<double>(*scalars.grad_scale));
    if (scalars.clip != nullptr) clip = *scalars.clip;
    return {static_cast<W>(factor), static_cast<W>(clip), scalars.write_grads};
}

/// An update with the device's scalars read; worked out in f64, then rounded to W.
template <typename W>
struct SgdStep {
    static constexpr bool two_states = false;
    CommonStep<W> common;
    W lr, momentum, undamped, weight_decay;
    bool nesterov, first_step;

    /// What p loses.
    __device__ __forceinline__ W apply(W& p, W g, W& buffer, W&, bool has_buffer) const {
        const W old = p;
        // In f64 the CPU adds a product with 0 too.
        if (!std::is_same_v<W, float> || weight_decay != 0) g = multiply_add(weight_decay, old, g);
        if (has_buffer) {
            buffer = first_step ? g : multiply_add(undamped, g, momentum * buffer);
            g = nesterov ? multiply_add(momentum, buffer, g) : buffer;
        }
        p = multiply_add(-lr, g, old);
        return lr * g;
    }
};

template <typename W>
__device__ __forceinline__ SgdStep<W> step_of(const SgdOptions& options,
                                              const UpdateScalars& scalars) {
    SgdStep<W> step;
    step.common = common_step<W>(scalars);
    step.lr = static_cast<W>(*scalars.lr);
    step.momentum = static_cast<W>(options.momentum);
    step.undamped = static_cast<W>(1 - options.dampening);
    step.weight_decay = static_cast<W>(options.weight_decay);
    step.nesterov = options.nesterov;
    step.first_step = options.dampening != 0 && scalars.step != nullptr && *scalars.step <= 1;
    return step;
}

template <typename W>
struct AdamStep {
    static constexpr bool two_states = true;
    CommonStep<W> common;
    W decay, weight_decay, rest1, beta2, rest2, eps;
    W step_size;  ///< lr / (1 - beta1^step)
    W root_c2;    ///< sqrt(1 - beta2^step)

    __device__ __forceinline__ W apply(W& p, W g, W& m, W& v, bool) const {
        const W old = p;
        if (!std::is_same_v<W, float> || weight_decay != 0) g = multiply_add(weight_decay, old, g);
        m = multiply_add(rest1, g - m, m);
        v = multiply_add(rest2 * g, g, beta2 * v);
        const W denominator = std::sqrt(v) / root_c2 + eps;
        const W update = step_size * m / denominator;
        p = multiply_add(old, decay, -update);
        return update + multiply_add(-old, decay, old);
    }
};

template <typename W>
__device__ __forceinline__ AdamStep<W> step_of(const AdamOptions& options,
                                               const UpdateScalars& scalars) {
    const auto lr = static_cast<double>(*scalars.lr);
    const auto t = static_cast<double>(*scalars.step);
    AdamStep<W> step;
    step.common = common_step<W>(scalars);
    step.decay = static_cast<W>(options.decoupled ? 1 - lr * options.weight_decay : 1);
    step.weight_decay = static_cast<W>(options.decoupled ? 0 : options.weight_decay);
    step.rest1 = static_cast<W>(1 - options.beta1);
    step.beta2 = static_cast<W>(options.beta2);
    step.rest2 = static_cast<W>(1 - options.beta2);
    step.eps = static_cast<W>(options.eps);
    step.step_size = static_cast<W>(lr / (1 - std::pow(options.beta1, t)));
    step.root_c2 = static_cast<W>(std::sqrt(1 - std::pow(options.beta2, t)));
    return step;
}

}  // namespace kernels::cuda
