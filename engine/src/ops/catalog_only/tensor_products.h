#pragma once

#include "tensor/tape.h"

namespace engine {

/// Sum over dimension dims_x[i] of x paired with dims_y[i] of y, all i at once; the result has x's
/// other dimensions, then y's. A dimension of size 1 stands for its value repeated. Policy promote:
/// in a region f32 arguments stay f32, since autocast is off inside. One rounding (one more where a
/// dimension of size 1 is paired with a longer one, which is summed first).
Tensor tensordot(const Tensor& x, const Tensor& y, const std::vector<std::int64_t>& dims_x,
                 const std::vector<std::int64_t>& dims_y);
/// The last `count` dimensions of x with the first of y.
Tensor tensordot(const Tensor& x, const Tensor& y, std::int64_t count = 2);
TensorList tensordot_by_name(const Op& op, const OpArguments& args);
inline constexpr Op tensordot_op(
    CastPolicy::promote, "tensordot(x, y; dims=2, dims_self=None, dims_other=None)",
    "Both sides go to the wider type: an fp32 side loses nothing, unlike in a matrix product.",
    tensordot_by_name, {.flushes_subnormals = true});

/// y[.., o] = sum over i, j of x1[.., i] weight[o, i, j] x2[.., j] + bias[o]: x1 (..., in1), x2
/// (..., in2), weight (out, in1, in2), bias (out) or undefined -> (..., out). Computed in f32 (f64
/// for f64), rounded once. Policy promote, decided without the bias, which is cast with the rest.
Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {});
inline constexpr Op bilinear_op(
    CastPolicy::promote, "bilinear(x1, x2, weight, bias?)",
    "Products of three factors overflow fp16 sooner: all go to the widest of their types.",
    by_name<bilinear>, {.consulted = 3});

// The product of all matrices in the order of multiplication that costs least; each single product
// sums in f32 (f64 for f64) and is stored in the type of the run, as PyTorch does. Policy low.

/// One or more matrices.
Tensor chain_matmul(const TensorList& matrices);
inline constexpr Op chain_matmul_op(CastPolicy::low, "chain_matmul(matrices[])",
                                    "Matrix products one after the other: as mm.",
                                    by_name<chain_matmul>);
/// Two or more; the first and the last may be vectors, a row and a column, whose dimension the
/// result then lacks.
Tensor linalg_multi_dot(const TensorList& tensors);
inline constexpr Op linalg_multi_dot_op(CastPolicy::low, "linalg_multi_dot(tensors[])",
                                        "Matrix products one after the other: as mm.",
                                        by_name<linalg_multi_dot>);

}  // namespace engine
