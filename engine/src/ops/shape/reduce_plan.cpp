#include "ops/shape/reduce_plan.h"

#include <algorithm>

#include "engine/base/error.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {

ReducePlan reduce_plan(std::string_view op, const Tensor& x, const std::vector<std::int64_t>& dims) {
    ReducePlan plan;
    for (const auto dim : dims) {
        const auto d = static_cast<std::size_t>(wrap_dim(op, dim, x.rank()));
        if (plan.reduced[d])
            throw Error(ErrorCode::value,
                        std::string(op) + ": dim " + std::to_string(dim) + " is given twice");
        plan.reduced[d] = true;
    }
    for (int i = 0; i < x.rank(); ++i) {
        const bool gone = dims.empty() || plan.reduced[static_cast<std::size_t>(i)];
        plan.reduced[static_cast<std::size_t>(i)] = gone;
        plan.kept.push_back(gone ? 1 : x.size(i));
        if (gone) {
            plan.dims.push_back(i);
            plan.count *= x.size(i);
        } else {
            plan.squeezed.push_back(x.size(i));
        }
    }
    return plan;
}

void check_result_type(std::string_view op, DType out) {
    if (!is_floating(out))
        throw Error(ErrorCode::dtype,
                    std::string(op) + ": the result type must be floating, not " + name(out));
}

void check_not_empty(std::string_view op, const Tensor& x, const ReducePlan& plan) {
    if (plan.count == 0 && plan.kept.numel() > 0)
        throw Error(ErrorCode::shape, std::string(op) +
                                          ": nothing to choose from in a tensor of shape " +
                                          to_string(x.shape()));
}

ReduceWalk reduce_walk(const Tensor& x, const ReducePlan& plan) {
    const std::int64_t kept = plan.kept.numel();
    if (kept == 1 && is_dense(x)) return {x, 1, plan.count, 1};
    if (x.is_channels_last() && !plan.reduced[1] && plan.reduced[0] && plan.reduced[2] &&
        plan.reduced[3]) {
        return {x, 1, plan.count, x.size(1)};
    }
    int first = 0, last = x.rank();
    while (first < last && !plan.reduced[static_cast<std::size_t>(first)]) ++first;
    while (last > first && !plan.reduced[static_cast<std::size_t>(last - 1)]) --last;
    const bool block = std::all_of(plan.reduced.begin() + first, plan.reduced.begin() + last,
                                   [](bool r) { return r; });
    if (block) {
        std::int64_t outer = 1, inner = 1;
        for (int i = 0; i < first; ++i) outer *= x.size(i);
        for (int i = last; i < x.rank(); ++i) inner *= x.size(i);
        return {in_layout(x, Layout::contiguous), outer, plan.count, inner};
    }
    Dims order;
    for (int i = 0; i < x.rank(); ++i)
        if (!plan.reduced[static_cast<std::size_t>(i)]) order.push_back(i);
    for (int i = 0; i < x.rank(); ++i)
        if (plan.reduced[static_cast<std::size_t>(i)]) order.push_back(i);
    return {in_layout(permute(x, order), Layout::contiguous), kept, plan.count, 1};
}

Tensor reduced_by(kernels::ReduceOp op, const Tensor& x, const ReducePlan& plan, bool keepdim,
                  DType out) {
    const GradMode off(false);
    // The kernel widens 16 bits to f32 as it reads; any other change of type is a cast beforehand.
    const bool direct = out == x.dtype() || (out == DType::f32 && is_low(x.dtype()));
    const ReduceWalk walk = reduce_walk(direct ? x : to(x, out), plan);
    const Tensor y = Tensor::empty(plan.shape(keepdim), out, x.device());
    on(x.device(), kernels::cpu::reduce, kernels::cuda::reduce)(
        y.array(), walk.x.array(), walk.outer, walk.n, walk.inner, op, current_stream());
    return y;
}

}  // namespace engine
