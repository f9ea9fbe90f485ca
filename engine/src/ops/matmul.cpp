#include "ops/matmul.h"

#include "amp/autocast.h"
#include "engine/error.h"
#include "kernels/gemm.h"
#include "ops/binary.h"
#include "ops/check.h"
#include "ops/layout.h"
#include "ops/reduce.h"
#include "ops/view.h"
#include "ops/wide.h"

namespace engine {
namespace {

using kernels::ConstMatrix;
using kernels::GemmOptions;

template <Tensor (*op)(const Tensor&, const Tensor&)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.at(1))};
}
TensorList run_addmm(const OpArguments& args) {
    return {
        addmm(args.at(0), args.at(1), args.at(2), args.number("beta", 1), args.number("alpha", 1))};
}
TensorList run_linear(const OpArguments& args) {
    return {linear(args.at(0), args.at(1), args.get(2))};
}

/// A matrix (or a batch of them) as the kernel takes it; `kept` owns the memory.
struct Operand {
    Tensor kept;
    ConstMatrix matrix;
    std::int64_t step = 0;  // elements from one matrix of the batch to the next
};

/// The last two dimensions of x, swapped if asked, without a copy where the strides allow it.
Operand operand(const Tensor& x, bool swap) {
    const int r = x.rank() - 2, c = x.rank() - 1;
    const std::int64_t rows = x.size(r), cols = x.size(c);
    const std::int64_t row_step = x.strides()[r], col_step = x.strides()[c];
    const std::int64_t m = swap ? cols : rows, n = swap ? rows : cols;
    const std::int64_t step = r == 1 ? x.strides()[0] : 0;
    if ((col_step == 1 || cols == 1) && (row_step >= cols || rows == 1)) {
        const std::int64_t ld = rows == 1 ? std::max<std::int64_t>(cols, 1) : row_step;
        return {x, {x.data(), x.dtype(), m, n, ld, swap}, step};
    }
    if ((row_step == 1 || rows == 1) && (col_step >= rows || cols == 1)) {
        const std::int64_t ld = cols == 1 ? std::max<std::int64_t>(rows, 1) : col_step;
        return {x, {x.data(), x.dtype(), m, n, ld, !swap}, step};
    }
    const Tensor copy = in_layout(x, Layout::contiguous);
    return {copy,
            {copy.data(), x.dtype(), m, n, std::max<std::int64_t>(cols, 1), swap},
            r == 1 ? rows * cols : 0};
}

/// y = a b with the options' factors, bias and relu; y contiguous.
void gemm(const Tensor& y, const Operand& a, const Operand& b, GemmOptions options = {}) {
    if (y.numel() == 0) return;
    if (y.rank() == 3) {
        options.batch = y.size(0);
        options.stride_c = a.matrix.rows * b.matrix.cols;
        options.stride_a = a.step;
        options.stride_b = b.step;
    }
    const std::int64_t cols = b.matrix.cols;
    on(y.device(), kernels::cpu::gemm, kernels::cuda::gemm)(
        {y.data(), y.dtype(), a.matrix.rows, cols, cols}, a.matrix, b.matrix, options,
        current_stream());
}

const OpInfo& info_of(const Tensor& a) { return a.rank() == 3 ? bmm_info : mm_info; }

/// Uninitialised room for a b; checks that the operands fit one another.
Tensor room_for(const OpInfo& info, const Tensor& a, const Operand& left, const Tensor& b,
                const Operand& right, DType dtype) {
    const bool batches = a.rank() == b.rank() && (a.rank() == 2 || a.size(0) == b.size(0));
    check_shapes(info, batches && left.matrix.cols == right.matrix.rows, a, b);
    Shape shape{left.matrix.rows, right.matrix.cols};
    if (a.rank() == 3) shape = {a.size(0), left.matrix.rows, right.matrix.cols};
    return Tensor::empty(shape, dtype, a.device());
}

