#include "ops/reduce.h"

#include <algorithm>

#include "amp/autocast.h"
#include "engine/error.h"
#include "kernels/reduce.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/compare.h"
#include "ops/layout.h"
#include "ops/view.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

template <Tensor (*op)(const Tensor&, const Ints&, bool, std::optional<DType>)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), args.flag("keepdim", false), args.dtype())};
}
TensorList run_norm(const OpArguments& args) {
    return {norm(args.at(0), args.integers("dim", {}), args.flag("keepdim", false), args.dtype(),
                 args.number("p", 2))};
}
TensorList run_argmax(const OpArguments& args) {
    const Tensor& x = args.at(0);
    const bool keepdim = args.flag("keepdim", false);
    if (args.has("dim")) return {argmax(x, args.integer("dim", 0), keepdim)};
    // Without a dimension it is the place in row-major order.
    Shape ones;
    for (int i = 0; keepdim && i < x.rank(); ++i) ones.push_back(1);
    return {reshape(argmax(reshape(x, {x.numel()}), 0, false), ones)};
}

/// Which dimensions a reduction takes away, and the shapes that follow.
struct Plan {
    std::array<bool, Dims::max_rank> reduced{};
    Shape kept;      // result with keepdim
    Shape squeezed;  // result without
    std::int64_t count = 1;
};

Plan plan_of(const char* op, const Tensor& x, const Ints& dims) {
    Plan plan;
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
        if (gone)
            plan.count *= x.size(i);
        else
            plan.squeezed.push_back(x.size(i));
    }
    return plan;
}

/// x in memory as (outer, n, inner) with n the reduced elements.
struct Walk {
    Tensor x;
    std::int64_t outer, n, inner;
};

Walk walk_of(const Tensor& x, const Plan& plan) {
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

/// The reduction itself, outside the tape; x floating.
Tensor compute(const Tensor& x, const Plan& plan, bool keepdim, ReduceOp op, DType out) {
    const GradMode off(false);
    // The kernel widens 16 bits to f32 as it reads; any other change of type is a cast beforehand.
    const bool direct = out == x.dtype() || (out == DType::f32 && is_low(x.dtype()));
    const Walk walk = walk_of(direct ? x : to(x, out), plan);
    const Tensor y = Tensor::empty(keepdim ? plan.kept : plan.squeezed, out, x.device());
    on(x.device(), kernels::cpu::reduce, kernels::cuda::reduce)(
        y.array(), walk.x.array(), walk.outer, walk.n, walk.inner, op, current_stream());
    return y;
}

void check_type(const char* op, DType out) {
    if (!is_floating(out))
        throw Error(ErrorCode::dtype,
                    std::string(op) + ": the result type must be floating, not " + name(out));
}

}  // namespace

const OpInfo sum_info{"sum",
                      CastPolicy::f32_dtype,
                      "sum(x; dim?, keepdim, dtype?)",
                      2,
                      "A sum of many fp16 values soon passes 65504, so it is written in fp32.",
                      run<sum>};
const OpInfo mean_info{"mean",
                       CastPolicy::none,
                       "mean(x; dim?, keepdim, dtype?)",
                       2,
                       "Not on the list: adds in fp32 and rounds the result to its input's type.",
                       run<mean>};
const OpInfo norm_info{"norm",
                       CastPolicy::f32_append,
                       "norm(x; p, dim?, keepdim, dtype?)",
                       2,
                       "Squares leave fp16 above 256, so the norm is written in fp32.",
                       run_norm};
const OpInfo argmax_info{
    "argmax",  CastPolicy::none, "argmax(x; dim?, keepdim)", 0, "An index has no type to lose.",
    run_argmax};

Tensor sum(const Tensor& x, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    if (!is_floating(x.dtype())) {
        const Tensor wide = sum(to(x, DType::f64), dims, keepdim, DType::f64);
        return to(wide, dtype.value_or(DType::i64));
    }
    const DType out = autocast_result(sum_info, x, dtype);
    check_type("sum", out);
    const Plan plan = plan_of("sum", x, dims);
    return record(sum_info, {x}, compute(x, plan, keepdim, ReduceOp::sum, out), {},
                  [from = x.shape(), kept = plan.kept](const Tensor& dy, const Saved&) {
                      return expand(reshape(dy, kept), from);
                  });
}

Tensor mean(const Tensor& x, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    check_type("mean", x.dtype());
    const DType out = dtype.value_or(x.dtype());
    check_type("mean", out);
    const Plan plan = plan_of("mean", x, dims);
    return record(
        mean_info, {x}, compute(x, plan, keepdim, ReduceOp::mean, out), {},
        [from = x.shape(), kept = plan.kept, n = plan.count](const Tensor& dy, const Saved&) {
            return expand(mul(reshape(dy, kept), 1.0 / static_cast<double>(n)), from);
        });
}

namespace {

/// dy * (x / |x|), zero where the norm is zero. dy / |x| first would overflow beside a tiny norm.
Tensor norm2_gradient(const Tensor& dy, const Tensor& x, const Tensor& n) {
    const Tensor zero = Tensor::scalar(0, dy.dtype(), dy.device());
    const Tensor at_zero = equal(n, zero);
    const Tensor direction = div(x, where(at_zero, Tensor::scalar(1, n.dtype(), n.device()), n));
    return where(at_zero, zero, mul(dy, direction));
}

/// dy * sign(x)
Tensor norm1_gradient(const Tensor& dy, const Tensor& x) {
    const Tensor zero = Tensor::scalar(0, x.dtype(), x.device());
    return mul(dy, sub(to(greater(x, zero), dy.dtype()), to(less(x, zero), dy.dtype())));
}

}  // namespace

Tensor norm(const Tensor& x, const Ints& dims, bool keepdim, std::optional<DType> dtype, double p) {
    check_type("norm", x.dtype());
    if (p != 1 && p != 2)
        throw Error(ErrorCode::value, "norm: p is 1 or 2 here, not " + std::to_string(p));
    const DType out = autocast_result(norm_info, x, dtype);
    check_type("norm", out);
    const Plan plan = plan_of("norm", x, dims);
    const bool first = p == 1;
    const Tensor y = compute(x, plan, true, first ? ReduceOp::sum_abs : ReduceOp::norm2, out);
    const Tensor kept = record(norm_info, {x}, y, {save(x), first ? Save{} : save_output(y)},
                               [first](const Tensor& dy, const Saved& saved) {
                                   return first ? norm1_gradient(dy, saved[0])
                                                : norm2_gradient(dy, saved[0], saved[1]);
                               });
    return keepdim ? kept : reshape(kept, plan.squeezed);
}

Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim) {
    check_type("argmax", x.dtype());
    const Plan plan = plan_of("argmax", x, {dim});
    const Walk walk = walk_of(x, plan);
    if (walk.n == 0)
        throw Error(ErrorCode::shape, "argmax: dimension " + std::to_string(dim) + " of " +
                                          to_string(x.shape()) + " is empty");
    const Tensor y = Tensor::empty(keepdim ? plan.kept : plan.squeezed, DType::i64, x.device());
    on(x.device(), kernels::cpu::arg_max, kernels::cuda::arg_max)(
        y.array(), walk.x.array(), walk.outer, walk.n, walk.inner, current_stream());
    return record_flat(argmax_info, {&x, 1}, y);
}

}  // namespace engine
