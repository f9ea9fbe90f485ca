#include "ops/pointwise/pointwise.h"

#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

Tensor recorded(const Op& info, const Tensor& x, const Tensor& y, WideFunction slope) {
    return record(info, {x}, y, {save(x)},
                  [slope = std::move(slope)](const Tensor& dy, const Saved& saved) {
                      const Tensor at = saved[0];
                      return to(mul(widened(dy), slope(widened(at))), at.dtype());
                  });
}

}  // namespace

Tensor unary_kernel(const Op& info, const Tensor& x, kernels::UnaryOp f) {
    const bool takes_integers = f == kernels::UnaryOp::neg || f == kernels::UnaryOp::abs;
    if (!takes_integers) check_floating(info, x);
    const Tensor from = dense(x);
    const Tensor y = empty_like(from);
    on(x.device(), kernels::cpu::unary, kernels::cuda::unary)(y.array(), from.array(), f,
                                                              current_stream());
    return y;
}

Tensor gradient_kernel(const Tensor& dy, const Tensor& y, kernels::BinaryOp op) {
    const Tensor a = dense(dy);
    const Tensor same = y.dtype() == dy.dtype() ? y : to(y.detach(), dy.dtype());
    const Tensor b = in_layout(same, layout_of(a));
    const Tensor dx = empty_like(a);
    on(a.device(), kernels::cpu::binary, kernels::cuda::binary)(dx.array(), a.array(), b.array(),
                                                                op, current_stream());
    return dx;
}

Tensor constant(const Tensor& w, double value) {
    return Tensor::scalar(value, w.dtype(), w.device());
}

Tensor unary(const Op& op, const Tensor& x0, kernels::UnaryOp f, Kept kept,
             const GradFn1& gradient) {
    return op.call(x0, [&](const Tensor& x) {
        const Tensor y = unary_kernel(op, x, f);
        if (kept == Kept::nothing) return record(op, {x}, y, {}, gradient);
        return record(op, {x}, y, {kept == Kept::x ? save(x) : save_output(y)}, gradient);
    });
}

Tensor unary_flat(const Op& op, const Tensor& x, kernels::UnaryOp f) {
    return unary(op, x, f, Kept::nothing, [](const Tensor& dy, const Saved&) {
        return Tensor::zeros(dy.shape(), dy.dtype(), dy.device());
    });
}

Tensor pointwise_inside(const Op& op, const Tensor& x, const WideFunction& f,
                        WideFunction slope) {
    check_floating(op, x);
    Tensor y;
    {
        const GradMode off(false);
        const NoAutocast inside(x.device().kind);
        y = to(f(widened(x.detach())), x.dtype());
    }
    return recorded(op, x, y, std::move(slope));
}

Tensor pointwise_inside(const Op& op, const Tensor& x, kernels::UnaryOp f, WideFunction slope) {
    return recorded(op, x, unary_kernel(op, x, f), std::move(slope));
}

Tensor KernelGradient::operator()(const Tensor& dy, const Tensor& at) const {
    const Tensor inputs[] = {dy, at};
    return record_many(op, inputs, gradient_kernel(dy, at, f), {save(dy), save(at)},
                       [this](std::span<const Tensor> ddx, const Saved& saved) {
                           TensorList grads(2);
                           if (saved.needs_gradient(0)) grads[0] = (*this)(ddx[0], saved[1]);
                           if (saved.needs_gradient(1)) grads[1] = bend(ddx[0], saved[0], saved[1]);
                           return grads;
                       });
}

Tensor stable_sigmoid(const Tensor& w) {
    return pointwise_inside(sigmoid_op, w, kernels::UnaryOp::sigmoid, [](const Tensor& x) {
        return mul(stable_sigmoid(x), stable_sigmoid(neg(x)));
    });
}

Tensor tanh_slope(const Tensor& w) {
    const Tensor twice = mul(w, 2.0);
    return mul(mul(stable_sigmoid(twice), stable_sigmoid(neg(twice))), 4.0);
}

Tensor stable_tanh(const Tensor& w) {
    return pointwise_inside(tanh_op, w, kernels::UnaryOp::tanh, tanh_slope);
}

}  // namespace engine
