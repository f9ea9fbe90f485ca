#include "ops/norm/row_norm.h"

#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
void check_norm_parameters(const Op& info, const Tensor& x,
                           std::initializer_list<Tensor> parameters) {
    for (const auto& t : parameters) {
        if (!t.defined() || t.dtype() == x.dtype()) continue;
        if (is_low(x.dtype()) && t.dtype() == DType::f32) continue;
        throw Error(
            ErrorCode::dtype,
            std::string(info.name) + ": the input is " + name(x.dtype()) + ", a parameter is " +
                name(t.dtype()),
            "Parameters are of the input's type, or fp32 beside a 16-bit input; cast one of them.");
    }
}

RowNorm row_norm(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const kernels::LayerNormShape& shape, DType out) {
    const DType wide = wide_type(x.dtype());
    const Tensor from = row_major(x), scale = row_major(weight), shift = row_major(bias);
    RowNorm made{Tensor::empty(x.shape(), out, x.device()), Tensor(),
                 Tensor::empty({shape.rows}, wide, x.device())};
    if (!shape.rms) made.mean = Tensor::empty({shape.rows}, wide, x.device());
    on(x.device(), kernels::cpu::layer_norm_forward, kernels::cuda::layer_norm_forward)(
        made.y.array(), shape.rms ? kernels::Array{nullptr, wide, 0} : made.mean.array(),
        made.rstd.array(), from.array(), array_or_null(scale, wide), array_or_null(shift, wide),
        shape, current_stream());
    const Tensor inputs[] = {x, weight, bias};
    const Shape parameter_shape = weight.defined() ? weight.shape()
                                  : bias.defined() ? bias.shape()
                                                   : Shape{shape.cols};
    made.y = record_many(
        info, inputs, made.y, {save(x), save(weight), save(made.mean), save(made.rstd)},
        [shape, parameter_shape](std::span<const Tensor> grads, const Saved& saved) {
            TensorList found =
                row_norm_backward({.dy = grads[0],
                                   .x = saved[0],
                                   .weight = saved[1],
                                   .mean = saved[2],
                                   .rstd = saved[3],
                                   .shape = shape,
                                   .parameters = saved.needs_gradient(1) || saved.needs_gradient(2),
                                   .parameter_shape = parameter_shape});
            found.resize(3);
            return found;
        });
    return made;
}

namespace {

constexpr Op row_norm_backward_op("layer_norm_backward(dy, x, weight?)",
                                  "Its inputs have the forward op's types; sums in fp32.");

/// The backward pass written in plain ops, so that it can be differentiated: everything (rows,
/// cols) in f32 (f64 for f64), with moments recomputed from x so that they belong to the graph.
struct PlainRowNorm {
    Tensor xhat, rstd;
    bool rms;

    PlainRowNorm(const Tensor& x, const kernels::LayerNormShape& shape) : rms(shape.rms) {
        const Tensor centred = rms ? x : sub(x, average(x));
        rstd = rsqrt(add(average(mul(centred, centred)), shape.eps));
        xhat = mul(centred, rstd);
    }
    static Tensor average(const Tensor& t) { return mean(t, {1}, true); }
    /// t - mean t - xhat mean(t xhat), without mean t for rms: symmetric, and d(sum c xhat)/dx =
    /// rstd projected(c).
    Tensor projected(const Tensor& t) const {
        const Tensor along = mul(xhat, average(mul(t, xhat)));
        return sub(rms ? t : sub(t, average(t)), along);
    }
};

/// Gradients of the backward pass by dy, x and weight. With g = dy weight, dx = rstd P(g), P the
/// projection above; d rstd / dx = -rstd^2 xhat / cols.
TensorList second(std::span<const Tensor> grads, const Saved& saved,
                  const kernels::LayerNormShape& shape) {
    const Tensor dy = saved[0], x = saved[1], weight = saved[2];
    const DType wide = wide_type(x.dtype());
    const Shape matrix{shape.rows, shape.cols}, row{1, shape.cols};
    const auto widened_to = [&](const Tensor& t, const Shape& to_shape) {
        return to(reshape(t, to_shape), wide);
    };
    const PlainRowNorm p(widened_to(x, matrix), shape);
    const Tensor above = widened_to(dy, matrix);
    const Tensor zero = Tensor::zeros(matrix, wide, x.device());
    const auto came = [&](std::size_t i) { return i < grads.size() && grads[i].defined(); };
    const Tensor v = came(0) ? widened_to(grads[0], matrix) : zero;
    const Tensor w = weight.defined() ? widened_to(weight, row) : Tensor();
    const Tensor g = w.defined() ? mul(above, w) : above;

    const Tensor straight = mul(p.rstd, p.projected(v));  // by g
    Tensor by_dy = w.defined() ? mul(straight, w) : straight;
    Tensor by_xhat = mul(neg(p.rstd), add(mul(v, PlainRowNorm::average(mul(g, p.xhat))),
                                          mul(g, PlainRowNorm::average(mul(v, p.xhat)))));
    if (came(1)) {
        const Tensor v_weight = widened_to(grads[1], row);
        by_dy = add(by_dy, mul(v_weight, p.xhat));
        by_xhat = add(by_xhat, mul(v_weight, above));
    }
    if (came(2)) by_dy = add(by_dy, widened_to(grads[2], row));
    const Tensor by_rstd =
        mul(mul(mul(p.rstd, p.rstd), p.xhat), PlainRowNorm::average(mul(v, p.projected(g))));

    TensorList out(3);
    out[0] = to(reshape(by_dy, dy.shape()), dy.dtype());
    out[1] = to(reshape(sub(mul(p.rstd, p.projected(by_xhat)), by_rstd), x.shape()), x.dtype());
    if (w.defined())
        out[2] = to(reshape(sum(mul(above, straight), {0}, false, wide), weight.shape()),
                    weight.dtype());
    return out;
}

/// The kernel's work, outside the tape.
TensorList compute(const RowNormBackward& a) {
    const DType wide = wide_type(a.x.dtype());
    const Tensor dy = in_layout(a.dy, Layout::contiguous), x = in_layout(a.x, Layout::contiguous);
    const Tensor weight = a.weight.defined() ? in_layout(a.weight, Layout::contiguous) : a.weight;
    TensorList out{Tensor::empty(x.shape(), x.dtype(), x.device())};
    if (a.parameters) out.push_back(Tensor::empty(a.parameter_shape, wide, x.device()));
    if (a.parameters && !a.shape.rms)
        out.push_back(Tensor::empty(a.parameter_shape, wide, x.device()));
    const kernels::Array none{nullptr, wide, 0};
    on(x.device(), kernels::cpu::layer_norm_backward, kernels::cuda::layer_norm_backward)(
        out[0].array(), out.size() > 1 ? out[1].array() : none,
        out.size() > 2 ? out[2].array() : none, dy.array(), x.array(), array_or_null(weight, wide),
        array_or_null(a.mean, wide), a.rstd.array(), a.shape, current_stream());
    return out;
}

}  // namespace

TensorList row_norm_backward(const RowNormBackward& a) {
    const Tensor inputs[] = {a.dy, a.x, a.weight};
    return record_outputs(row_norm_backward_op, inputs, compute(a),
                          {save(a.dy), save(a.x), save(a.weight)},
                          [shape = a.shape](std::span<const Tensor> grads, const Saved& saved) {
                              return second(grads, saved, shape);
                          });
}

}  // namespace engine
