#pragma once

#include "tensor/tensor.h"

namespace engine {

/// While it lives, and while gradient mode is off in them, backward passes of this thread may leave
/// the gradient of a leaf that has a 16-bit copy (decisions.md#low-precision-weights, D6) in the
/// copy's type. It has the values that a cast to the leaf's type would have; gradients that are
/// added up are cast first. Observers of operations see neither the cast nor the gradient. For
/// callers whose next step reads gradients of any type.
class LowGradients {
public:
    explicit LowGradients(bool on) noexcept;
    ~LowGradients();
    LowGradients(const LowGradients&) = delete;
    LowGradients& operator=(const LowGradients&) = delete;

private:
    bool before_;
};
/// Whether one lives on this thread.
bool low_gradients_stay() noexcept;
/// Whether this gradient may reach the leaf as it is.
bool takes_low_gradient(const TensorImpl& leaf, const Tensor& gradient) noexcept;

}  // namespace engine
