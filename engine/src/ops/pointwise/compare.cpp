#include "ops/pointwise/compare.h"

#include <limits>

#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using kernels::CompareOp;

template <Tensor (*op)(const Tensor&, const Tensor&)>
TensorList run_comparison(const OpArguments& args) {
    if (args.has("other")) {
        const Tensor& x = args.at(0);
        return {op(x, scalar_like(x, args.number("other", 0)))};
    }
    return {op(args.at(0), args.at(1))};
}
TensorList run_where(const OpArguments& args) {
    return {where(args.at(0), args.at(1), args.at(2))};
}

Tensor spread(const Tensor& x, const Shape& shape, bool keep_scalar) {
    if (keep_scalar && x.numel() == 1) return x;
    return in_layout(x.shape() == shape ? x : expanded_view(x, shape), Layout::contiguous);
}

Tensor compare(const OpInfo& info, const Tensor& a, const Tensor& b, CompareOp op) {
    const GradMode off(false);
    const Shape shape = broadcast_shapes(info.name, a.shape(), b.shape());
    const DType dtype = result_type(a, b);
    const Tensor y = Tensor::empty(shape, DType::boolean, a.device());
    on(a.device(), kernels::cpu::compare, kernels::cuda::compare)(
        y.array(), spread(to(a, dtype), shape, true).array(),
        spread(to(b, dtype), shape, true).array(), op, current_stream());
    const Tensor inputs[] = {a, b};
    return record_flat(info, inputs, y);
}

constexpr const char* why = "Compares in the wider of the two types; the result is bool.";

}  // namespace

const OpInfo eq_info{"eq", CastPolicy::none, "eq(x, y)", 0, why, run_comparison<equal>};
const OpInfo ne_info{"ne", CastPolicy::none, "ne(x, y)", 0, why, run_comparison<not_equal>};
const OpInfo lt_info{"lt", CastPolicy::none, "lt(x, y)", 0, why, run_comparison<less>};
const OpInfo le_info{"le", CastPolicy::none, "le(x, y)", 0, why, run_comparison<less_equal>};
const OpInfo gt_info{"gt", CastPolicy::none, "gt(x, y)", 0, why, run_comparison<greater>};
const OpInfo ge_info{"ge", CastPolicy::none, "ge(x, y)", 0, why, run_comparison<greater_equal>};
const OpInfo where_info{
    "where",  CastPolicy::none, "where(condition, x, y)", 2, "Chooses values; mixed types promote.",
    run_where};

Tensor equal(const Tensor& a, const Tensor& b) { return compare(eq_info, a, b, CompareOp::eq); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return compare(ne_info, a, b, CompareOp::ne); }
Tensor less(const Tensor& a, const Tensor& b) { return compare(lt_info, a, b, CompareOp::lt); }
Tensor less_equal(const Tensor& a, const Tensor& b) {
    return compare(le_info, a, b, CompareOp::le);
}
Tensor greater(const Tensor& a, const Tensor& b) { return compare(gt_info, a, b, CompareOp::gt); }
Tensor greater_equal(const Tensor& a, const Tensor& b) {
    return compare(ge_info, a, b, CompareOp::ge);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
    if (condition.dtype() != DType::boolean) {
        throw Error(ErrorCode::dtype, std::string("where: the condition must be bool, not ") +
                                          name(condition.dtype()));
    }
    const DType dtype = result_type(a, b);
    const Shape shape = broadcast_shapes("where", condition.shape(),
                                         broadcast_shapes("where", a.shape(), b.shape()));
    const Tensor y = Tensor::empty(shape, dtype, condition.device());
    {
        const GradMode off(false);
        on(y.device(), kernels::cpu::where, kernels::cuda::where)(
            y.array(), spread(condition, shape, false).array(),
            spread(to(a, dtype), shape, true).array(), spread(to(b, dtype), shape, true).array(),
            current_stream());
    }
    const Tensor inputs[] = {a, b};
    return record_many(
        where_info, inputs, y, {save(condition)},
        [sa = a.shape(), sb = b.shape()](std::span<const Tensor> dy, const Saved& saved) {
            const Tensor zero = Tensor::scalar(0, dy[0].dtype(), dy[0].device());
            TensorList grads(2);
            if (saved.needs_gradient(0)) grads[0] = sum_to(where(saved[0], dy[0], zero), sa);
            if (saved.needs_gradient(1)) grads[1] = sum_to(where(saved[0], zero, dy[0]), sb);
            return grads;
        });
}

