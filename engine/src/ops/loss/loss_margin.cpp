#include "ops/loss/loss_margin.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/loss/loss_wide.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

TensorList run_hinge(const OpArguments& args) {
    return {
        hinge_embedding_loss(args.at(0), args.at(1), args.number("margin", 1), reduction_of(args))};
}
TensorList run_ranking(const OpArguments& args) {
    return {margin_ranking_loss(args.at(0), args.at(1), args.at(2), args.number("margin", 0),
                                reduction_of(args))};
}
TensorList run_soft(const OpArguments& args) {
    return {soft_margin_loss(args.at(0), args.at(1), reduction_of(args))};
}

constexpr const char* margin_worth_f32 =
    "A loss condenses many numbers into one, so it is computed in fp32.";

}  // namespace

const OpInfo hinge_embedding_loss_info{"hinge_embedding_loss",
                                       CastPolicy::f32,
                                       "hinge_embedding_loss(x, target; margin, reduction)",
                                       2,
                                       margin_worth_f32,
                                       run_hinge};
const OpInfo margin_ranking_loss_info{"margin_ranking_loss",
                                      CastPolicy::f32,
                                      "margin_ranking_loss(x1, x2, target; margin, reduction)",
                                      2,
                                      margin_worth_f32,
                                      run_ranking};
const OpInfo soft_margin_loss_info{"soft_margin_loss",
                                   CastPolicy::f32,
                                   "soft_margin_loss(x, target; reduction)",
                                   2,
                                   "The exp inside overflows fp16 above 11.09.",
                                   run_soft};

Tensor hinge_embedding_loss(const Tensor& x0, const Tensor& target0, double margin,
                            Reduction reduction) {
    if (intercepted(hinge_embedding_loss_info))
        return dispatched(
            hinge_embedding_loss_info, [](const auto&... a) { return hinge_embedding_loss(a...); },
            x0, target0, margin, reduction);
    const auto [x, target] = autocast(hinge_embedding_loss_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(hinge_embedding_loss_info, {x});
    const Tensor w = widened(x), zero = constant(w, 0);
    const Tensor apart =
        where(not_equal(target, scalar_like(w, 1)), relu(add(neg(w), margin)), zero);
    const Tensor alike = where(not_equal(target, scalar_like(w, -1)), w, zero);
    return to(reduced(add(apart, alike), reduction), type);
}

Tensor margin_ranking_loss(const Tensor& x10, const Tensor& x20, const Tensor& target0,
                           double margin, Reduction reduction) {
    if (intercepted(margin_ranking_loss_info))
        return dispatched(
            margin_ranking_loss_info, [](const auto&... a) { return margin_ranking_loss(a...); },
            x10, x20, target0, margin, reduction);
    const auto [x1, x2, target] = autocast(margin_ranking_loss_info, x10, x20, target0);
    const NoAutocast inside(x1.device().kind);
    const DType type = loss_type(margin_ranking_loss_info, {x1, x2, target});
    const Tensor order = mul(widened(target, type), sub(widened(x2, type), widened(x1, type)));
    return to(reduced(relu(add(order, margin)), reduction), type);
}

Tensor soft_margin_loss(const Tensor& x0, const Tensor& target0, Reduction reduction) {
    if (intercepted(soft_margin_loss_info))
        return dispatched(
            soft_margin_loss_info, [](const auto&... a) { return soft_margin_loss(a...); }, x0,
            target0, reduction);
    const auto [x, target] = autocast(soft_margin_loss_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(soft_margin_loss_info, {x, target});
    const Tensor side = mul(widened(target, type), widened(x, type));
    return to(reduced(neg(log_sigmoid(side)), reduction), type);
}

}  // namespace engine
