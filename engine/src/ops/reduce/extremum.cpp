#include "ops/reduce/extremum.h"

#include "amp/dispatch.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

Tensor extremum(const Op& info, const Tensor& x, const Ints& dims, bool keepdim, ReduceOp op) {
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

}  // namespace

Tensor amax(const Tensor& x0, const Ints& dims, bool keepdim) {
    return amax_op.call(x0, dims, keepdim, [&](const Tensor& x) {
        return extremum(amax_op, x, dims, keepdim, ReduceOp::max);
    });
}
Tensor amin(const Tensor& x0, const Ints& dims, bool keepdim) {
    return amin_op.call(x0, dims, keepdim, [&](const Tensor& x) {
        return extremum(amin_op, x, dims, keepdim, ReduceOp::min);
    });
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

Tensor argmin(const Tensor& x0, std::optional<std::int64_t> dim, bool keepdim) {
    return argmin_op.call(x0, dim, keepdim, [&](const Tensor& x) {
        const GradMode off(false);
        if (!dim) return of_all(argmin, x, keepdim);
        if (!is_floating(x.dtype())) {  // the negative of the smallest would wrap around
            const Tensor whole = to(x, DType::i64);
            return argmax(to(equal(whole, amin(whole, {*dim}, true)), DType::f32), dim, keepdim);
        }
        return argmax(neg(x), dim, keepdim);
    });
}

}  // namespace engine
