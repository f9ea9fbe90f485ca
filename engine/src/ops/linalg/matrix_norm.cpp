#include "ops/linalg/matrix_norm.h"

#include <algorithm>
#include <cmath>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/svd.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/reduce/extremum.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

constexpr Op svd_op("svd(x)", "Runs in its input's type.");

/// s (b, k) broadcast along the columns of (b, ., k).
Tensor across(const Tensor& s) { return reshape(s, {s.size(0), 1, s.size(1)}); }
/// s (b, k) broadcast along the rows of (b, k, .).
Tensor down(const Tensor& s) { return reshape(s, {s.size(0), s.size(1), 1}); }

/// (k, k), 1 on the diagonal.
Tensor identity(std::int64_t k, const Tensor& like) {
    const Tensor host = Tensor::zeros({k, k}, DType::f64, Device{});
    for (std::int64_t i = 0; i < k; ++i) host.data_as<double>()[i * (k + 1)] = 1;
    return constant_on(like.device(), to(host, like.dtype()));
}

/// (w^T g - g^T w) / (s_j^2 - s_i^2), 0 on the diagonal: how much the columns of w rotate into each
/// other.
Tensor turning(const Tensor& w, const Tensor& g, const Tensor& s, const Tensor& one) {
    const Tensor overlap = product(w, true, g, false);
    const Tensor skew = sub(overlap, transpose(overlap, 1, 2));
    const Tensor gaps = mul(sub(across(s), down(s)), add(across(s), down(s)));
    return div(skew, add(gaps, one));
}

/// (g - w w^T g) / s: what leaves the space of w's columns.
Tensor leaving(const Tensor& w, const Tensor& g, const Tensor& s) {
    const Tensor within = product(w, false, product(w, true, g, false), false);
    return div(sub(g, within), across(s));
}

/// Townsend, "Differentiating the singular value decomposition" (2016).
Tensor svd_gradient(std::span<const Tensor> grads, const Tensor& u, const Tensor& s,
                    const Tensor& v) {
    const NoAutocast inside(s.device().kind);
    const std::int64_t k = s.size(1);
    const Tensor one = identity(k, s);
    Tensor core;
    const auto add_to = [](Tensor& sum, const Tensor& part) {
        sum = sum.defined() ? add(sum, part) : part;
    };
    if (grads[0].defined()) add_to(core, mul(turning(u, grads[0], s, one), across(s)));
    if (grads[1].defined()) add_to(core, mul(one, across(grads[1])));
    if (grads[2].defined()) add_to(core, mul(down(s), turning(v, grads[2], s, one)));
    if (!core.defined()) return {};
    Tensor dx = product(product(u, false, core, false), false, v, true);
    if (grads[0].defined() && u.size(1) > k)
        add_to(dx, product(leaving(u, grads[0], s), false, v, true));
    if (grads[2].defined() && v.size(1) > k)
        add_to(dx, product(u, false, leaving(v, grads[2], s), true));
    return dx;
}

}  // namespace

SingularValues svd(const Tensor& x) {
    const std::int64_t count = x.size(0), m = x.size(1), n = x.size(2), k = std::min(m, n);
    const Device host;
    Tensor u = Tensor::empty({count, m, k}, DType::f64, host);
    Tensor s = Tensor::empty({count, k}, DType::f64, host);
    Tensor v = Tensor::empty({count, n, k}, DType::f64, host);
    {
        const GradMode off(false);
        const Tensor on_host = in_layout(to(x, DType::f64), Layout::contiguous).copy_to(host);
        kernels::cpu::svd(u.data_as<double>(), s.data_as<double>(), v.data_as<double>(),
                          on_host.data_as<double>(), count, m, n);
        const auto back = [&](const Tensor& y) { return to(y.copy_to(x.device()), x.dtype()); };
        u = back(u);
        s = back(s);
        v = back(v);
    }
    TensorList y = record_outputs(
        svd_op, {&x, 1}, {u, s, v}, {save_output(u, 0), save_output(s, 1), save_output(v, 2)},
        [](std::span<const Tensor> grads, const Saved& saved) {
            return TensorList{svd_gradient(grads, saved[0], saved[1], saved[2])};
        });
    return {y[0], y[1], y[2]};
}

namespace {

using Ints = std::vector<std::int64_t>;

/// The two dimensions of the matrices, rows first.
struct Sides {
    int rows, cols;
};
Sides sides_of(const Op& info, const Tensor& x, const Ints& dims) {
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
Tensor kept_norm(const Op& info, const Tensor& x, const Sides& sides, double p) {
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

}  // namespace

Tensor nuclear_of(const Op& info, const Tensor& x, Ints dims) {
    if (dims.empty() && x.rank() == 2) dims = {0, 1};
    const Sides sides = sides_of(info, x, dims);
    return sum(singular_values(x, sides), {sides.rows}, true, x.dtype());
}

Tensor linalg_matrix_norm(const Tensor& x0, const MatrixOrder& ord, const Ints& dims, bool keepdim,
                          std::optional<DType> dtype) {
    return linalg_matrix_norm_op.call(x0, ord, dims, keepdim, dtype, [&](const Tensor& x) {
        const Op& info = linalg_matrix_norm_op;
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
    });
}

Tensor frobenius_norm(const Tensor& x0, const Ints& dims, bool keepdim) {
    return frobenius_norm_op.call(x0, dims, keepdim, [&](const Tensor& x) {
        check_floating(frobenius_norm_op, x);
        if (dims.size() > 2)
            throw Error(ErrorCode::value, "frobenius_norm: takes at most two dimensions, not " +
                                              std::to_string(dims.size()));
        const NoAutocast inside(x.device().kind);
        const ReducePlan plan = reduce_plan("frobenius_norm", x, dims);
        const Tensor kept = norm_of(frobenius_norm_op, widened(x), plan, 2);
        return to(reshape(kept, plan.shape(keepdim)), x.dtype());
    });
}

Tensor nuclear_norm(const Tensor& x0, const Ints& dims, bool keepdim) {
    return nuclear_norm_op.call(x0, dims, keepdim, [&](const Tensor& x) {
        check_floating(nuclear_norm_op, x);
        const NoAutocast inside(x.device().kind);
        const Tensor kept = nuclear_of(nuclear_norm_op, widened(x), dims);
        const ReducePlan plan = reduce_plan("nuclear_norm", x, dims);
        return to(reshape(kept, plan.shape(keepdim)), x.dtype());
    });
}

}  // namespace engine
