#include "ops/linalg/matrix_norm.h"

#include <algorithm>
#include <cmath>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/norm.h"
#include "ops/linalg/svd.h"
#include "ops/reduce/extremum.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/wide.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;

MatrixOrder order_of(const OpArguments& args) {
    const auto found = args.attrs.find("ord");
    if (found != args.attrs.end()) {
        const auto* word = std::get_if<std::string>(&found->second);
        if (word && (*word == "fro" || *word == "nuc")) return *word;
        if (args.has("ord")) return norm_order(linalg_matrix_norm_info, args, "ord", 2);
    }
    return "fro";
}
TensorList run_matrix_norm(const OpArguments& args) {
    return {linalg_matrix_norm(args.at(0), order_of(args), args.integers("dim", {-2, -1}),
                               args.flag("keepdim", false), args.dtype())};
}
template <Tensor (*op)(const Tensor&, const Ints&, bool)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), args.flag("keepdim", false))};
}

/// The two dimensions of the matrices, rows first.
struct Sides {
    int rows, cols;
};
Sides sides_of(const OpInfo& info, const Tensor& x, const Ints& dims) {
    if (dims.size() != 2 || x.rank() < 2) {
        throw Error(ErrorCode::shape,
                    std::string(info.name) + ": takes two dimensions of a tensor, not " +
                        std::to_string(dims.size()) + " of shape " + to_string(x.shape()));
    }
    const Sides sides{wrap_dim(info.name, dims[0], x.rank()),
                      wrap_dim(info.name, dims[1], x.rank())};
    if (sides.rows == sides.cols)
        throw Error(ErrorCode::value, std::string(info.name) + ": dim " + std::to_string(dims[0]) +
                                          " is given twice");
    return sides;
}

/// Singular values of x's matrices, in the place of the rows; the columns' dimension is 1.
Tensor singular_values(const Tensor& x, const Sides& sides) {
    Dims order;
    for (int i = 0; i < x.rank(); ++i)
        if (i != sides.rows && i != sides.cols) order.push_back(i);
    order.push_back(sides.rows);
    order.push_back(sides.cols);
    const std::int64_t m = x.size(sides.rows), n = x.size(sides.cols), k = std::min(m, n);
    Shape batch;
    for (int i = 0; i + 2 < x.rank(); ++i) batch.push_back(x.size(static_cast<int>(order[i])));
    const Tensor s = svd(reshape(permute(x, order), {batch.numel(), m, n})).s;
    Shape shape = batch;
    shape.push_back(k);
    shape.push_back(1);
    Dims inverse = order;
    for (int i = 0; i < x.rank(); ++i) inverse[static_cast<int>(order[i])] = i;
    return permute(reshape(s, shape), inverse);
}

/// Norms of x in f32 or f64, both dimensions kept.
Tensor kept_norm(const OpInfo& info, const Tensor& x, const Sides& sides, double p) {
    const double order = std::fabs(p);
    if (order == 2) {
        const Tensor s = singular_values(x, sides);
        return p > 0 ? amax(s, {sides.rows}, true) : amin(s, {sides.rows}, true);
    }
    if (order == 1 || std::isinf(p)) {
        const int summed = order == 1 ? sides.rows : sides.cols;
        const int chosen = order == 1 ? sides.cols : sides.rows;
        const Tensor sums = norm_of(info, x, reduce_plan(info.name, x, {summed}), 1);
        return p > 0 ? amax(sums, {chosen}, true) : amin(sums, {chosen}, true);
    }
    throw Error(ErrorCode::value, std::string(info.name) +
                                      ": ord is fro, nuc, 1, -1, 2, -2, inf or -inf, not " +
                                      std::to_string(p));
}

constexpr const char* why = "Sums of squares and singular values soon overflow fp16.";

}  // namespace

const OpInfo linalg_matrix_norm_info{"linalg_matrix_norm",
                                     CastPolicy::f32_dtype,
                                     "linalg_matrix_norm(x; ord, dim, keepdim, dtype?)",
                                     2,
                                     why,
                                     run_matrix_norm};
const OpInfo frobenius_norm_info{
    "frobenius_norm",   CastPolicy::f32, "frobenius_norm(x; dim, keepdim)", 2, why,
    run<frobenius_norm>};
const OpInfo nuclear_norm_info{
    "nuclear_norm", CastPolicy::f32, "nuclear_norm(x; dim?, keepdim)", 2, why, run<nuclear_norm>};

Tensor nuclear_of(const OpInfo& info, const Tensor& x, Ints dims) {
    if (dims.empty() && x.rank() == 2) dims = {0, 1};
    const Sides sides = sides_of(info, x, dims);
    return sum(singular_values(x, sides), {sides.rows}, true, x.dtype());
}

Tensor linalg_matrix_norm(const Tensor& x, const MatrixOrder& ord, const Ints& dims, bool keepdim,
                          std::optional<DType> dtype) {
    if (intercepted(linalg_matrix_norm_info))
        return dispatched(
            linalg_matrix_norm_info, [](const auto&... a) { return linalg_matrix_norm(a...); }, x,
            ord, dims, keepdim, dtype);
    const OpInfo& info = linalg_matrix_norm_info;
    check_floating(info, x);
    const DType out = autocast_result(info, x, dtype);
    const Sides sides = sides_of(info, x, dims);
    const Tensor wide = norm_operand(info, x, out);
    const NoAutocast inside(x.device().kind);
    const ReducePlan plan = reduce_plan(info.name, x, dims);
    const auto* word = std::get_if<std::string>(&ord);
    if (word && *word != "fro" && *word != "nuc")
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": ord is fro, nuc or a number, not " + *word);
    const Tensor kept = !word            ? kept_norm(info, wide, sides, std::get<double>(ord))
                        : *word == "nuc" ? nuclear_of(info, wide, dims)
                                         : norm_of(info, wide, plan, 2);
    return to(keepdim ? kept : reshape(kept, plan.squeezed), out);
}

Tensor frobenius_norm(const Tensor& x0, const Ints& dims, bool keepdim) {
    if (intercepted(frobenius_norm_info))
        return dispatched(
            frobenius_norm_info, [](const auto&... a) { return frobenius_norm(a...); }, x0, dims,
            keepdim);
    const auto [x] = autocast(frobenius_norm_info, x0);
    check_floating(frobenius_norm_info, x);
    if (dims.size() > 2)
        throw Error(ErrorCode::value, "frobenius_norm: takes at most two dimensions, not " +
                                          std::to_string(dims.size()));
    const NoAutocast inside(x.device().kind);
    const ReducePlan plan = reduce_plan("frobenius_norm", x, dims);
    const Tensor kept = norm_of(frobenius_norm_info, widened(x), plan, 2);
    return to(reshape(kept, plan.shape(keepdim)), x.dtype());
}

Tensor nuclear_norm(const Tensor& x0, const Ints& dims, bool keepdim) {
    if (intercepted(nuclear_norm_info))
        return dispatched(
            nuclear_norm_info, [](const auto&... a) { return nuclear_norm(a...); }, x0, dims,
            keepdim);
    const auto [x] = autocast(nuclear_norm_info, x0);
    check_floating(nuclear_norm_info, x);
    const NoAutocast inside(x.device().kind);
    const Tensor kept = nuclear_of(nuclear_norm_info, widened(x), dims);
    const ReducePlan plan = reduce_plan("nuclear_norm", x, dims);
    return to(reshape(kept, plan.shape(keepdim)), x.dtype());
}

}  // namespace engine
