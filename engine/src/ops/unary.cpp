#include "ops/unary.h"

#include "amp/autocast.h"
#include "engine/error.h"
#include "kernels/elementwise.h"
#include "ops/activation.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/compare.h"
#include "ops/layout.h"
#include "ops/rounding.h"
#include "ops/wide.h"

namespace engine {
namespace {

using kernels::BinaryOp;
using kernels::UnaryOp;

template <Tensor (*op)(const Tensor&)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0))};
}

TensorList run_gelu(const OpArguments& args) {
    const std::string form = args.text("approximate", "none");
    if (form != "none" && form != "tanh")
        throw Error(ErrorCode::value, "gelu: approximate is none or tanh, not " + form);
    return {form == "tanh" ? gelu_tanh(args.at(0)) : gelu(args.at(0))};
}

constexpr const char* no_entry = "Not on the autocast list: runs in its input's type.";
constexpr const char* leaves_f16 = "For small x its slope leaves fp16, so it runs in fp32.";

Tensor compute(const OpInfo& info, const Tensor& x, UnaryOp op) {
    if (!is_floating(x.dtype()) && op != UnaryOp::neg && op != UnaryOp::abs) {
        throw Error(ErrorCode::dtype,
                    std::string(info.name) + ": not defined for " + name(x.dtype()));
    }
    const Tensor from = dense(x);
    const Tensor y = empty_like(from);
    on(x.device(), kernels::cpu::unary, kernels::cuda::unary)(y.array(), from.array(), op,
                                                              current_stream());
    return y;
}

/// dy and y (or x) of one shape and type through a fused gradient kernel.
Tensor compute_gradient(const Tensor& dy, const Tensor& y, BinaryOp op) {
    const Tensor a = dense(dy);
    const Tensor b = in_layout(to(y.detach(), dy.dtype()), layout_of(a));
    const Tensor dx = empty_like(a);
    on(a.device(), kernels::cpu::binary, kernels::cuda::binary)(dx.array(), a.array(), b.array(),
                                                                op, current_stream());
    return dx;
}

const OpInfo relu_backward_info{"relu_backward", CastPolicy::none, "relu_backward(dy, y)", 2,
                                no_entry};
const OpInfo tanh_backward_info{"tanh_backward", CastPolicy::none, "tanh_backward(dy, y)", 2,
                                no_entry};
const OpInfo sigmoid_backward_info{"sigmoid_backward", CastPolicy::none, "sigmoid_backward(dy, y)",
                                   2, no_entry};
const OpInfo gelu_backward_info{"gelu_backward", CastPolicy::none, "gelu_backward(dy, x)", 2,
                                no_entry};

/// 0 where y <= 0, else dy; linear in dy, flat in y. A NaN lets dy through, as in PyTorch.
Tensor relu_backward(const Tensor& dy, const Tensor& y) {
    return record(relu_backward_info, {dy}, compute_gradient(dy, y, BinaryOp::relu_backward),
                  {save(y.detach())}, [](const Tensor& ddx, const Saved& saved) {
                      return relu_backward(ddx, saved[0]);
                  });
}

/// dy * (1 - y^2)
Tensor tanh_backward(const Tensor& dy, const Tensor& y) {
    const Tensor inputs[] = {dy, y};
    return record_many(tanh_backward_info, inputs, compute_gradient(dy, y, BinaryOp::tanh_backward),
                       {save(dy), save(y)}, [](std::span<const Tensor> ddx, const Saved& saved) {
                           TensorList grads(2);
                           if (saved.wants(0)) grads[0] = tanh_backward(ddx[0], saved[1]);
                           if (saved.wants(1))
                               grads[1] = mul(mul(ddx[0], mul(saved[0], saved[1])), -2.0);
                           return grads;
                       });
}

/// dy * y * (1 - y)
Tensor sigmoid_backward(const Tensor& dy, const Tensor& y) {
    const Tensor inputs[] = {dy, y};
    return record_many(sigmoid_backward_info, inputs,
                       compute_gradient(dy, y, BinaryOp::sigmoid_backward), {save(dy), save(y)},
                       [](std::span<const Tensor> ddx, const Saved& saved) {
                           TensorList grads(2);
                           if (saved.wants(0)) grads[0] = sigmoid_backward(ddx[0], saved[1]);
                           if (saved.wants(1)) {
                               grads[1] = mul(mul(ddx[0], saved[0]), add(mul(saved[1], -2.0), 1.0));
                           }
                           return grads;
                       });
}

/// dy * (Phi(x) + x phi(x)); the second derivative is phi(x) (2 - x^2).
Tensor gelu_backward(const Tensor& dy, const Tensor& x) {
    const Tensor dense_x = dense(x);
    const Tensor wide = to(dense_x.detach(), x.dtype() == DType::f64 ? DType::f64 : DType::f32);
    Tensor dx;
    {
        const GradMode off(false);
        dx = to(mul(to(dy, wide.dtype()), compute(gelu_backward_info, wide, UnaryOp::gelu_grad)),
                dy.dtype());
    }
    const Tensor inputs[] = {dy, x};
    return record_many(
        gelu_backward_info, inputs, dx, {save(dy), save(x)},
        [](std::span<const Tensor> ddx, const Saved& saved) {
            TensorList grads(2);
            if (saved.wants(0)) grads[0] = gelu_backward(ddx[0], saved[1]);
            if (saved.wants(1)) {
                const Tensor at = widened(saved[1]), xx = mul(at, at);
                const Tensor density = mul(exp(mul(xx, -0.5)), 0.39894228040143267794);
                const Tensor seeds = mul(widened(ddx[0]), widened(saved[0]));
                grads[1] = to(mul(seeds, mul(density, add(neg(xx), 2.0))), saved[1].dtype());
            }
            return grads;
        });
}

}  // namespace

