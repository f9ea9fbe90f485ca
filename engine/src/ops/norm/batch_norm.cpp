#include "ops/norm/batch_norm.h"

#include <utility>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/batch_norm.h"
#include "kernels/elementwise.h"
#include "ops/norm/batch_norm_backward.h"
#include "ops/norm/synced_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// The tensors of a call beside x, each (channels) or undefined.
/// autocast.md#operations-without-an-entry (1.11): low x with f32 companions is fine, f32 x with
/// low ones is not.
void check_companion(const Op& info, const Tensor& x, const Tensor& t) {
    if (!t.defined()) return;
    check_shapes(info, t.rank() == 1 && t.size(0) == x.size(1), x, t);
    const bool fits = t.dtype() == x.dtype() || (is_low(x.dtype()) && t.dtype() == DType::f32);
    if (!fits) {
        throw Error(ErrorCode::dtype, std::string(info.name) + ": the input is " + name(x.dtype()) +
                                          ", a parameter or statistic is " + name(t.dtype()));
    }
}

[[noreturn]] void refuse_one_value(const Op& info, const Tensor& x) {
    throw Error(ErrorCode::value,
                std::string(info.name) + ": training needs more than one value a channel, got " +
                    to_string(x.shape()),
                "Use a batch of at least two samples, or drop the last short batch.");
}

void check(const Op& info, const Tensor& x, const BatchNormTensors& t,
           const BatchNormOptions& options) {
    check_floating(info, x);
    if (x.rank() < 2 || x.rank() > 5) {
        throw Error(ErrorCode::shape, std::string(info.name) +
                                          ": takes a tensor of rank 2 to 5, not of shape " +
                                          to_string(x.shape()));
    }
    for (const auto* companion : {&t.weight, &t.bias, &t.running_mean, &t.running_var})
        check_companion(info, x, *companion);
    if (t.weight.defined() && t.bias.defined()) one_type(info, {t.weight, t.bias});
    if (t.running_mean.defined() != t.running_var.defined()) {
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": give both running statistics or neither");
    }
    if (!options.training && !t.running_mean.defined())
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": the running statistics are missing");
    if (options.training && !norm_ranks() && x.size(1) > 0 && x.numel() / x.size(1) < 2)
        refuse_one_value(info, x);
}

DType wide_of(const Tensor& x) { return x.dtype() == DType::f64 ? DType::f64 : DType::f32; }

/// Training: y, and the batch's mean and 1 / deviation for the gradient. Writes the running ones.
Tensor forward_train(const Tensor& x, const Tensor& residual, const BatchNormTensors& t, bool relu,
                     const kernels::BatchNormShape& shape, BatchNormStatistics& statistics) {
    const DType wide = wide_of(x);
    const Tensor y = empty_like(x);
    statistics.mean = Tensor::empty({shape.channels}, wide, x.device());
    statistics.invstd = Tensor::empty({shape.channels}, wide, x.device());
    on(x.device(), kernels::cpu::batch_norm_forward_train, kernels::cuda::batch_norm_forward_train)(
        y.array(), statistics.mean.array(), statistics.invstd.array(),
        array_or_null(t.running_mean, wide), array_or_null(t.running_var, wide), x.array(),
        array_or_null(t.weight, wide), array_or_null(t.bias, wide),
        array_or_null(residual, x.dtype()), relu, shape, current_stream());
    if (t.running_mean.defined()) {
        t.running_mean.bump_version();
        t.running_var.bump_version();
    }
    return y;
}

Tensor forward_infer(const Tensor& x, const Tensor& residual, const BatchNormTensors& t, bool relu,
                     const kernels::BatchNormShape& shape) {
    const DType wide = wide_of(x);
    const Tensor y = empty_like(x);
    on(x.device(), kernels::cpu::batch_norm_forward_infer, kernels::cuda::batch_norm_forward_infer)(
        y.array(), x.array(), array_or_null(t.weight, wide), array_or_null(t.bias, wide),
        t.running_mean.array(), t.running_var.array(), array_or_null(residual, x.dtype()), relu,
        shape, current_stream());
    return y;
}

/// The running statistics as the gradient reads them; copies, since training moves them in place.
BatchNormStatistics running_statistics(const BatchNormTensors& t, const Tensor& x, double eps) {
    const GradMode off(false);
    const Tensor var = to(t.running_var.detach(), wide_of(x));
    return {add(to(t.running_mean.detach(), wide_of(x)), 0.0), rsqrt(add(var, eps)), {}};
}

