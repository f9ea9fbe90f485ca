#include "ops/reduce/log_sum_exp.h"

#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/result_type.h"
#include "tensor/wide.h"

namespace engine {
namespace {

using kernels::ReduceOp;

TensorList run(const OpArguments& args) {
    return {logsumexp(args.at(0), args.integers("dim", {}), args.flag("keepdim", false))};
}

/// Outside the tape; the plan's dimensions are kept.
Tensor values(const Tensor& x, const ReducePlan& plan) {
    const GradMode off(false);
    const Tensor top = reduced_by(ReduceOp::max, x, plan, true, x.dtype());
    const double infinity = std::numeric_limits<double>::infinity();
    const Tensor endless = equal(abs(top), scalar_like(top, infinity));
    // inf - inf would be NaN; without the shift exp() gives the right infinity or zero.
    const Tensor shift = where(endless, Tensor::scalar(0, x.dtype(), x.device()), top);
    const Tensor total = reduced_by(ReduceOp::sum, exp(sub(x, shift)), plan, true, x.dtype());
    return add(log(total), shift);
}

}  // namespace

const OpInfo logsumexp_info{"logsumexp",
                            CastPolicy::f32,
                            "logsumexp(x; dim, keepdim)",
                            2,
                            "Sums of exp() overflow fp16, so it runs in fp32.",
                            run};

Tensor logsumexp(const Tensor& x0, const std::vector<std::int64_t>& dims, bool keepdim) {
    if (intercepted(logsumexp_info))
        return dispatched(
            logsumexp_info, [](const auto&... a) { return logsumexp(a...); }, x0, dims, keepdim);
    const auto [x] = autocast(logsumexp_info, x0);
    check_floating(logsumexp_info, x);
    const NoAutocast inside(x.device().kind);
    const Tensor wide = widened(x);
    const ReducePlan plan = reduce_plan("logsumexp", x, dims);
    const Tensor y = values(wide, plan);
    const Tensor kept = record(
        logsumexp_info, {wide}, y, {save(wide), save_output(y)},
        [](const Tensor& dy, const Saved& saved) { return mul(dy, exp(sub(saved[0], saved[1]))); });
    return to(reshape(kept, plan.shape(keepdim)), x.dtype());
}

}  // namespace engine
