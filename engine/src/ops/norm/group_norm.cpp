#include "ops/norm/group_norm.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/norm/row_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/wide.h"

namespace engine {
namespace {

TensorList run_group_norm(const OpArguments& args) {
    return {group_norm(args.at(0), args.integer("num_groups", 1), args.get(1), args.get(2),
                       args.number("eps", 1e-5))};
}

void check(const Tensor& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias) {
    check_floating(group_norm_info, x);
    check_norm_parameters(group_norm_info, x, {weight, bias});
    if (x.rank() < 2 || num_groups < 1 || x.size(1) % num_groups != 0) {
        throw Error(ErrorCode::shape, "group_norm: " + std::to_string(num_groups) +
                                          " groups do not divide the channels of " +
                                          to_string(x.shape()));
    }
    for (const auto* t : {&weight, &bias}) {
        if (t->defined())
            check_shapes(group_norm_info, t->rank() == 1 && t->size(0) == x.size(1), x, *t);
    }
}

}  // namespace

const OpInfo group_norm_info{
    "group_norm",
    CastPolicy::f32,
    "group_norm(x, weight?, bias?; num_groups, eps)",
    2,
    "As layer_norm: its sums of squares need the range of fp32 and its deviations the digits.",
    run_group_norm};

Tensor group_norm(const Tensor& x0, std::int64_t num_groups, const Tensor& weight0,
                  const Tensor& bias0, double eps) {
    if (intercepted(group_norm_info))
        return dispatched(
            group_norm_info, [](const auto&... a) { return group_norm(a...); }, x0, num_groups,
            weight0, bias0, eps);
    const auto [x, weight, bias] = autocast(group_norm_info, x0, weight0, bias0);
    check(x, num_groups, weight, bias);
    const NoAutocast inside(x.device().kind);
    const std::int64_t rows = checked_product(x.size(0), num_groups);
    std::int64_t cols = x.size(1) / num_groups;
    for (int i = 2; i < x.rank(); ++i) cols *= x.size(i);
    const bool affine = weight.defined() || bias.defined();
    Tensor y = row_norm(group_norm_info, x, {}, {}, {rows, cols, eps},
                        affine ? wide_type(x.dtype()) : x.dtype())
                   .y;
    Shape by_channel;
    for (int i = 0; i < x.rank(); ++i) by_channel.push_back(i == 1 ? x.size(1) : 1);
    if (weight.defined()) y = mul(y, reshape(widened(weight), by_channel));
    if (bias.defined()) y = add(y, reshape(widened(bias), by_channel));
    return to(y, x.dtype());
}

}  // namespace engine
