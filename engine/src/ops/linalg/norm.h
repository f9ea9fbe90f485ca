#pragma once

#include "ops/shape/reduce_plan.h"
#include "tensor/tape.h"

namespace engine {

/// (sum |x|^p)^(1/p) over `dims` (empty: all), for any p: 0 counts what is not zero, infinity takes
/// the largest magnitude and -infinity the least. Computed in f32 (f64 for f64). Without `dtype`:
/// x's type, f32 in a region; `dtype` must not be narrower than x's. The gradient is zero where the
/// norm is; at p = infinity equal largest magnitudes share it. Error(shape) for nothing to choose
/// from, at p < 0 and p = infinity.
Tensor norm(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {}, double p = 2);
TensorList norm_by_name(const Op& op, const OpArguments& args);  ///< p may be fro or nuc
inline constexpr Op norm_op(CastPolicy::f32_append,
                            "norm(x; p=2, dim=None, keepdim=False, dtype=None)",
                            "Squares overflow fp16 from 256 on, so the norm is written in fp32.",
                            norm_by_name);
/// norm() under its newer name;
Tensor linalg_vector_norm(const Tensor& x, double ord = 2,
                          const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
                          std::optional<DType> dtype = {});
inline constexpr Op linalg_vector_norm_op(
    CastPolicy::f32_dtype, "linalg_vector_norm(x; ord=2, dim=None, keepdim=False, dtype=None)",
    "Powers and their sum soon overflow fp16, so it reads fp16 and writes fp32.",
    by_name<linalg_vector_norm>);

/// How equal largest magnitudes behind a norm of p = infinity divide its gradient: evenly, or each
/// gets all of it, as in PyTorch's distances.
enum class Ties { share, each };

/// For ops that are built on a norm: over the plan's dimensions, which are kept. x and result have
/// one type, f32 or f64; recorded as `info`. At p < 0 and p = infinity the reduced dimensions must
/// not be empty.
Tensor norm_of(const Op& info, const Tensor& x, const ReducePlan& plan, double p,
               Ties ties = Ties::share);

/// Its gradient by x, n the norm, `dims` the plan's; undefined at p = 0.
Tensor norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& n,
                     const std::vector<std::int64_t>& dims, double p, Ties ties = Ties::share);

/// x in the type that a result of type `out` is computed in. Error(dtype) if `out` is narrower than
/// x's type.
Tensor norm_operand(const Op& info, const Tensor& x, DType out);

}  // namespace engine
