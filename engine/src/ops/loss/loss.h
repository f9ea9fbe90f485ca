#pragma once

#include <initializer_list>
#include <tuple>

#include "amp/dispatch.h"
#include "tensor/cast.h"
#include "tensor/tape.h"

namespace engine {

/// How the losses of the elements become one.
enum class Reduction { none, mean, sum };
template <>
inline constexpr std::array enum_names<Reduction> = {"none", "mean", "sum"};

inline constexpr const char* condenses =
    "A loss condenses many numbers into one, so it is computed in fp32.";

/// (x - target)^2
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
inline constexpr Op mse_loss_op(
    CastPolicy::f32, "mse_loss(x, target; reduction='mean')",
    "The square of an error of 256 overflows fp16, so the loss is fp32.", by_name<mse_loss>);
/// |x - target|
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
inline constexpr Op l1_loss_op(CastPolicy::f32, "l1_loss(x, target; reduction='mean')", condenses,
                               by_name<l1_loss>);
/// 0.5 d^2 / beta where d = |x - target| < beta, else d - 0.5 beta; l1_loss for beta 0. Throws
/// Error(value) for a negative beta. As huber_loss() computed in f32 (f64 for f64), rounded once;
/// operands broadcast and promote.
Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean,
                      double beta = 1);
inline constexpr Op smooth_l1_loss_op(CastPolicy::f32,
                                      "smooth_l1_loss(x, target; reduction='mean', beta=1)",
                                      condenses, by_name<smooth_l1_loss>);
/// 0.5 d^2 where d = |x - target| <= delta, else delta (d - 0.5 delta). Throws Error(value) unless
/// delta > 0.
Tensor huber_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean,
                  double delta = 1);
inline constexpr Op huber_loss_op(CastPolicy::f32,
                                  "huber_loss(x, target; reduction='mean', delta=1)", condenses,
                                  by_name<huber_loss>);
/// (1 - t) x - (1 + (pos_weight - 1) t) log_sigmoid(x), times weight; both weights optional.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        const Tensor& weight = {}, const Tensor& pos_weight = {},
                                        Reduction reduction = Reduction::mean);
inline constexpr Op binary_cross_entropy_with_logits_op(
    CastPolicy::f32,
    "binary_cross_entropy_with_logits(x, target, weight?, pos_weight?; reduction='mean')",
    "The safe form: the sigmoid is inside and all of it is fp32, so no probability is rounded to 0 "
    "or 1.",
    by_name<binary_cross_entropy_with_logits>);
/// -(t log(x) + (1 - t) log(1 - x)), times weight; logs are at least -100. x in [0, 1], else
/// Error(value), on a GPU at the next read. Unsafe under autocast: Error(state) in a region
/// (autocast.md#banned-operation, 1.8).
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean);
inline constexpr Op binary_cross_entropy_op(
    CastPolicy::banned, "binary_cross_entropy(x, target, weight?; reduction='mean')",
    "Its gradient 1/x must fit the type of x: an fp16 x would make it infinite.",
    by_name<binary_cross_entropy>);

/// losses, or their mean or sum, in their own type.
Tensor reduced(const Tensor& losses, Reduction reduction);

// Helpers of losses that are written in ops.

/// Common floating type of the operands, in which the loss is returned. Throws Error(dtype).
DType loss_type(const Op& info, std::initializer_list<Tensor> tensors);
/// op's losses by element, from its tensors in f32 (f64 for f64), reduced and rounded once.
/// Autocast is off inside. The last argument makes them, those before are the call's.
template <typename... Args>
Tensor wide_loss(const Op& op, Reduction reduction, const Args&... args) {
    return op.call(args..., [&](const Tensor& x, const auto&... others) {
        const NoAutocast inside(x.device().kind);
        const DType type = loss_type(op, {x, others...});
        const std::array wide{widened(x, type), widened(others, type)...};
        return to(reduced(std::apply(detail::last_of(args...), wide), reduction), type);
    });
}
/// The type of a loss without an entry that uses an op of the f32 list: f32 in a region if `type`
/// is 16 bits, else `type`.
DType type_through_f32(Device::Kind kind, DType type);
/// `value` in x's place in the graph: the gradient passes to x as it is.
Tensor replaced(const Tensor& x, const Tensor& value);

}  // namespace engine
