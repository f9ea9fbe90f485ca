#include "ops/reduce/scan.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/reduce.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

// Below, tensors are (outer, n, inner) in f32 or f64, and scans run along n. They are closed under
// differentiation: the gradient of a recurrence is a recurrence the other way.

constexpr Op linear_scan_op("linear_scan(a, b; reverse)");

/// The kernel's recurrence; a or b may be undefined.
Tensor run_scan(const Tensor& a, const Tensor& b, bool reverse, DType out) {
    const Tensor& like = a.defined() ? a : b;
    const Tensor factors = a.defined() ? in_layout(a, Layout::contiguous) : a;
    const Tensor terms = b.defined() ? in_layout(b, Layout::contiguous) : b;
    const Tensor y = Tensor::empty(like.shape(), out, like.device());
    const auto array = [&](const Tensor& x) {
        return x.defined() ? kernels::ConstArray(x.array())
                           : kernels::ConstArray(nullptr, like.dtype(), 0);
    };
    on(like.device(), kernels::cpu::scan, kernels::cuda::scan)(
        y.array(), array(factors), array(terms), like.size(0), like.size(1), like.size(2), reverse,
        current_stream());
    return y;
}

/// The neighbour one step earlier in the scan's direction, `fill` before the first.
Tensor earlier(const Tensor& x, bool reverse, double fill) {
    const std::int64_t n = x.size(1);
    if (n == 0) return x;
    const Tensor edge = Tensor::full({x.size(0), 1, x.size(2)}, fill, x.dtype(), x.device());
    const Tensor rest = narrow(x, 1, reverse ? 1 : 0, n - 1);
    return reverse ? cat({rest, edge}, 1) : cat({edge, rest}, 1);
}

Tensor sum_scan(const Op& info, const Tensor& x, bool reverse, DType out) {
    return record(info, {x}, run_scan({}, x, reverse, out), {},
                  [&info, reverse](const Tensor& dy, const Saved&) {
                      return sum_scan(info, dy, !reverse, dy.dtype());
                  });
}

/// y[k] = b[k] + a[k] y[k - 1]
Tensor linear_scan(const Tensor& a, const Tensor& b, bool reverse) {
    const Tensor y = run_scan(a, b, reverse, a.dtype());
    const Tensor inputs[] = {a, b};
    return record_many(linear_scan_op, inputs, y, {save(a), save_output(y)},
                       [reverse](std::span<const Tensor> dy, const Saved& saved) {
                           // g[k] = dy[k] + a[k + 1] g[k + 1] is the gradient by b.
                           const Tensor next = earlier(saved[0], !reverse, 0);
                           TensorList grads(2);
                           grads[1] = linear_scan(next, dy[0], !reverse);
                           if (saved.needs_gradient(0))
                               grads[0] = mul(grads[1], earlier(saved[1], reverse, 0));
                           return grads;
                       });
}

/// y[k] = x[k] y[k - 1], from 1
Tensor product_scan(const Op& info, const Tensor& x, bool reverse) {
    const Tensor y = run_scan(x, {}, reverse, x.dtype());
    return record(info, {x}, y, {save(x), save_output(y)},
                  [reverse](const Tensor& dy, const Saved& saved) {
                      const Tensor next = earlier(saved[0], !reverse, 0);
                      return mul(linear_scan(next, dy, !reverse), earlier(saved[1], reverse, 1));
                  });
}

/// x as (outer, n, inner) around a dimension; all of it in n if there is none.
Tensor around(const char* op, const Tensor& x, std::optional<std::int64_t> dim) {
    if (!dim) return reshape(x, {1, x.numel(), 1});
    const int d = wrap_dim(op, *dim, x.rank());
    std::int64_t outer = 1, inner = 1;
    for (int i = 0; i < d; ++i) outer *= x.size(i);
    for (int i = d + 1; i < x.rank(); ++i) inner *= x.size(i);
    return reshape(x, {outer, x.rank() == 0 ? 1 : x.size(d), inner});
}

/// The type of the result, and x as the kernel reads it: cast first if a type is given. Integers
/// are computed in i64, whose sums and products wrap around.
struct Operand {
    Tensor x;
    DType out;
};
Operand operand(const Op& info, const Tensor& x, std::optional<DType> dtype) {
    if (!is_floating(x.dtype())) {
        const DType type = dtype.value_or(DType::i64);
        const Tensor terms = to(x, type);
        return {is_floating(type) ? terms : to(terms, DType::i64), type};
    }
    const DType out = autocast_result(info, x, dtype);
    if (!is_floating(out)) {
        throw Error(ErrorCode::dtype, std::string(info.name) +
                                          ": the result type must be floating, not " + name(out));
    }
    return {dtype ? to(x, *dtype) : x, out};
}

}  // namespace

Tensor cumsum(const Tensor& given0, std::int64_t dim, std::optional<DType> dtype) {
    return cumsum_op.call(given0, dim, dtype, [&](const Tensor& given) {
        const auto [x, out] = operand(cumsum_op, given, dtype);
        const Tensor y = sum_scan(cumsum_op, around("cumsum", x, dim), false, wide_type(x.dtype()));
        return to(reshape(y, x.shape()), out);
    });
}

Tensor cumprod(const Tensor& given0, std::int64_t dim, std::optional<DType> dtype) {
    return cumprod_op.call(given0, dim, dtype, [&](const Tensor& given) {
        const auto [x, out] = operand(cumprod_op, given, dtype);
        const Tensor y = product_scan(cumprod_op, around("cumprod", widened(x), dim), false);
        return to(reshape(y, x.shape()), out);
    });
}

Tensor prod(const Tensor& given0, std::optional<std::int64_t> dim, bool keepdim,
            std::optional<DType> dtype) {
    return prod_op.call(given0, dim, keepdim, dtype, [&](const Tensor& given) {
        const auto [x, out] = operand(prod_op, given, dtype);
        const std::vector<std::int64_t> dims =
            dim ? std::vector{*dim} : std::vector<std::int64_t>{};
        const ReducePlan plan = reduce_plan("prod", x, dims);
        const Tensor rows = around("prod", widened(x), dim);
        const ReducePlan along_n = reduce_plan("prod", rows, {1});
        const Tensor y = reduced_by(kernels::ReduceOp::prod, rows, along_n, true, rows.dtype());
        const Tensor recorded =
            record(prod_op, {rows}, y, {save(rows)}, [](const Tensor& dy, const Saved& saved) {
                // The product of all the others: of those before times those after.
                const Tensor before = earlier(product_scan(prod_op, saved[0], false), false, 1);
                const Tensor after = earlier(product_scan(prod_op, saved[0], true), true, 1);
                return mul(mul(before, after), dy);
            });
        return to(reshape(recorded, plan.shape(keepdim)), out);
    });
}

}  // namespace engine
