#include "ops/linalg/matmul.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/gemm_operand.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

const Op& product_info(const Tensor& a) { return a.rank() == 3 ? bmm_op : mm_op; }

/// The product itself, outside the tape; checks types and shapes.
Tensor compute_product(const Op& info, const Tensor& a, bool swap_a, const Tensor& b,
                       bool swap_b, double alpha, DType dtype) {
    one_type(info, {a, b});
    const Operand left = operand(a, swap_a), right = operand(b, swap_b);
    const Tensor y = room_for(info, a, left, b, right, dtype);
    gemm(y, left, right, {.alpha = alpha});
    return y;
}

}  // namespace

Shape leading_dims(const Tensor& x) {
    Shape lead;
    for (int i = 0; i + 2 < x.rank(); ++i) lead.push_back(x.size(i));
    return lead;
}

namespace {

/// Gradients of a product by its operands, for dy in their type.
TensorList product_gradient(const Tensor& dy, const Saved& saved, bool swap_a, bool swap_b,
                            double alpha) {
    TensorList out(2);
    if (saved.needs_gradient(0)) {
        out[0] = swap_a ? product(saved[1], swap_b, dy, true, alpha)
                        : product(dy, false, saved[1], !swap_b, alpha);
    }
    if (saved.needs_gradient(1)) {
        out[1] = swap_b ? product(dy, true, saved[0], swap_a, alpha)
                        : product(saved[0], !swap_a, dy, false, alpha);
    }
    return out;
}

Tensor product_in(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha,
                  DType dtype) {
    const Op& info = product_info(a);
    const Tensor inputs[] = {a, b};
    return record_many(info, inputs, compute_product(info, a, swap_a, b, swap_b, alpha, dtype),
                       {b.requires_grad() ? save(a) : Save{}, a.requires_grad() ? save(b) : Save{}},
                       [swap_a, swap_b, alpha, type = a.dtype()](std::span<const Tensor> grads,
                                                                 const Saved& saved) {
                           return product_gradient(to(grads[0], type), saved, swap_a, swap_b,
                                                   alpha);
                       });
}

}  // namespace

Tensor product(const Tensor& a0, bool swap_a, const Tensor& b0, bool swap_b, double alpha) {
    const auto [a, b] = autocast(product_info(a0), a0, b0);
    return product_in(a, swap_a, b, swap_b, alpha, a.dtype());
}

Tensor wide_product(const Tensor& a0, bool swap_a, const Tensor& b0, bool swap_b, double alpha) {
    const auto [a, b] = autocast(product_info(a0), a0, b0);
    return product_in(a, swap_a, b, swap_b, alpha, wide_type(a.dtype()));
}

Tensor mm(const Tensor& a0, const Tensor& b0) {
    return mm_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        check_rank(mm_op, a, 2);
        check_rank(mm_op, b, 2);
        return product(a, false, b, false);
    });
}

Tensor bmm(const Tensor& a0, const Tensor& b0) {
    return bmm_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        check_rank(bmm_op, a, 3);
        check_rank(bmm_op, b, 3);
        return product(a, false, b, false);
    });
}

Tensor mv(const Tensor& matrix0, const Tensor& vector0) {
    return mv_op.call(matrix0, vector0, [&](const Tensor& matrix, const Tensor& vector) {
        check_rank(mv_op, matrix, 2);
        check_rank(mv_op, vector, 1);
        one_type(mv_op, {matrix, vector});
        check_shapes(mv_op, matrix.size(1) == vector.size(0), matrix, vector);
        const NoAutocast inside(matrix.device().kind);
        return reshape(product(matrix, false, reshape(vector, {vector.size(0), 1}), false),
                       {matrix.size(0)});
    });
}

Tensor dot(const Tensor& a0, const Tensor& b0) {
    return dot_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        check_rank(dot_op, a, 1);
        check_rank(dot_op, b, 1);
        one_type(dot_op, {a, b});
        check_shapes(dot_op, a.size(0) == b.size(0), a, b);
        const NoAutocast inside(a.device().kind);
        return reshape(
            product(reshape(a, {1, a.size(0)}), false, reshape(b, {b.size(0), 1}), false), {});
    });
}

namespace {

/// x as (batch of all leading dimensions, last two), leading ones broadcast to `lead`.
Tensor batched(const Tensor& x, const Shape& lead) {
    Shape full = lead;
    full.push_back(x.size(x.rank() - 2));
    full.push_back(x.size(x.rank() - 1));
    return reshape(expand(x, full), {lead.numel(), full[lead.rank()], full[lead.rank() + 1]});
}

/// Both sides of rank 2 or more.
Tensor matmul_matrices(const Tensor& a, const Tensor& b) {
    const std::int64_t m = a.size(a.rank() - 2), k = a.size(a.rank() - 1), n = b.size(b.rank() - 1);
    check_shapes(matmul_op, k == b.size(b.rank() - 2), a, b);
    if (b.rank() == 2) {
        if (a.rank() == 2) return product(a, false, b, false);
        Shape shape = leading_dims(a);
        const std::int64_t rows = shape.numel() * m;
        shape.push_back(m);
        shape.push_back(n);
        return reshape(product(reshape(a, {rows, k}), false, b, false), shape);
    }
    Shape shape = broadcast_shapes("matmul", leading_dims(a), leading_dims(b));
    const Tensor y = product(batched(a, shape), false, batched(b, shape), false);
    shape.push_back(m);
    shape.push_back(n);
    return reshape(y, shape);
}

Shape without(const Shape& shape, int dim) {
    Shape out;
    for (int i = 0; i < shape.rank(); ++i) {
        if (i != dim) out.push_back(shape[i]);
    }
    return out;
}

}  // namespace

Tensor matmul(const Tensor& a0, const Tensor& b0) {
    return matmul_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        one_type(matmul_op, {a, b});
        check_shapes(matmul_op, a.rank() > 0 && b.rank() > 0, a, b);
        const NoAutocast inside(a.device().kind);
        const Tensor left = a.rank() == 1 ? reshape(a, {1, a.size(0)}) : a;
        const Tensor right = b.rank() == 1 ? reshape(b, {b.size(0), 1}) : b;
        Tensor y = matmul_matrices(left, right);
        if (b.rank() == 1) y = reshape(y, without(y.shape(), y.rank() - 1));
        if (a.rank() == 1)
            y = reshape(y, without(y.shape(), b.rank() == 1 ? y.rank() - 1 : y.rank() - 2));
        return y;
    });
}

}  // namespace engine
