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

Tensor spread(const Tensor& x, const Shape& shape, bool keep_scalar) {
    if (keep_scalar && x.numel() == 1) return x;
    return in_layout(x.shape() == shape ? x : expanded_view(x, shape), Layout::contiguous);
}

Tensor compare(const Op& op, const Tensor& a0, const Tensor& b0, CompareOp f) {
    return op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        const GradMode off(false);
        const Shape shape = broadcast_shapes(op.name, a.shape(), b.shape());
        const DType dtype = result_type(a, b);
        const Tensor y = Tensor::empty(shape, DType::boolean, a.device());
        on(a.device(), kernels::cpu::compare, kernels::cuda::compare)(
            y.array(), spread(to(a, dtype), shape, true).array(),
            spread(to(b, dtype), shape, true).array(), f, current_stream());
        const Tensor inputs[] = {a, b};
        return record_flat(op, inputs, y);
    });
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return compare(eq_op, a, b, CompareOp::eq); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return compare(ne_op, a, b, CompareOp::ne); }
Tensor less(const Tensor& a, const Tensor& b) { return compare(lt_op, a, b, CompareOp::lt); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return compare(le_op, a, b, CompareOp::le); }
Tensor greater(const Tensor& a, const Tensor& b) { return compare(gt_op, a, b, CompareOp::gt); }
Tensor greater_equal(const Tensor& a, const Tensor& b) {
    return compare(ge_op, a, b, CompareOp::ge);
}

Tensor where(const Tensor& condition0, const Tensor& a0, const Tensor& b0) {
    return where_op.call(
        condition0, a0, b0, [&](const Tensor& condition, const Tensor& a, const Tensor& b) {
            if (condition.dtype() != DType::boolean) {
                throw Error(ErrorCode::dtype,
                            std::string("where: the condition must be bool, not ") +
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
                    spread(to(a, dtype), shape, true).array(),
                    spread(to(b, dtype), shape, true).array(), current_stream());
            }
            const Tensor inputs[] = {a, b};
            return record_many(
                where_op, inputs, y, {save(condition)},
                [sa = a.shape(), sb = b.shape()](std::span<const Tensor> dy, const Saved& saved) {
                    const Tensor zero = Tensor::scalar(0, dy[0].dtype(), dy[0].device());
                    TensorList grads(2);
                    if (saved.needs_gradient(0))
                        grads[0] = sum_to(where(saved[0], dy[0], zero), sa);
                    if (saved.needs_gradient(1))
                        grads[1] = sum_to(where(saved[0], zero, dy[0]), sb);
                    return grads;
                });
        });
}

namespace {

/// A test of values, outside the tape.
template <typename F, typename... Operands>
Tensor tested(const Op& op, const F& test, const Operands&... operands) {
    return op.call(operands..., [&](const auto&... x) {
        const GradMode off(false);
        const Tensor inputs[] = {x...};
        return record_flat(op, inputs, test(x...));
    });
}

Tensor filled(const Tensor& x, bool value) {
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

Tensor isnan(const Tensor& x) {
    const auto test = [](const Tensor& w) {
        return is_floating(w.dtype()) ? not_equal(w, w) : filled(w, false);
    };
    return tested(isnan_op, test, x);
}

Tensor isinf(const Tensor& x) {
    const auto test = [](const Tensor& w) {
        return is_floating(w.dtype()) ? equal(abs(w), infinity_beside(w)) : filled(w, false);
    };
    return tested(isinf_op, test, x);
}

Tensor isfinite(const Tensor& x) {
    const auto test = [](const Tensor& w) {
        return is_floating(w.dtype()) ? less(abs(w), infinity_beside(w)) : filled(w, true);
    };
    return tested(isfinite_op, test, x);
}

Tensor logical_not(const Tensor& x) {
    const auto test = [](const Tensor& w) { return equal(truth(w), constant_truth(w, false)); };
    return tested(logical_not_op, test, x);
}

Tensor logical_and(const Tensor& a, const Tensor& b) {
    const auto test = [](const Tensor& u, const Tensor& v) {
        return where(truth(u), truth(v), constant_truth(u, false));
    };
    return tested(logical_and_op, test, a, b);
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
    const auto test = [](const Tensor& u, const Tensor& v) {
        return where(truth(u), constant_truth(u, true), truth(v));
    };
    return tested(logical_or_op, test, a, b);
}

Tensor logical_xor(const Tensor& a, const Tensor& b) {
    const auto test = [](const Tensor& u, const Tensor& v) {
        return not_equal(truth(u), truth(v));
    };
    return tested(logical_xor_op, test, a, b);
}

}  // namespace engine
