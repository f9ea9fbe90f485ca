#include "ops/norm/group_norm.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/row_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

void check(const Tensor& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias) {
    check_floating(group_norm_op, x);
    check_norm_parameters(group_norm_op, x, {weight, bias});
    if (x.rank() < 2 || num_groups < 1 || x.size(1) % num_groups != 0) {
        throw Error(ErrorCode::shape, "group_norm: " + std::to_string(num_groups) +
                                          " groups do not divide the channels of " +
                                          to_string(x.shape()));
    }
    for (const auto* t : {&weight, &bias}) {
        if (t->defined())
            check_shapes(group_norm_op, t->rank() == 1 && t->size(0) == x.size(1), x, *t);
    }
}

}  // namespace

Tensor group_norm(const Tensor& x0, std::int64_t num_groups, const Tensor& weight0,
                  const Tensor& bias0, double eps) {
    return group_norm_op.call(x0, num_groups, weight0, bias0, eps,
                              [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
                                  check(x, num_groups, weight, bias);
                                  const NoAutocast inside(x.device().kind);
                                  const std::int64_t rows = checked_product(x.size(0), num_groups);
                                  std::int64_t cols = x.size(1) / num_groups;
                                  for (int i = 2; i < x.rank(); ++i) cols *= x.size(i);
                                  const bool affine = weight.defined() || bias.defined();
                                  Tensor y = row_norm(group_norm_op, x, {}, {}, {rows, cols, eps},
                                                      affine ? wide_type(x.dtype()) : x.dtype())
                                                 .y;
                                  Shape by_channel;
                                  for (int i = 0; i < x.rank(); ++i)
                                      by_channel.push_back(i == 1 ? x.size(1) : 1);
                                  if (weight.defined())
                                      y = mul(y, reshape(widened(weight), by_channel));
                                  if (bias.defined())
                                      y = add(y, reshape(widened(bias), by_channel));
                                  return to(y, x.dtype());
                              });
}

namespace {

struct InstanceNormTensors {
    Tensor running_mean, running_var, weight, bias;
};

void check(const Tensor& x, const InstanceNormTensors& t, bool use_input_stats) {
    check_floating(instance_norm_op, x);
    if (x.rank() < 3 || x.rank() > 5) {
        throw Error(
            ErrorCode::shape,
            "instance_norm: takes a tensor of rank 3 to 5, not of shape " + to_string(x.shape()));
    }
    check_norm_parameters(instance_norm_op, x, {t.running_mean, t.running_var, t.weight, t.bias});
    for (const auto* tensor : {&t.running_mean, &t.running_var, &t.weight, &t.bias}) {
        if (tensor->defined()) {
            check_shapes(instance_norm_op, tensor->rank() == 1 && tensor->size(0) == x.size(1), x,
                         *tensor);
        }
    }
    if (t.running_mean.defined() != t.running_var.defined())
        throw Error(ErrorCode::value, "instance_norm: give both running statistics or neither");
    if (!use_input_stats && !t.running_mean.defined())
        throw Error(ErrorCode::value, "instance_norm: the running statistics are missing");
    const std::int64_t instances = x.size(0) * x.size(1);
    if (use_input_stats && instances > 0 && x.numel() / instances < 2) {
        throw Error(
            ErrorCode::value,
            "instance_norm: needs more than one position a channel, got " + to_string(x.shape()));
    }
}

/// (C) -> (N C), a row of channels for each sample.
Tensor for_each_sample(const Tensor& t, std::int64_t samples) {
    if (!t.defined()) return t;
    return contiguous(reshape(expand(t, {samples, t.size(0)}), {samples * t.size(0)}));
}

/// The batch's mean of what batch norm made of the instances' statistics.
void put_back(const Tensor& running, const Tensor& of_instances, std::int64_t samples) {
    copy_(running, mean(reshape(of_instances, {samples, running.size(0)}), {0}));
}

}  // namespace

Tensor instance_norm(const Tensor& x0, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight0, const Tensor& bias0, bool use_input_stats,
                     double momentum, double eps) {
    const auto compute = [&](const Tensor& x) {
        // A forced type casts x, and the parameters as far as x asks.
        const bool forced = x.dtype() != x0.dtype();
        const Tensor weight = forced ? companion(weight0, x) : weight0;
        const Tensor bias = forced ? companion(bias0, x) : bias0;
        check(x, {running_mean, running_var, weight, bias}, use_input_stats);
        const std::int64_t samples = x.size(0), instances = samples * x.size(1);
        if (x.numel() == 0) return reshape(x, x.shape());
        // A batch norm over one sample whose channels are all instances. In f32, so that a
        // parameter's gradient is rounded once, after the sum over the samples.
        Tensor own_mean, own_var;
        if (running_mean.defined()) {
            const GradMode off(false);
            own_mean = for_each_sample(widened(running_mean), samples);
            own_var = for_each_sample(widened(running_var), samples);
        }
        const Tensor y = batch_norm(reshape(x, {1, instances, x.numel() / instances}),
                                    for_each_sample(widened(weight), samples),
                                    for_each_sample(widened(bias), samples), own_mean, own_var,
                                    use_input_stats, momentum, eps);
        if (use_input_stats && running_mean.defined()) {
            const GradMode off(false);
            put_back(running_mean, own_mean, samples);
            put_back(running_var, own_var, samples);
        }
        return reshape(y, x.shape());
    };
    return instance_norm_op.call(x0, BatchNormTensors{weight0, bias0, running_mean, running_var},
                                 BatchNormOptions{use_input_stats, momentum, eps}, compute);
}

}  // namespace engine
