#include "ops/linalg/norm.h"

#include <cmath>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/matrix_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

/// norm(x, p="nuc"): the sum of the singular values.
Tensor nuclear(const Tensor& x, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    check_floating(norm_op, x);
    const DType out = autocast_result(norm_op, x, dtype);
    const Tensor wide = norm_operand(norm_op, x, out);
    const NoAutocast inside(x.device().kind);
    const Tensor kept = nuclear_of(norm_op, wide, dims);
    return to(reshape(kept, reduce_plan("norm", x, dims).shape(keepdim)), out);
}

/// -1, 0 or 1; 0 for NaN.
Tensor sign_of(const Tensor& x) {
    const Tensor zero = zero_like(x);
    return sub(to(greater(x, zero), x.dtype()), to(less(x, zero), x.dtype()));
}

/// The values, outside the tape.
Tensor norm_values(const Tensor& x, const ReducePlan& plan, double p) {
    const GradMode off(false);
    if (p == 1) return reduced_by(ReduceOp::sum_abs, x, plan, true, x.dtype());
    if (p == 2) return reduced_by(ReduceOp::norm2, x, plan, true, x.dtype());
    if (p == 0) {
        const Tensor counted = to(not_equal(x, zero_like(x)), x.dtype());
        return reduced_by(ReduceOp::sum, counted, plan, true, x.dtype());
    }
    if (std::isinf(p))
        return reduced_by(p > 0 ? ReduceOp::max : ReduceOp::min, abs(x), plan, true, x.dtype());
    return pow(reduced_by(ReduceOp::sum, pow(abs(x), p), plan, true, x.dtype()), 1 / p);
}

/// dy * sign(x) where |x| equals the norm; with Ties::share divided among those places. If the norm
/// is NaN, the NaN elements take the whole gradient, and their sign is NaN.
Tensor extremum_gradient(const Tensor& dy, const Tensor& x, const Tensor& n, const Ints& dims,
                         Ties ties) {
    Tensor chosen = to(equal(abs(x), n), x.dtype()), part = dy;
    if (ties == Ties::share) {
        chosen = add(chosen, to(not_equal(x, x), x.dtype()));
        part = div(dy, sum(chosen, dims, true, x.dtype()));
    }
    return mul(mul(part, chosen.detach()), sign_of(x));
}

/// dy * sign(x) (|x| / n)^(p - 1); 0 where n is 0, and for p < 2 where x is 0. Uses the ratio
/// because the powers of x and n alone could overflow.
Tensor power_gradient(const Tensor& dy, const Tensor& x, const Tensor& n, double p, Ties ties) {
    const Tensor zero = zero_like(x), one = Tensor::scalar(1, x.dtype(), x.device());
    const Tensor no_norm = equal(n, zero), divisor = where(no_norm, one, n);
    if (p == 2) return where(no_norm, zero, mul(dy, div(x, divisor)));
    const Tensor flat = equal(x, zero);
    // A base of 1 stands in for 0, whose negative powers would make the gradient's gradient NaN.
    const Tensor ratio = div(where(flat, one, abs(x)), divisor);
    const Tensor slope = mul(sign_of(x), pow(ratio, p - 1));
    if (p < 1 && ties == Ties::each)  // a distance: nothing moves it where nothing lies apart
        return where(logical_or(no_norm, flat), zero, mul(dy, slope));
    // 0 as well, but for a norm that is NaN, or infinite where p < 1.
    const Tensor x0 = x.detach(), n0 = divisor.detach();
    const Tensor none = p < 1 ? mul(x0, n0) : div(x0, n0);
    return where(no_norm, zero, mul(dy, where(flat, none, slope)));
}

Tensor norm_as(const Op& info, const Tensor& x, double p, const Ints& dims, bool keepdim,
               std::optional<DType> dtype) {
    check_floating(info, x);
    const DType out = autocast_result(info, x, dtype);
    const Tensor wide = norm_operand(info, x, out);
    const ReducePlan plan = reduce_plan(info.name, x, dims);
    if (p < 0 || std::isinf(p)) check_not_empty(info.name, x, plan);
    const NoAutocast inside(x.device().kind);
    const Tensor kept = norm_of(info, wide, plan, p);
    return to(keepdim ? kept : reshape(kept, plan.squeezed), out);
}

}  // namespace

Tensor norm_operand(const Op& info, const Tensor& x, DType out) {
    if (!is_floating(out) || promote(x.dtype(), out) != out) {
        throw Error(ErrorCode::dtype,
                    std::string(info.name) + ": the result type " + name(out) +
                        " does not hold the argument's type, " + name(x.dtype()),
                    "Cast the argument, or the result.");
    }
    return to(x, wide_type(out));
}

Tensor norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& n, const Ints& dims, double p,
                     Ties ties) {
    if (p == 0) return {};
    if (p == 1) return mul(dy, sign_of(x));
    if (std::isinf(p)) return extremum_gradient(dy, x, n, dims, ties);
    return power_gradient(dy, x, n, p, ties);
}

Tensor norm_of(const Op& info, const Tensor& x, const ReducePlan& plan, double p, Ties ties) {
    const Tensor y = norm_values(x, plan, p);
    return record(info, {x}, y, {save(x), save_output(y)},
                  [dims = plan.dims, p, ties](const Tensor& dy, const Saved& saved) {
                      return norm_gradient(dy, saved[0], saved[1], dims, p, ties);
                  });
}

TensorList norm_by_name(const Op&, const OpArguments& args) {
    const auto p = args.attrs.find("p");
    const auto* word = p == args.attrs.end() ? nullptr : std::get_if<std::string>(&p->second);
    const Ints dims = args.integers("dim", {});
    const bool keepdim = args.flag("keepdim", false);
    if (word && *word == "nuc") return {nuclear(args.at(0), dims, keepdim, args.dtype())};
    const double order = word && *word == "fro" ? 2 : args.number("p", 2);
    return {norm(args.at(0), dims, keepdim, args.dtype(), order)};
}

Tensor norm(const Tensor& x0, const Ints& dims, bool keepdim, std::optional<DType> dtype,
            double p) {
    return norm_op.call(x0, dims, keepdim, dtype, p, [&](const Tensor& x) {
        return norm_as(norm_op, x, p, dims, keepdim, dtype);
    });
}

Tensor linalg_vector_norm(const Tensor& x0, double ord, const Ints& dims, bool keepdim,
                          std::optional<DType> dtype) {
    return linalg_vector_norm_op.call(x0, ord, dims, keepdim, dtype, [&](const Tensor& x) {
        return norm_as(linalg_vector_norm_op, x, ord, dims, keepdim, dtype);
    });
}

}  // namespace engine
