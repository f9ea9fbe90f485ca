#include "ops/linalg/gemm_operand.h"

#include <algorithm>

#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {

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

void gemm(const Tensor& y, const Operand& a, const Operand& b, kernels::GemmOptions options) {
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

Tensor room_for(const Op& info, const Tensor& a, const Operand& left, const Tensor& b,
                const Operand& right, DType dtype) {
    const bool batches = a.rank() == b.rank() && (a.rank() == 2 || a.size(0) == b.size(0));
    check_shapes(info, batches && left.matrix.cols == right.matrix.rows, a, b);
    Shape shape{left.matrix.rows, right.matrix.cols};
    if (a.rank() == 3) shape = {a.size(0), left.matrix.rows, right.matrix.cols};
    return Tensor::empty(shape, dtype, a.device());
}

}  // namespace engine
