#include "tensor/cast.h"

#include "kernels/elementwise.h"
#include "tensor/layout.h"

namespace engine {
namespace {

TensorList run_cast(const OpArguments& args) {
    return {to(args.at(0), args.dtype().value_or(DType::f32))};
}

/// The copy that the optimizer wrote, if it is of this type and as new as the parameter.
Tensor kept_copy(const Tensor& x, DType dtype) {
    const auto& copy = x.impl()->low_copy;
    if (!copy || copy->version != x.version() || copy->tensor.dtype() != dtype) return {};
    return copy->tensor.detach();
}

}  // namespace

const OpInfo cast_info{
    .name = "to",
    .policy = CastPolicy::none,
    .signature = "to(x; dtype)",
    .derivatives = 2,
    .why = "A cast uses the given type; its gradient is cast back to the type of x.",
    .run = run_cast};

Tensor to(const Tensor& x, DType dtype) {
    if (x.dtype() == dtype) return x;
    Tensor y = kept_copy(x, dtype);
    if (!y.defined()) {
        const Tensor dense_x = dense(x);
        y = empty_like(dense_x, dtype);
        on(x.device(), kernels::cpu::cast, kernels::cuda::cast)(y.array(), dense_x.array(),
                                                                current_stream());
    }
    if (!is_floating(dtype)) return record_flat(cast_info, {&x, 1}, y);
    return record(cast_info, {x}, y, {},
                  [from = x.dtype()](const Tensor& dy, const Saved&) { return to(dy, from); });
}

namespace {

const OpInfo move_info{.name = "to_device",
                       .policy = CastPolicy::none,
                       .signature = "to_device(x)",
                       .derivatives = 2,
                       .why = "A move between devices changes no bit."};

}  // namespace

Tensor to(const Tensor& x, const Device& device) {
    if (x.device() == device) return x;
    return record(move_info, {x}, dense(x).copy_to(device), {},
                  [from = x.device()](const Tensor& dy, const Saved&) { return to(dy, from); });
}

}  // namespace engine