/// The product itself, outside the tape; checks types and shapes.
Tensor compute_product(const OpInfo& info, const Tensor& a, bool swap_a, const Tensor& b,
                       bool swap_b, double alpha, DType dtype) {
    one_type(info, {a, b});
    const Operand left = operand(a, swap_a), right = operand(b, swap_b);
    const Tensor y = room_for(info, a, left, b, right, dtype);
    gemm(y, left, right, {.alpha = alpha});
    return y;
}

}  // namespace

const OpInfo mm_info{
    "mm",
    CastPolicy::low,
    "mm(a, b)",
    2,
    "Most of a network's arithmetic is here: 16-bit hardware does it fast and sums in fp32.",
    run<mm>};
const OpInfo bmm_info{
    "bmm", CastPolicy::low, "bmm(a, b)", 2, "A batch of matrix products: as mm.", run<bmm>};
const OpInfo matmul_info{
    "matmul",   CastPolicy::low, "matmul(a, b)", 2, "A matrix product by any name: as mm.",
    run<matmul>};
const OpInfo addmm_info{"addmm",
                        CastPolicy::low,
                        "addmm(c, a, b; beta, alpha)",
                        2,
                        "A matrix product with an addition that costs nothing more: as mm.",
                        run_addmm};
const OpInfo mv_info{
    "mv", CastPolicy::low, "mv(matrix, vector)", 2, "A matrix times a vector: as mm.", run<mv>};
const OpInfo dot_info{"dot",
                      CastPolicy::promote,
                      "dot(x, y)",
                      2,
                      "Both sides go to the wider type, so that an fp32 side loses nothing.",
                      run<dot>};
const OpInfo linear_info{
    "linear",
    CastPolicy::low,
    "linear(x, weight, bias?)",
    2,
    "A matrix product: 16-bit hardware does it at twice the rate or more and sums in fp32.",
    run_linear};

