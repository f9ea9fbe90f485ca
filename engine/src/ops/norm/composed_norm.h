#pragma once

#include "tensor/tape.h"

namespace engine {

// Norms as single operations in 16 bits, for lessons: the mean, E[x^2] - E[x]^2, epsilon and the
// square root are each rounded to the type of x. The engine's own norms keep their sums in f32 and
// cannot fail in these ways: E[x^2] overflows fp16 if |x| is above 255.9, the difference may be 0
// or negative, and an epsilon below 2^-25 is 0.

/// While it lives, layers of this thread compute composed norms with this epsilon; 0: that of each
/// layer.
using ComposedNorms = ContextScope<&ComputeContext::composed_norms>;
/// Whether layers of this thread compute composed norms.
inline bool norms_are_composed() noexcept {
    return ComputeContext::of_thread().composed_norms.has_value();
}

/// As batch_norm() (ops/norm/batch_norm.h), in the low type of the region, else in x's type.
Tensor composed_batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           const Tensor& running_mean, const Tensor& running_var, bool training,
                           double momentum = 0.1, double eps = 1e-5);
/// As layer_norm() over the last dimension, in the low type of the region, else in x's type.
Tensor composed_layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           double eps = 1e-5);

}  // namespace engine
