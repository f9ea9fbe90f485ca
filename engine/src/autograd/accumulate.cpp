#include "autograd/accumulate.h"

#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/observer.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// Whether a leaf may use this gradient's memory as its own. Optimizers walk a gradient flat beside
/// the leaf and write into it, so it must have the leaf's layout, and nobody else may hold its
/// memory: the gradient of a sum is a broadcast view, and both sides of an addition share one
/// tensor.
bool can_steal(const Tensor& gradient, const Tensor& leaf) {
    const auto& impl = gradient.impl();
    if (impl->sparse) {
        const auto& storage = impl->sparse->values.impl()->storage;
        // The values' handle and the sparse tensor's.
        return impl.use_count() == 1 && storage.use_count() == 2;
    }
    return impl.use_count() == 1 && impl->storage.use_count() == 1 &&
           same_walk(gradient.shape(), gradient.strides(), leaf.strides());
}

/// A copy of gradient in the leaf's memory layout, recorded if gradient mode is on.
Tensor copy_gradient(const Tensor& gradient, const Tensor& leaf) {
    if (!gradient.is_sparse()) return assigned_like(gradient, leaf);
    const Tensor values = sparse_parts(gradient).values;
    const Tensor own = empty_like(values);
    copy_into(own, values);
    return with_values(gradient, own);
}

}  // namespace

Tensor add_gradients(const Tensor& a, const Tensor& b) {
    return a.is_sparse() || b.is_sparse() ? add_sparse(a, b) : add(a, b);
}

Tensor late_cast(const Tensor& gradient, DType type) {
    if (gradient.dtype() == type || !is_low(gradient.dtype())) return gradient;
    // It was passed on past its cast, unseen.
    if (detail::gradients_are_observed()) detail::show_gradient(cast_op, gradient);
    return cast_gradient(gradient, type);
}

Tensor sum_of_gradients(const Tensor& a, const Tensor& b, DType type) {
    const Tensor last = late_cast(b, type);
    return add_gradients(late_cast(a, type), last);
}

Tensor cast_gradient(const Tensor& gradient, DType dtype) {
    if (!gradient.is_sparse()) return to(gradient, dtype);
    return with_values(gradient, to(sparse_parts(gradient).values, dtype));
}

void accumulate(const std::shared_ptr<TensorImpl>& leaf, const Tensor& gradient) {
    if (!gradient.defined()) return;
    if (!leaf->grad) {
        const Tensor at(leaf);
        const Tensor own = can_steal(gradient, at) ? gradient : copy_gradient(gradient, at);
        leaf->grad = grad_enabled() || own.is_leaf() ? own.impl() : own.detach().impl();
    } else {
        leaf->grad = sum_of_gradients(Tensor(leaf->grad), gradient, leaf->dtype).impl();
    }
    for (const auto& hook : leaf->hooks) hook(Tensor(leaf->grad));
}

}  // namespace engine