namespace {

/// Gradients of a product by its operands, for dy in their type.
TensorList product_gradient(const Tensor& dy, const Saved& saved, bool swap_a, bool swap_b,
                            double alpha) {
    TensorList out(2);
    if (saved.wants(0)) {
        out[0] = swap_a ? product(saved[1], swap_b, dy, true, alpha)
                        : product(dy, false, saved[1], !swap_b, alpha);
    }
    if (saved.wants(1)) {
        out[1] = swap_b ? product(dy, true, saved[0], swap_a, alpha)
                        : product(saved[0], !swap_a, dy, false, alpha);
    }
    return out;
}

Tensor product_in(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha,
                  DType dtype) {
    const OpInfo& info = info_of(a);
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
    const auto [a, b] = autocast(info_of(a0), a0, b0);
    return product_in(a, swap_a, b, swap_b, alpha, a.dtype());
}

Tensor wide_product(const Tensor& a0, bool swap_a, const Tensor& b0, bool swap_b, double alpha) {
    const auto [a, b] = autocast(info_of(a0), a0, b0);
    return product_in(a, swap_a, b, swap_b, alpha, wide_type(a.dtype()));
}

Tensor mm(const Tensor& a, const Tensor& b) {
    check_rank(mm_info, a, 2);
    check_rank(mm_info, b, 2);
    return product(a, false, b, false);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
    check_rank(bmm_info, a, 3);
    check_rank(bmm_info, b, 3);
    return product(a, false, b, false);
}

Tensor mv(const Tensor& matrix0, const Tensor& vector0) {
    check_rank(mv_info, matrix0, 2);
    check_rank(mv_info, vector0, 1);
    const auto [matrix, vector] = autocast(mv_info, matrix0, vector0);
    one_type(mv_info, {matrix, vector});
    check_shapes(mv_info, matrix.size(1) == vector.size(0), matrix, vector);
    const NoAutocast inside(matrix.device().kind);
    return reshape(product(matrix, false, reshape(vector, {vector.size(0), 1}), false),
                   {matrix.size(0)});
}

Tensor dot(const Tensor& a0, const Tensor& b0) {
    check_rank(dot_info, a0, 1);
    check_rank(dot_info, b0, 1);
    const auto [a, b] = autocast(dot_info, a0, b0);
    one_type(dot_info, {a, b});
    check_shapes(dot_info, a.size(0) == b.size(0), a, b);
    const NoAutocast inside(a.device().kind);
    return reshape(product(reshape(a, {1, a.size(0)}), false, reshape(b, {b.size(0), 1}), false),
                   {});
}

namespace {

/// x as (batch of all leading dimensions, last two), leading ones broadcast to `lead`.
Tensor batched(const Tensor& x, const Shape& lead) {
    Shape full = lead;
    full.push_back(x.size(x.rank() - 2));
    full.push_back(x.size(x.rank() - 1));
    return reshape(expand(x, full), {lead.numel(), full[lead.rank()], full[lead.rank() + 1]});
}

Shape leading(const Tensor& x) {
    Shape lead;
    for (int i = 0; i + 2 < x.rank(); ++i) lead.push_back(x.size(i));
    return lead;
}

/// Both sides of rank 2 or more.
Tensor matmul_matrices(const Tensor& a, const Tensor& b) {
    const std::int64_t m = a.size(a.rank() - 2), k = a.size(a.rank() - 1), n = b.size(b.rank() - 1);
    check_shapes(matmul_info, k == b.size(b.rank() - 2), a, b);
    if (b.rank() == 2) {
        if (a.rank() == 2) return product(a, false, b, false);
        Shape shape = leading(a);
        const std::int64_t rows = shape.numel() * m;
        shape.push_back(m);
        shape.push_back(n);
        return reshape(product(reshape(a, {rows, k}), false, b, false), shape);
    }
    Shape shape = broadcast_shapes("matmul", leading(a), leading(b));
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
    const auto [a, b] = autocast(matmul_info, a0, b0);
    one_type(matmul_info, {a, b});
    check_shapes(matmul_info, a.rank() > 0 && b.rank() > 0, a, b);
    const NoAutocast inside(a.device().kind);
    const Tensor left = a.rank() == 1 ? reshape(a, {1, a.size(0)}) : a;
    const Tensor right = b.rank() == 1 ? reshape(b, {b.size(0), 1}) : b;
    Tensor y = matmul_matrices(left, right);
    if (b.rank() == 1) y = reshape(y, without(y.shape(), y.rank() - 1));
    if (a.rank() == 1)
        y = reshape(y, without(y.shape(), b.rank() == 1 ? y.rank() - 1 : y.rank() - 2));
    return y;
}

namespace {

/// beta * c + alpha * a b, outside the tape.
Tensor compute_sum(const OpInfo& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha) {
    const Operand left = operand(a, false), right = operand(b, false);
    const Tensor y = room_for(info, a, left, b, right, a.dtype());
    if (!(broadcast_shapes(info.name, c.shape(), y.shape()) == y.shape()))
        check_shapes(info, false, c, y);
    if (beta != 0) copy_into(y, expanded_view(c, y.shape()));
    gemm(y, left, right, {.alpha = alpha, .beta = beta});
    return y;
}

/// beta * dy summed down to c's shape; scaled before it is rounded.
Tensor gradient_of_addend(const Tensor& dy, const Shape& shape, double beta) {
    if (beta == 1) return sum_to(dy, shape);
    return to(mul(sum_to(widened(dy), shape), beta), dy.dtype());
}

/// alpha a b for a gradient. PyTorch multiplies the product by an alpha of 0, which makes NaN of an
/// infinity, where a BLAS does not read the matrices.
Tensor scaled_product(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha) {
    if (alpha != 0) return product(a, swap_a, b, swap_b, alpha);
    return mul(product(a, swap_a, b, swap_b), alpha);
}

}  // namespace

Tensor add_product(const OpInfo& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha) {
    const Tensor inputs[] = {c, a, b};
    return record_many(
        info, inputs, compute_sum(info, c, a, b, beta, alpha), {save(a), save(b)},
        [from = c.shape(), beta, alpha](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& dy = grads[0];
            TensorList out(3);
            if (saved.wants(0)) out[0] = gradient_of_addend(dy, from, beta);
            if (saved.wants(1)) out[1] = scaled_product(dy, false, saved[1], true, alpha);
            if (saved.wants(2)) out[2] = scaled_product(saved[0], true, dy, false, alpha);
            return out;
        });
}

Tensor addmm(const Tensor& c0, const Tensor& a0, const Tensor& b0, double beta, double alpha) {
    check_rank(addmm_info, a0, 2);
    check_rank(addmm_info, b0, 2);
    const auto [c, a, b] = autocast(addmm_info, c0, a0, b0);
    one_type(addmm_info, {c, a, b});
    return add_product(addmm_info, c, a, b, beta, alpha);
}

namespace {

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    check_rank(linear_info, weight, 2);
    check_shapes(linear_info, x.rank() > 0 && x.size(x.rank() - 1) == weight.size(1), x, weight);
    if (bias.defined())
        check_shapes(linear_info, bias.rank() == 1 && bias.size(0) == weight.size(0), bias, weight);
}

/// x as (rows, features); x itself in the usual case.
Tensor rows_of(const Tensor& x) {
    if (x.rank() == 2) return x;
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < x.rank(); ++i) rows *= x.size(i);
    return reshape(x, {rows, x.shape().back()});
}

Tensor compute_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const GradMode off(false);
    const Tensor rows = rows_of(x);
    Shape shape = x.shape();
    shape[shape.rank() - 1] = weight.size(0);
    Tensor y = Tensor::empty({rows.size(0), weight.size(0)}, x.dtype(), x.device());
    const Tensor dense_bias = bias.defined() ? dense(bias) : bias;
    gemm(y, operand(rows, false), operand(weight, true),
         {.bias = bias.defined() ? dense_bias.data() : nullptr});
    return x.rank() == 2 ? y : view_of(y, shape, contiguous_strides(shape), 0);
}

