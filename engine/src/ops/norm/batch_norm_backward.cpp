#include "ops/norm/batch_norm_backward.h"

#include "engine/base/error.h"
#include "ops/norm/synced_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/f16_range.h"
#include "tensor/layout.h"

namespace engine {
namespace {

constexpr Op batch_norm_backward_op("batch_norm_backward(dy, x, weight?)",
                                    "Its inputs have the forward op's types; sums in fp32.");

/// The backward pass written in plain ops, so that it can be differentiated: everything in f32 (f64
/// for f64), with statistics recomputed from x so that they belong to the graph.
struct PlainBatchNorm {
    Tensor xhat, invstd, weight;  // broadcast to x's rank
    std::vector<std::int64_t> dims;
    Shape per_channel;
    DType wide;

    Tensor average(const Tensor& t) const { return mean(t, dims, true); }
    Tensor total(const Tensor& t) const { return sum(t, dims, true, wide); }
    /// t - mean t - xhat mean(t xhat): symmetric, and d(sum c xhat)/dx = invstd projected(c).
    Tensor projected(const Tensor& t) const {
        return sub(sub(t, average(t)), mul(xhat, average(mul(t, xhat))));
    }
};

PlainBatchNorm recompute_plainly(const Tensor& x, const Tensor& weight,
                                 const BatchNormStatistics& statistics, double eps, bool training) {
    PlainBatchNorm p;
    p.wide = statistics.mean.dtype();
    p.dims = x.rank() == 4 ? std::vector<std::int64_t>{0, 2, 3} : std::vector<std::int64_t>{0};
    p.per_channel = x.rank() == 4 ? Shape{1, x.size(1), 1, 1} : Shape{1, x.size(1)};
    const Tensor wide_x = to(x, p.wide);
    if (training) {
        const Tensor centred = sub(wide_x, p.average(wide_x));
        p.invstd = rsqrt(add(p.average(mul(centred, centred)), eps));
        p.xhat = mul(centred, p.invstd);
    } else {
        p.invstd = reshape(statistics.invstd, p.per_channel);
        p.xhat = mul(sub(wide_x, reshape(statistics.mean, p.per_channel)), p.invstd);
    }
    p.weight = weight.defined() ? to(reshape(weight, p.per_channel), p.wide)
                                : Tensor::full(p.per_channel, 1, p.wide, x.device());
    return p;
}

/// The incoming gradients of the backward pass's outputs, in f32 or f64; zeros where there is none.
struct Incoming {
    Tensor dx, dweight, dbias, dresidual;
};

/// Gradients by g, x and weight for running statistics, which do not depend on x.
TensorList second_running(const PlainBatchNorm& p, const Tensor& g, const Incoming& v) {
    const Tensor by_g = add(mul(mul(p.weight, p.invstd), v.dx), mul(v.dweight, p.xhat));
    return {by_g, mul(mul(v.dweight, g), p.invstd), p.total(mul(mul(v.dx, g), p.invstd))};
}

/// Gradients by g, x and weight for the batch's own statistics, which depend on x:
/// d invstd / dx = -invstd^2 xhat / rows.
TensorList second_training(const PlainBatchNorm& p, const Tensor& g, const Incoming& v) {
    const Tensor scale = mul(p.weight, p.invstd);
    const Tensor by_g = add(mul(scale, p.projected(v.dx)), mul(v.dweight, p.xhat));
    const Tensor agreement = mul(v.dx, p.projected(g));
    const Tensor crossed =
        add(mul(v.dx, p.average(mul(g, p.xhat))), mul(g, p.average(mul(v.dx, p.xhat))));
    const Tensor by_xhat = sub(mul(v.dweight, g), mul(scale, crossed));
    const Tensor by_invstd = mul(mul(scale, p.invstd), mul(p.xhat, p.average(agreement)));
    return {by_g, sub(mul(p.invstd, p.projected(by_xhat)), by_invstd),
            p.total(mul(agreement, p.invstd))};
}

/// Second derivatives: gradients of the backward pass by dy, x and weight.
TensorList second(std::span<const Tensor> grads, const Saved& saved,
                  const kernels::BatchNormShape& shape, bool training) {
    const Tensor dy = saved[0], x = saved[1], weight = saved[2], y = saved[5];
    const PlainBatchNorm p =
        recompute_plainly(x, weight, {saved[3], saved[4], {}}, shape.eps, training);
    const Tensor zero = Tensor::scalar(0, p.wide, x.device());
    const auto wide = [&](std::size_t i) {
        if (i >= grads.size() || !grads[i].defined()) return zero;
        return to(i == 1 || i == 2 ? reshape(grads[i], p.per_channel) : grads[i], p.wide);
    };
    const Incoming v{wide(0), wide(1), wide(2), wide(3)};
    const Tensor mask = y.defined() ? greater(y, Tensor::scalar(0, y.dtype(), y.device())) : y;
    const auto masked = [&](const Tensor& t) { return y.defined() ? where(mask, t, zero) : t; };
    const Tensor g = masked(to(dy, p.wide));
    const Incoming full{grads[0].defined() ? v.dx : mul(g, 0.0), v.dweight, v.dbias, v.dresidual};
    TensorList found = training ? second_training(p, g, full) : second_running(p, g, full);
    found[0] = to(masked(add(add(found[0], v.dbias), v.dresidual)), dy.dtype());
    found[1] = to(found[1], x.dtype());
    found[2] = weight.defined() ? to(reshape(found[2], weight.shape()), weight.dtype()) : Tensor();
    return found;
}

/// The kernel's work, outside the tape: dx, dweight, dbias and, if asked, dresidual.
TensorList compute(const BatchNormBackward& a) {
    const Layout layout = a.x.rank() == 4 ? Layout::channels_last : Layout::contiguous;
    const Tensor dy = in_layout(a.dy, layout), x = in_layout(a.x, layout);
    const Tensor y = a.y.defined() ? in_layout(a.y, layout) : a.y;
    const DType parameters = a.weight.defined() ? a.weight.dtype() : a.statistics.mean.dtype();
    const auto channels = [&] { return Tensor::empty({a.shape.channels}, parameters, x.device()); };
    TensorList out{a.dx.defined() ? a.dx : empty_like(x), channels(), channels()};
    if (a.with_residual) out.push_back(a.dresidual.defined() ? a.dresidual : empty_like(x));
    const kernels::ConstArray none{nullptr, x.dtype(), 0};
    const Tensor addend = a.addend.defined() ? in_layout(a.addend, layout) : a.addend;
    float* const f16_max =
        addend.defined() ? F16Range::claim_sum(dy.dtype()) : F16Range::claim(a.dy);
    const auto parameter = [&](const Tensor& t) {
        return t.defined() ? t.array() : kernels::ConstArray{nullptr, parameters, 0};
    };
    on(x.device(), kernels::cpu::batch_norm_backward, kernels::cuda::batch_norm_backward)(
        out[0].array(), a.with_residual ? out[3].array() : kernels::Array{nullptr, x.dtype(), 0},
        out[1].array(), out[2].array(), f16_max, dy.array(),
        addend.defined() ? addend.array() : none, x.array(), y.defined() ? y.array() : none,
        parameter(a.weight), parameter(a.bias), a.statistics.mean.array(),
        a.statistics.invstd.array(), y.defined(), a.training, a.shape, current_stream());
    if (f16_max != nullptr) F16Range::cover(out[0]);
    return out;
}

/// dx with the statistics of several ranks. The rows of a rank that was not counted have no part in
/// the statistics, so no gradient flows back through these.
Tensor synced_dx(const BatchNormBackward& a, const Tensor& g, const Tensor& x,
                 const SyncedSums& sums) {
    const BatchNormStatistics& s = a.statistics;
    const Shape per_channel = x.rank() == 4 ? Shape{1, x.size(1), 1, 1} : Shape{1, x.size(1)};
    const auto shaped = [&](const Tensor& t) { return reshape(t, per_channel); };
    const DType wide = s.mean.dtype();
    const Tensor scale = a.weight.defined() ? mul(to(a.weight, wide), s.invstd) : s.invstd;
    Tensor inner = to(g, wide);
    if (s.synced.counted) {
        const double share = 1 / static_cast<double>(s.synced.rows);
        const Tensor slope = mul(mul(mul(s.invstd, s.invstd), sums.all_centred), share);
        const Tensor centred = sub(to(x, wide), shaped(s.mean));
        inner = sub(sub(inner, shaped(mul(sums.all, share))), mul(centred, shaped(slope)));
    }
    return to(mul(inner, shaped(scale)), x.dtype());
}

/// Backward pass with the statistics of several ranks (optimizers.md#synchronised-batch-norm, 4.5),
/// outside the tape.
TensorList synced_backward(const BatchNormBackward& a) {
    if (grad_enabled())
        throw Error(ErrorCode::state, "a synchronised batch norm has no second derivative");
    const Layout layout = a.x.rank() == 4 ? Layout::channels_last : Layout::contiguous;
    const Tensor x = in_layout(a.x, layout);
    Tensor g = in_layout(a.dy, layout);
    if (a.y.defined()) {
        const Tensor zero = Tensor::scalar(0, g.dtype(), g.device());
        const Tensor closed =  // not where y is NaN: a NaN gradient makes the step be skipped
            less_equal(in_layout(a.y, layout), Tensor::scalar(0, a.y.dtype(), g.device()));
        g = in_layout(where(closed, zero, g), layout);
    }
    const SyncedRows& synced = a.statistics.synced;
    const SyncedSums sums =
        synced_sums(*synced.ranks, g, x, a.statistics.mean, a.shape, synced.counted);
    const DType parameters = a.weight.defined() ? a.weight.dtype() : a.statistics.mean.dtype();
    TensorList out{in_layout(synced_dx(a, g, x, sums), layout),
                   to(mul(sums.own_centred, a.statistics.invstd), parameters),
                   to(sums.own, parameters)};
    if (a.with_residual) out.push_back(g);
    return out;
}

}  // namespace

TensorList batch_norm_backward(const BatchNormBackward& a) {
    const Tensor inputs[] = {a.dy, a.x, a.weight, a.addend};
    if (a.statistics.synced.ranks)
        return record_outputs(batch_norm_backward_op, inputs, synced_backward(a), {}, {});
    return record_outputs(batch_norm_backward_op, inputs, compute(a),
                          {save(a.dy), save(a.x), save(a.weight), save(a.statistics.mean),
                           save(a.statistics.invstd), save(a.y)},
                          [shape = a.shape, training = a.training](std::span<const Tensor> grads,
                                                                   const Saved& saved) {
                              return second(grads, saved, shape, training);
                          });
}

}  // namespace engine
