#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* runs_in_the_widest =
    "Not on the autocast list: runs in the wider of its inputs' types.";

// Element-wise, with broadcasting and the promotion of autocast.md#operations-without-an-entry
// (1.11): a 0-d tensor does not widen one with dimensions.
Tensor add(const Tensor& a, const Tensor& b);
TensorList run_add(const Op& op, const OpArguments& args);
inline constexpr Op add_op(CastPolicy::none, "add(x, y; alpha=1)", runs_in_the_widest, run_add);
Tensor sub(const Tensor& a, const Tensor& b);
TensorList run_sub(const Op& op, const OpArguments& args);
inline constexpr Op sub_op(CastPolicy::none, "sub(x, y; alpha=1)", runs_in_the_widest, run_sub);
/// a + alpha * b, rounded once. Beside integers alpha must be whole.
Tensor add_scaled(const Tensor& a, const Tensor& b, double alpha);
Tensor mul(const Tensor& a, const Tensor& b);
inline constexpr Op mul_op(CastPolicy::none, "mul(x, y)", runs_in_the_widest,
                           by_name_as<Tensor(const Tensor&, const Tensor&), mul>);
Tensor div(const Tensor& a, const Tensor& b);
TensorList run_div(const Op& op, const OpArguments& args);
inline constexpr Op div_op(CastPolicy::none, "div(x, y)", runs_in_the_widest, run_div);
/// NaN if either is NaN; the gradient is shared half and half where they are equal.
Tensor maximum(const Tensor& a, const Tensor& b);
inline constexpr Op maximum_op(CastPolicy::none, "maximum(x, y)", runs_in_the_widest,
                               by_name<maximum>);
Tensor minimum(const Tensor& a, const Tensor& b);
inline constexpr Op minimum_op(CastPolicy::none, "minimum(x, y)", runs_in_the_widest,
                               by_name<minimum>);
Tensor pow(const Tensor& a, const Tensor& b);
inline constexpr Op pow_op(CastPolicy::f32, "pow(x, y)",
                           "A power soon overflows fp16: 256 squared is already 65536.",
                           by_name_as<Tensor(const Tensor&, const Tensor&), pow>);
Tensor atan2(const Tensor& y, const Tensor& x);
inline constexpr Op atan2_op(CastPolicy::promote, "atan2(y, x)",
                             "Both sides go to the wider type, so that an fp32 side loses nothing.",
                             by_name<atan2>);

Tensor mul(const Tensor& a, double b);
Tensor add(const Tensor& a, double b);
Tensor pow(const Tensor& a, double b);

}  // namespace engine
