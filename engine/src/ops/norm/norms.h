#pragma once

#include "ops/norm/batch_norm.h"
#include "ops/norm/layer_norm.h"

namespace engine {

/// The norms that layers compute. A run that is broken on purpose puts others in their place
/// (decisions.md#training-loop, D21).
class Norms {
public:
    virtual ~Norms() = default;

    /// batch_norm().
    virtual Tensor batch(const Tensor& x, const BatchNormTensors& t, bool training) const {
        return batch_norm(x, t.weight, t.bias, t.running_mean, t.running_var, training);
    }
    /// batch_norm_relu(); residual may be undefined.
    virtual Tensor batch_relu(const Tensor& x, const Tensor& residual, const BatchNormTensors& t,
                              bool training) const {
        return batch_norm_relu(x, residual, t.weight, t.bias, t.running_mean, t.running_var,
                               training);
    }
    /// layer_norm() over the last dimension, of which weight and bias have the size.
    virtual Tensor layer(const Tensor& x, const Tensor& weight, const Tensor& bias,
                         double eps) const {
        return layer_norm(x, weight.shape(), weight, bias, eps);
    }
    /// Whether a layer norm may be one node with the sum before it (add_layer_norm()).
    virtual bool join_sums() const { return true; }

    /// The norms of the run that this thread computes.
    static const Norms& of_thread() {
        static const Norms intact{};
        const Norms* const own = ComputeContext::of_thread().norms;
        return own != nullptr ? *own : intact;
    }
};

}  // namespace engine