/// Sequences and volumes as images, whose channels lie innermost.
bool as_image(const Tensor& x) { return x.rank() == 3 || x.rank() == 5; }
Tensor image_of(const Tensor& x) {
    if (!x.defined()) return x;
    const std::int64_t side = x.size(2);
    return reshape(x, {x.size(0), x.size(1), side, x.rank() == 5 ? x.size(3) * x.size(4) : 1});
}

/// running = (1 - momentum) running + momentum batch.
void move_running(const Tensor& running, const Tensor& batch, double momentum) {
    if (!running.defined()) return;
    const Tensor step = to(batch, running.dtype());
    on(running.device(), kernels::cpu::axpby, kernels::cuda::axpby)(
        running.array(), running.array(), step.array(), 1 - momentum, momentum, current_stream());
    running.bump_version();
}

/// Training with the statistics of all ranks' rows (optimizers.md#synchronised-batch-norm, 4.5).
Tensor forward_synced(const Op& info, const Tensor& x, const Tensor& residual,
                      const BatchNormTensors& t, bool relu, const kernels::BatchNormShape& shape,
                      BatchNormStatistics& statistics) {
    const GradMode off(false);
    const SyncedStatistics batch = synced_statistics(*norm_ranks(), x.detach(), shape);
    if (batch.rows < 2) refuse_one_value(info, x);
    move_running(t.running_mean, batch.mean, shape.momentum);
    move_running(t.running_var, batch.unbiased, shape.momentum);
    statistics = {batch.mean, rsqrt(add(batch.var, shape.eps)),
                  SyncedRows{norm_ranks(), batch.rows, batch.counted}};
    return forward_infer(x, residual, {t.weight, t.bias, batch.mean, batch.var}, relu, shape);
}

/// The kernels walk parameters flat; a view with gaps is copied first.
Tensor dense_parameter(const Tensor& t) { return t.defined() ? contiguous(t) : t; }

/// A running statistic for an x of another type than the model's, and its way back.
class Statistic {
public:
    Statistic(const Tensor& kept, const Tensor& x, bool forced)
        : kept_(kept), used_(forced ? companion(kept.defined() ? kept.detach() : kept, x) : kept) {}
    const Tensor& used() const { return used_; }
    /// Writes it back where it was converted.
    void put_back() const {
        if (!kept_.defined() || kept_.dtype() == used_.dtype()) return;
        on(kept_.device(), kernels::cpu::cast, kernels::cuda::cast)(kept_.array(), used_.array(),
                                                                    current_stream());
        kept_.bump_version();
    }

private:
    Tensor kept_, used_;
};

/// Whether a batch norm's backward pass may write its results where it reads this operand. On a CPU
/// that saves reading each line of the cache before it is written.
bool may_be_overwritten(const Tensor& t) {
    const bool is_read_as_it_is = t.rank() == 4 ? t.is_channels_last() : t.is_contiguous();
    return is_read_as_it_is && t.device().kind == Device::Kind::cpu;
}
Tensor memory_of_input(const Tensor& x) {
    return may_be_overwritten(x) ? reuse_saved(x) : Tensor();
}
Tensor memory_of_gradient(const Tensor& dy) {
    return may_be_overwritten(dy) ? reuse_gradient(dy) : Tensor();
}

