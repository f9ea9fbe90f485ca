#include "ops/loss/loss_embedding.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/norm.h"
#include "ops/loss/loss_wide.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

TensorList run_cosine(const OpArguments& args) {
    return {cosine_embedding_loss(args.at(0), args.at(1), args.at(2), args.number("margin", 0),
                                  reduction_of(args))};
}
TensorList run_triplet(const OpArguments& args) {
    return {triplet_margin_loss(
        args.at(0), args.at(1), args.at(2),
        {args.number("margin", 1), args.number("p", 2), args.number("eps", 1e-6),
         args.flag("swap", false), reduction_of(args)})};
}

/// Sums over the last dimension of a product.
Tensor inner(const Tensor& a, const Tensor& b) {
    const Tensor product = mul(a, b);
    return sum(product, {-1}, false, product.dtype());
}

}  // namespace

const OpInfo cosine_embedding_loss_info{"cosine_embedding_loss",
                                        CastPolicy::f32,
                                        "cosine_embedding_loss(x1, x2, target; margin, reduction)",
                                        2,
                                        "Its sums of squares soon overflow fp16.",
                                        run_cosine};
const OpInfo triplet_margin_loss_info{
    "triplet_margin_loss",
    CastPolicy::f32,
    "triplet_margin_loss(anchor, positive, negative; margin, p, eps, swap, reduction)",
    2,
    "Its sums of powers soon overflow fp16.",
    run_triplet};

Tensor cosine_embedding_loss(const Tensor& x10, const Tensor& x20, const Tensor& target0,
                             double margin, Reduction reduction) {
    if (intercepted(cosine_embedding_loss_info))
        return dispatched(
            cosine_embedding_loss_info,
            [](const auto&... args) { return cosine_embedding_loss(args...); }, x10, x20, target0,
            margin, reduction);
    const OpInfo& info = cosine_embedding_loss_info;
    const auto [x1, x2, target] = autocast(info, x10, x20, target0);
    const NoAutocast inside(x1.device().kind);
    if (target.rank() > 1) check_rank(info, target, 1);
    check_rank(info, x1, target.rank() + 1);
    check_rank(info, x2, target.rank() + 1);
    const DType type = loss_type(info, {x1, x2});
    const Tensor a = widened(x1, type), b = widened(x2, type);
    // PyTorch's epsilon: keeps a zero vector from giving 0 / 0.
    constexpr double eps = 1e-12;
    const Tensor squares = mul(add(inner(a, a), eps), add(inner(b, b), eps));
    const Tensor cosine = div(inner(a, b), sqrt(squares));
    const Tensor zero = constant(cosine, 0);
    const Tensor alike = where(equal(target, scalar_like(cosine, 1)), add(neg(cosine), 1.0), zero);
    const Tensor apart =
        where(equal(target, scalar_like(cosine, -1)), relu(add(cosine, -margin)), zero);
    return to(reduced(add(alike, apart), reduction), type);
}

namespace {

/// The p-norm of a - b + eps over the last dimension.
Tensor distance(const Tensor& a, const Tensor& b, const TripletOptions& options) {
    const Tensor d = add(sub(a, b), options.eps);
    return norm(d, {-1}, false, d.dtype(), options.p);
}

void check_triplet(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                   const TripletOptions& options) {
    const OpInfo& info = triplet_margin_loss_info;
    if (!(options.p > 0)) {
        throw Error(ErrorCode::value,
                    "triplet_margin_loss: p must be above 0, got " + std::to_string(options.p));
    }
    if (!(options.margin > 0)) {
        throw Error(ErrorCode::value, "triplet_margin_loss: margin must be above 0, got " +
                                          std::to_string(options.margin));
    }
    check_shapes(info, anchor.rank() == positive.rank() && anchor.rank() > 0, anchor, positive);
    check_shapes(info, anchor.rank() == negative.rank(), anchor, negative);
}

}  // namespace

Tensor triplet_margin_loss(const Tensor& anchor0, const Tensor& positive0, const Tensor& negative0,
                           const TripletOptions& options) {
    if (intercepted(triplet_margin_loss_info))
        return dispatched(
            triplet_margin_loss_info,
            [](const auto&... args) { return triplet_margin_loss(args...); }, anchor0, positive0,
            negative0, options);
    const OpInfo& info = triplet_margin_loss_info;
    const auto [anchor, positive, negative] = autocast(info, anchor0, positive0, negative0);
    const NoAutocast inside(anchor.device().kind);
    check_triplet(anchor, positive, negative, options);
    const DType type = loss_type(info, {anchor, positive, negative});
    const Tensor a = widened(anchor, type), p = widened(positive, type),
                 n = widened(negative, type);
    Tensor away = distance(a, n, options);
    if (options.swap) away = minimum(away, distance(p, n, options));
    const Tensor losses = relu(add(sub(distance(a, p, options), away), options.margin));
    return to(reduced(losses, options.reduction), type);
}

}  // namespace engine
