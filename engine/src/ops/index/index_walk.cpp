#include "ops/index/index_walk.h"

#include "engine/base/error.h"
#include "tensor/cast.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using kernels::IndexSpan;

/// Sizes before, of and after `dim` in the order of memory. A 0-d tensor is a row of one.
IndexSpan span_of(const Tensor& x, int dim, std::int64_t m) {
    IndexSpan span{1, 1, m, 1};
    const bool last = layout_of(x) == Layout::channels_last;
    const int in_memory[] = {0, 2, 3, 1};
    bool before = true;
    for (int i = 0; i < x.rank(); ++i) {
        const int at = last ? in_memory[i] : i;
        if (at == dim) {
            span.n = x.size(at);
            before = false;
        } else {
            (before ? span.outer : span.inner) *= x.size(at);
        }
    }
    return span;
}

Shape with_size(Shape shape, int dim, std::int64_t size) {
    if (shape.rank() == 0) {
        if (size != 1) shape.push_back(size);
    } else {
        shape[dim] = size;
    }
    return shape;
}

/// The part of x in the corner that `extent` spans, dimension `dim` whole; a view.
Tensor corner(const Tensor& x, int dim, const Shape& extent) {
    Shape shape = extent;
    if (x.rank() > 0) shape[dim] = x.size(dim);
    return view_of(x, shape, x.strides(), x.impl()->offset);
}

}  // namespace

Tensor checked_index(const Op& info, const Tensor& index, std::int64_t bound) {
    if (index.dtype() != DType::i64 && index.dtype() != DType::i32) {
        throw Error(
            ErrorCode::dtype,
            std::string(info.name) + ": the index must be i64 or i32, not " + name(index.dtype()));
    }
    const GradMode off(false);
    const Tensor whole = row_major(to(index, DType::i64));
    check_index_values(info, whole, 0, bound);
    return whole;
}

Tensor select_rows(const Tensor& x0, int dim, const Tensor& index, bool holes) {
    const Tensor x = dense(x0);
    IndexSpan span = span_of(x, dim, index.numel());
    span.holes = holes;
    const Tensor y =
        Tensor::empty(with_size(x.shape(), dim, span.m), x.dtype(), x.device(), layout_of(x));
    on(x.device(), kernels::cpu::index_select, kernels::cuda::index_select)(
        y.array(), x.array(), index.array(), span, current_stream());
    return y;
}

Tensor select_elements(const Tensor& x0, int dim, const Tensor& index) {
    const Tensor x = row_major(x0);
    const Tensor y = Tensor::empty(index.shape(), x.dtype(), x.device());
    const std::int64_t m = index.rank() == 0 ? 1 : index.size(dim);
    on(x.device(), kernels::cpu::gather, kernels::cuda::gather)(
        y.array(), x.array(), index.array(), span_of(x, dim, m), current_stream());
    return y;
}

Tensor fold_rows(const Tensor& base0, int dim, const Tensor& index, const Tensor& source0,
                 const FoldOptions& options) {
    const Tensor base = dense(base0);
    const Tensor source = in_layout(source0, layout_of(base));
    const Tensor y = options.in_place ? base : empty_like(base);
    IndexSpan span = span_of(base, dim, index.numel());
    span.holes = options.holes;
    on(base.device(), kernels::cpu::index_reduce, kernels::cuda::index_reduce)(
        y.array(), base.array(), source.array(), index.array(), span, options.fold,
        options.with_base, current_stream());
    return y;
}

Tensor fold_elements(const Tensor& base, int dim, const Tensor& index, const Tensor& source,
                     const FoldOptions& options) {
    const Tensor y = options.in_place ? base : row_major_copy(base);
    const Tensor part = corner(y, dim, index.shape());
    const Tensor target = row_major(part), from = row_major(source);
    const std::int64_t m = index.rank() == 0 ? 1 : index.size(dim);
    IndexSpan span = span_of(target, dim, m);
    span.holes = options.holes;
    on(base.device(), kernels::cpu::scatter_reduce, kernels::cuda::scatter_reduce)(
        target.array(), target.array(), from.array(), index.array(), span, options.fold,
        options.with_base, current_stream());
    if (!part.is_contiguous()) copy_into(part, target);
    return y;
}

}  // namespace engine