namespace {

template <Tensor (*op)(const Tensor&, const Tensor&)>
TensorList run_pair(const OpArguments& args) {
    return {op(args.at(0), args.at(1))};
}

constexpr const char* tests_values =
    "Tests values and returns bool: there is no arithmetic to cast for.";

Tensor recorded(const OpInfo& info, const Tensor& x, const Tensor& y) {
    return record_flat(info, {&x, 1}, y);
}
Tensor recorded(const OpInfo& info, const Tensor& a, const Tensor& b, const Tensor& y) {
    const Tensor inputs[] = {a, b};
    return record_flat(info, inputs, y);
}

Tensor all(const Tensor& x, bool value) {
    return Tensor::full(x.shape(), value ? 1 : 0, DType::boolean, x.device());
}
Tensor truth(const Tensor& x) { return to(x, DType::boolean); }
Tensor constant_truth(const Tensor& x, bool value) {
    return Tensor::full({}, value ? 1 : 0, DType::boolean, x.device());
}
Tensor infinity_beside(const Tensor& x) {
    return constant(x, std::numeric_limits<double>::infinity());
}

}  // namespace

const OpInfo isnan_info{"isnan", CastPolicy::none, "isnan(x)", 0, tests_values, run_unary<isnan>};
const OpInfo isinf_info{"isinf", CastPolicy::none, "isinf(x)", 0, tests_values, run_unary<isinf>};
const OpInfo isfinite_info{"isfinite", CastPolicy::none, "isfinite(x)",
                           0,          tests_values,     run_unary<isfinite>};
const OpInfo logical_not_info{"logical_not", CastPolicy::none,      "logical_not(x)", 0,
                              tests_values,  run_unary<logical_not>};
const OpInfo logical_and_info{"logical_and", CastPolicy::none,     "logical_and(x, y)", 0,
                              tests_values,  run_pair<logical_and>};
const OpInfo logical_or_info{"logical_or", CastPolicy::none,    "logical_or(x, y)", 0,
                             tests_values, run_pair<logical_or>};
const OpInfo logical_xor_info{"logical_xor", CastPolicy::none,     "logical_xor(x, y)", 0,
                              tests_values,  run_pair<logical_xor>};

Tensor isnan(const Tensor& x) {
    const GradMode off(false);
    return recorded(isnan_info, x, is_floating(x.dtype()) ? not_equal(x, x) : all(x, false));
}

Tensor isinf(const Tensor& x) {
    const GradMode off(false);
    return recorded(isinf_info, x,
                    is_floating(x.dtype()) ? equal(abs(x), infinity_beside(x)) : all(x, false));
}

Tensor isfinite(const Tensor& x) {
    const GradMode off(false);
    return recorded(isfinite_info, x,
                    is_floating(x.dtype()) ? less(abs(x), infinity_beside(x)) : all(x, true));
}

Tensor logical_not(const Tensor& x) {
    const GradMode off(false);
    return recorded(logical_not_info, x, equal(truth(x), constant_truth(x, false)));
}

Tensor logical_and(const Tensor& a, const Tensor& b) {
    const GradMode off(false);
    return recorded(logical_and_info, a, b, where(truth(a), truth(b), constant_truth(a, false)));
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
    const GradMode off(false);
    return recorded(logical_or_info, a, b, where(truth(a), constant_truth(a, true), truth(b)));
}

Tensor logical_xor(const Tensor& a, const Tensor& b) {
    const GradMode off(false);
    return recorded(logical_xor_info, a, b, not_equal(truth(a), truth(b)));
}

}  // namespace engine
