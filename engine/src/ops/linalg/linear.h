#pragma once

#include <optional>

#include "tensor/tape.h"

namespace engine {

/// x weight^T + bias: x (..., in), weight (out, in), bias (out) or undefined -> (..., out); weight
/// (in) without a bias -> (...).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// relu(linear(x, weight, bias)) in the same numbers, as one node that keeps no result between the
/// two. weight (out, in). Only where no types are forced.
Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias);
inline constexpr Op linear_op(
    CastPolicy::low, "linear(x, weight, bias?)",
    "A matrix product: 16-bit hardware does it at twice the rate or more and sums in fp32.",
    by_name<linear>);

/// Gradients by the weight and the bias of a layer.
struct LayerGradients {
    Tensor weight, bias;
};
enum class WeightShape { out_in, in_out };

/// For x (rows, in) and the result's gradient dy (rows, out): the weight's is dy^T x (out, in) or
/// x^T dy (in, out), the bias's is the sum of dy's rows (out). The numbers of a product and a sum,
/// by one kernel where the device's library has it; observers see both. Nothing where they have to
/// be two operations: gradients are recorded, types differ, are cast or forced, or a dimension is
/// 0.
std::optional<LayerGradients> layer_gradients(const Tensor& dy, const Tensor& x, WeightShape shape);

}  // namespace engine