/// Order of the inputs on the tape: x, weight, bias, residual.
Tensor normalize(const Op& info, const Tensor& x, const Tensor& residual,
                 const BatchNormTensors& t, const BatchNormOptions& options, bool relu) {
    check(info, x, t, options);
    if (as_image(x)) {
        const Tensor y = normalize(info, image_of(x), image_of(residual), t, options, relu);
        return reshape(y, x.shape());
    }
    const Layout layout = x.rank() == 4 ? Layout::channels_last : Layout::contiguous;
    const Tensor from = in_layout(x, layout);
    const Tensor added = residual.defined() ? in_layout(residual, layout) : residual;
    const kernels::BatchNormShape shape{x.size(1) > 0 ? x.numel() / x.size(1) : 0, x.size(1),
                                        options.eps, options.momentum};
    const Tensor inputs[] = {x, t.weight, t.bias, residual};
    const bool recorded = grad_enabled() && any_requires_grad(inputs);
    BatchNormStatistics statistics;
    Tensor y;
    if (options.training && norm_ranks()) {
        y = forward_synced(info, from, added, t, relu, shape, statistics);
    } else if (options.training) {
        y = forward_train(from, added, t, relu, shape, statistics);
    } else {
        y = forward_infer(from, added, t, relu, shape);
        if (recorded) statistics = running_statistics(t, x, options.eps);
    }
    if (!recorded) return record_flat(info, inputs, y);
    const SyncedRows synced = statistics.synced;
    const bool recomputable = relu && options.training && !synced.ranks && !residual.defined();
    GradFn gradient = [=, training = options.training, with_residual = residual.defined()](
                          std::span<const Tensor> grads, const Saved& saved) {
        const Tensor addend = grads.size() > 1 ? grads[1] : Tensor();
        const Tensor kept = saved[0];
        const bool alone = !synced.ranks;  // the kernel's work
        const bool is_dx_free = alone && (!addend.defined() || with_residual);
        const Tensor dx = is_dx_free ? memory_of_input(kept) : Tensor();
        const Tensor dresidual = alone && with_residual ? memory_of_gradient(grads[0]) : Tensor();
        return batch_norm_backward({.dy = grads[0],
                                    .dx = dx,
                                    .dresidual = dresidual,
                                    .x = kept,
                                    .addend = addend,
                                    .weight = saved[1],
                                    .bias = saved[5],
                                    .y = relu ? saved[4].detach() : Tensor(),
                                    .statistics = {saved[2], saved[3], synced},
                                    .shape = shape,
                                    .training = training,
                                    .with_residual = with_residual});
    };
    if (!synced.ranks) gradient = PairedGradFn(std::move(gradient));
    return record_many(info, inputs, y,
                       {save(x), save(t.weight), save(statistics.mean), save(statistics.invstd),
                        relu ? save_output(y) : Save{}, recomputable ? save(t.bias) : Save{}},
                       std::move(gradient));
}

}  // namespace

Tensor companion(const Tensor& t, const Tensor& x) {
    const bool fits = !t.defined() || t.dtype() == x.dtype() || t.dtype() == DType::f32;
    return fits ? t : to(t, DType::f32);
}

namespace {

/// A forced type casts x and the residual; companions follow as far as x asks.
Tensor batch_norm_as(const Op& op, const Tensor& x0, const Tensor& residual0,
                     const BatchNormTensors& t, const BatchNormOptions& options, bool with_relu) {
    const auto compute = [&](const Tensor& x, const Tensor& residual) {
        const bool forced = x.dtype() != x0.dtype();
        const auto beside = [&](const Tensor& parameter) {
            return dense_parameter(forced ? companion(parameter, x) : parameter);
        };
        const Statistic mean(t.running_mean, x, forced), var(t.running_var, x, forced);
        const BatchNormTensors used{beside(t.weight), beside(t.bias), mean.used(), var.used()};
        const bool fits =
            !residual.defined() || (residual.dtype() == x.dtype() && residual.shape() == x.shape());
        const Tensor y = fits ? normalize(op, x, residual, used, options, with_relu)
                              : relu(add(batch_norm(x, used.weight, used.bias, used.running_mean,
                                                    used.running_var, options.training,
                                                    options.momentum, options.eps),
                                         residual));
        if (options.training) {
            mean.put_back();
            var.put_back();
        }
        return y;
    };
    return op.call(x0, residual0, t, options, compute);
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps) {
    return batch_norm_as(batch_norm_op, x, {}, {weight, bias, running_mean, running_var},
                         {training, momentum, eps}, false);
}

Tensor batch_norm_relu(const Tensor& x, const Tensor& residual, const Tensor& weight,
                       const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                       bool training, double momentum, double eps) {
    return batch_norm_as(batch_norm_relu_op, x, residual, {weight, bias, running_mean, running_var},
                         {training, momentum, eps}, true);
}

TensorList batch_norm_by_name(const Op& op, const OpArguments& args) {
    const bool training = args.flag("training", false);
    const double momentum = args.number("momentum", 0.1), eps = args.number("eps", 1e-5);
    if (op.name == batch_norm_op.name)
        return {batch_norm(args.at(0), args.get(3), args.get(4), args.get(1), args.get(2), training,
                           momentum, eps)};
    return {batch_norm_relu(args.at(0), args.get(5), args.get(3), args.get(4), args.get(1),
                            args.get(2), training, momentum, eps)};
}

}  // namespace engine