const OpInfo neg_info{"neg", CastPolicy::none, "neg(x)", 2, no_entry, run<neg>};
const OpInfo abs_info{"abs", CastPolicy::none, "abs(x)", 2, no_entry, run<abs>};
const OpInfo exp_info{"exp",   CastPolicy::f32, "exp(x)", 2, "exp leaves fp16 above 11.09.",
                      run<exp>};
const OpInfo log_info{
    "log", CastPolicy::f32, "log(x)", 2, "Its slope 1/x leaves fp16 for small x.", run<log>};
const OpInfo sqrt_info{"sqrt", CastPolicy::none, "sqrt(x)", 2, no_entry, run<sqrt>};
const OpInfo rsqrt_info{"rsqrt", CastPolicy::f32, "rsqrt(x)", 2, leaves_f16, run<rsqrt>};
const OpInfo reciprocal_info{"reciprocal", CastPolicy::f32, "reciprocal(x)", 2,
                             leaves_f16,   run<reciprocal>};
const OpInfo square_info{
    "square", CastPolicy::f32, "square(x)", 2, "256 squared is already beyond fp16.", run<square>};
const OpInfo tanh_info{"tanh", CastPolicy::none, "tanh(x)", 2, no_entry, run<tanh>};
const OpInfo sigmoid_info{"sigmoid", CastPolicy::none, "sigmoid(x)", 2, no_entry, run<sigmoid>};
const OpInfo relu_info{"relu", CastPolicy::none, "relu(x)", 2, no_entry, run<relu>};
const OpInfo gelu_info{"gelu", CastPolicy::none, "gelu(x; approximate)", 2, no_entry, run_gelu};

Tensor neg(const Tensor& x) {
    return record(neg_info, {x}, compute(neg_info, x, UnaryOp::neg), {},
                  [](const Tensor& dy, const Saved&) { return neg(dy); });
}

Tensor abs(const Tensor& x) {
    return record(abs_info, {x}, compute(abs_info, x, UnaryOp::abs), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, sign(saved[0])); });
}

Tensor exp(const Tensor& x0) {
    const auto [x] = autocast(exp_info, x0);
    const Tensor y = compute(exp_info, x, UnaryOp::exp);
    return record(exp_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, saved[0]); });
}

Tensor log(const Tensor& x0) {
    const auto [x] = autocast(log_info, x0);
    return record(log_info, {x}, compute(log_info, x, UnaryOp::log), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return div(dy, saved[0]); });
}

Tensor sqrt(const Tensor& x) {
    const Tensor y = compute(sqrt_info, x, UnaryOp::sqrt);
    return record(sqrt_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], 2.0)); });
}

Tensor rsqrt(const Tensor& x0) {
    const auto [x] = autocast(rsqrt_info, x0);
    const Tensor y = compute(rsqrt_info, x, UnaryOp::rsqrt);
    return record(rsqrt_info, {x}, y, {save_output(y)}, [](const Tensor& dy, const Saved& saved) {
        const Tensor r = saved[0];
        return mul(mul(dy, mul(r, mul(r, r))), -0.5);
    });
}

Tensor reciprocal(const Tensor& x0) {
    const auto [x] = autocast(reciprocal_info, x0);
    const Tensor y = compute(reciprocal_info, x, UnaryOp::reciprocal);
    return record(
        reciprocal_info, {x}, y, {save_output(y)},
        [](const Tensor& dy, const Saved& saved) { return neg(mul(dy, mul(saved[0], saved[0]))); });
}

Tensor square(const Tensor& x0) {
    const auto [x] = autocast(square_info, x0);
    return record(square_info, {x}, compute(square_info, x, UnaryOp::square), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return mul(mul(dy, saved[0]), 2.0); });
}

Tensor tanh(const Tensor& x) {
    const Tensor y = compute(tanh_info, x, UnaryOp::tanh);
    return record(tanh_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return tanh_backward(dy, saved[0]); });
}

Tensor sigmoid(const Tensor& x) {
    const Tensor y = compute(sigmoid_info, x, UnaryOp::sigmoid);
    return record(sigmoid_info, {x}, y, {save_output(y)}, [](const Tensor& dy, const Saved& saved) {
        return sigmoid_backward(dy, saved[0]);
    });
}

Tensor relu(const Tensor& x) {
    const Tensor y = compute(relu_info, x, UnaryOp::relu);
    return record(relu_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return relu_backward(dy, saved[0]); });
}

Tensor gelu(const Tensor& x) {
    return record(gelu_info, {x}, compute(gelu_info, x, UnaryOp::gelu), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return gelu_backward(dy, saved[0]); });
}

}  // namespace engine
