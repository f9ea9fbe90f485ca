#pragma once

#include "tensor/tape.h"

namespace engine {

// Norms as single operations in 16 bits, for lessons: the mean, E[x^2] - E[x]^2, epsilon and the
// square root are each rounded to the type of x. The engine's own norms keep their sums in f32 and
// cannot fail in these ways: E[x^2] overflows fp16 if |x| is above 255.9, the difference may be 0
// or negative, and an epsilon below 2^-25 is 0.

/// While it lives, layers of this thread compute composed norms. Runs that share a thread must not
/// overlap: each turn opens its own scope.
class ComposedNorms {
public:
    /// Off leaves things as they are. epsilon 0: that of each layer.
    ComposedNorms(bool on, double epsilon) noexcept;
    ~ComposedNorms();
    ComposedNorms(const ComposedNorms&) = delete;
    ComposedNorms& operator=(const ComposedNorms&) = delete;

private:
    bool before_on_;
    double before_epsilon_;
};

/// Whether layers of this thread compute composed norms.
bool norms_are_composed() noexcept;

/// As batch_norm() (ops/norm/batch_norm.h), in the low type of the region, else in x's type.
Tensor composed_batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           const Tensor& running_mean, const Tensor& running_var, bool training,
                           double momentum = 0.1, double eps = 1e-5);
/// As layer_norm() over the last dimension, in the low type of the region, else in x's type.
Tensor composed_layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           double eps = 1e-5);

}  // namespace engine