TensorList linear_gradient(std::span<const Tensor> grads, const Saved& saved) {
    const Tensor dy = rows_of(grads[0]);
    TensorList out(3);
    if (saved.wants(0)) {
        const Tensor dx = product(dy, false, saved[1], false);
        Shape shape = grads[0].shape();
        shape[shape.rank() - 1] = dx.size(1);
        out[0] = reshape(dx, shape);
    }
    if (saved.wants(1)) out[1] = product(dy, true, rows_of(saved[0]), false);
    if (saved.wants(2)) out[2] = sum(dy, {0}, false, dy.dtype());
    return out;
}

/// One weight for each feature, so no dimension of results: x weight.
Tensor linear_vector(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    if (bias.defined()) {
        throw Error(ErrorCode::shape,
                    "linear: takes no bias beside a weight of shape " + to_string(weight.shape()));
    }
    const Tensor y = linear(x, reshape(weight, {1, weight.size(0)}));
    return reshape(y, without(y.shape(), y.rank() - 1));
}

}  // namespace

Tensor linear(const Tensor& x0, const Tensor& weight0, const Tensor& bias0) {
    const auto [x, weight, bias] = autocast(linear_info, x0, weight0, bias0);
    one_type(linear_info, {x, weight, bias});
    if (weight.rank() == 1) return linear_vector(x, weight, bias);
    check_linear(x, weight, bias);
    const Tensor inputs[] = {x, weight, bias};
    return record_many(
        linear_info, inputs, compute_linear(x, weight, bias),
        {weight.requires_grad() ? save(x) : Save{}, x.requires_grad() ? save(weight) : Save{}},
        linear_gradient);
}

}  // namespace engine
