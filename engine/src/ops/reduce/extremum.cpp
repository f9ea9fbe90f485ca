#include "ops/reduce/extremum.h"

#include "amp/dispatch.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

template <Tensor (*op)(const Tensor&, const Ints&, bool)>
TensorList run_extremum(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), args.flag("keepdim", false))};
}
TensorList run_argmin(const OpArguments& args) {
    const Tensor& x = args.at(0);
    const bool keepdim = args.flag("keepdim", false);
    if (args.has("dim")) return {argmin(x, args.integer("dim", 0), keepdim)};
    // Without a dimension it is the place in row-major order.
    Shape ones;
    for (int i = 0; keepdim && i < x.rank(); ++i) ones.push_back(1);
    return {reshape(argmin(reshape(x, {x.numel()}), 0, false), ones)};
}

Tensor extremum(const OpInfo& info, const Tensor& x, const Ints& dims, bool keepdim, ReduceOp op) {
    const ReducePlan plan = reduce_plan(info.name, x, dims);
    check_not_empty(info.name, x, plan);
    if (!is_floating(x.dtype()))
        return record_flat(info, {&x, 1}, extremum_of_integers(op, x, plan, keepdim));
    const Tensor y = reduced_by(op, x, plan, true, x.dtype());
    const Tensor kept = record(info, {x}, y, {save(x), save_output(y)},
                               [dims = plan.dims](const Tensor& dy, const Saved& saved) {
                                   return shared_among_equals(dy, saved[0], saved[1], dims, false);
                               });
    return keepdim ? kept : reshape(kept, plan.squeezed);
}

constexpr const char* chooses_values =
    "It chooses one of its inputs: nothing is computed, so no precision is lost.";

}  // namespace

const OpInfo amax_info{"amax", CastPolicy::none, "amax(x; dim?, keepdim)",
                       2,      chooses_values,   run_extremum<amax>};
const OpInfo amin_info{"amin", CastPolicy::none, "amin(x; dim?, keepdim)",
                       2,      chooses_values,   run_extremum<amin>};
const OpInfo argmin_info{"argmin",
                         CastPolicy::none,
                         "argmin(x; dim?, keepdim)",
                         0,
                         "The result is an index, which has no precision to lose.",
                         run_argmin};

Tensor amax(const Tensor& x, const Ints& dims, bool keepdim) {
    if (intercepted(amax_info))
        return dispatched(
            amax_info, [](const auto&... a) { return amax(a...); }, x, dims, keepdim);
    return extremum(amax_info, x, dims, keepdim, ReduceOp::max);
}
Tensor amin(const Tensor& x, const Ints& dims, bool keepdim) {
    if (intercepted(amin_info))
        return dispatched(
            amin_info, [](const auto&... a) { return amin(a...); }, x, dims, keepdim);
    return extremum(amin_info, x, dims, keepdim, ReduceOp::min);
}

Tensor extremum_of_integers(ReduceOp op, const Tensor& x, const ReducePlan& plan, bool keepdim) {
    return to(reduced_by(op, to(x, DType::i64), plan, keepdim, DType::i64), x.dtype());
}

Tensor shared_among_equals(const Tensor& dy, const Tensor& x, const Tensor& y, const Ints& dims,
                           bool nan_too) {
    const Tensor wide_dy = widened(dy);
    Tensor chosen = to(equal(x, y), wide_dy.dtype());
    if (nan_too) chosen = add(chosen, to(not_equal(x, x), wide_dy.dtype()));
    return div(mul(wide_dy, chosen), sum(chosen, dims, true, chosen.dtype()));
}

Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim) {
    const GradMode off(false);
    if (!is_floating(x.dtype())) {  // the negative of the smallest would wrap around
        const Tensor whole = to(x, DType::i64);
        return argmax(to(equal(whole, amin(whole, {dim}, true)), DType::f32), dim, keepdim);
    }
    return argmax(neg(x), dim, keepdim);
}

}  // namespace engine
