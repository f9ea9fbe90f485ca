#include "tensor/cast.h"

#include "kernels/elementwise.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// The copy that the optimizer wrote, if it is of this type and as new as the parameter.
Tensor kept_copy(const Tensor& x, DType dtype) {
    const auto& copy = x.impl()->low_copy;
    if (!copy || copy->version != x.version() || copy->tensor.dtype() != dtype) return {};
    return copy->tensor.detach();
}

}  // namespace

Tensor to(const Tensor& x, DType dtype) {
    if (x.dtype() == dtype) return x;
    Tensor y = kept_copy(x, dtype);
    if (!y.defined()) {
        const Tensor dense_x = dense(x);
        y = empty_like(dense_x, dtype);
        on(x.device(), kernels::cpu::cast, kernels::cuda::cast)(y.array(), dense_x.array(),
                                                                current_stream());
    }
    if (!is_floating(dtype)) return record_flat(cast_op, {&x, 1}, y);
    return record(cast_op, {x}, y, {},
                  [from = x.dtype()](const Tensor& dy, const Saved&) { return to(dy, from); });
}

namespace {

constexpr Op move_op("to_device(x)", "A move between devices changes no bit.");

}  // namespace

Tensor to(const Tensor& x, const Device& device) {
    if (x.device() == device) return x;
    return record(move_op, {x}, dense(x).copy_to(device), {},
                  [from = x.device()](const Tensor& dy, const Saved&) { return to(dy, from); });
}

}  // namespace engine
