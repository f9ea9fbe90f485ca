#include "tensor/low_gradients.h"

#include <utility>

#include "tensor/tape.h"

namespace engine {
namespace {

thread_local bool low_gradients = false;

}  // namespace

LowGradients::LowGradients(bool on) noexcept : before_(std::exchange(low_gradients, on)) {}
LowGradients::~LowGradients() { low_gradients = before_; }

bool low_gradients_stay() noexcept { return low_gradients; }

bool takes_low_gradient(const TensorImpl& leaf, const Tensor& gradient) noexcept {
    return low_gradients && !grad_enabled() && leaf.low_copy && !gradient.is_sparse() &&
           gradient.dtype() == leaf.low_copy->tensor.dtype();
}

}  // namespace engine
