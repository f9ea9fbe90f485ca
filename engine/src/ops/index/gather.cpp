#include "ops/index/gather.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/index_walk.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

constexpr Op index_select_backward_op("index_select_backward(dy, index; dim)");
constexpr Op gather_backward_op("gather_backward(dy, index; dim)");

/// index_select and its gradient without checks: they are each other's.
Tensor selected(const Tensor& x, int dim, const Tensor& index, bool holes);

Tensor select_backward(const Tensor& dy, const Shape& shape, int dim, const Tensor& index,
                       bool holes) {
    const Tensor zeros = Tensor::zeros(shape, dy.dtype(), dy.device());
    const Tensor dx = fold_rows(zeros, dim, index, dy, {.holes = holes, .in_place = true});
    return record(index_select_backward_op, {dy}, dx, {save(index)},
                  [dim, holes](const Tensor& ddx, const Saved& saved) {
                      return selected(ddx, dim, saved[0], holes);
                  });
}

Tensor selected(const Tensor& x, int dim, const Tensor& index, bool holes) {
    const Tensor inputs[] = {x, index};
    return record_many(
        index_select_op, inputs, select_rows(x, dim, index, holes), {save(index)},
        [shape = x.shape(), dim, holes](std::span<const Tensor> dy, const Saved& saved) {
            return TensorList{select_backward(dy[0], shape, dim, saved[0], holes), {}};
        });
}

/// gather and its gradient without checks; x is no larger than index but in `dim`.
Tensor gather_part(const Tensor& x, int dim, const Tensor& index);

Tensor gather_backward(const Tensor& dy, const Shape& shape, int dim, const Tensor& index) {
    const Tensor zeros = Tensor::zeros(shape, dy.dtype(), dy.device());
    const Tensor dx = fold_elements(zeros, dim, index, dy, {.in_place = true});
    return record(
        gather_backward_op, {dy}, dx, {save(index)},
        [dim](const Tensor& ddx, const Saved& saved) { return gather_part(ddx, dim, saved[0]); });
}

Tensor gather_part(const Tensor& x, int dim, const Tensor& index) {
    const Tensor inputs[] = {x, index};
    return record_many(gather_op, inputs, select_elements(x, dim, index), {save(index)},
                       [shape = x.shape(), dim](std::span<const Tensor> dy, const Saved& saved) {
                           return TensorList{gather_backward(dy[0], shape, dim, saved[0]), {}};
                       });
}

std::int64_t size_along(const Tensor& x, int dim) { return x.rank() == 0 ? 1 : x.size(dim); }

void check_one_index_a_row(const Op& info, const Tensor& index) {
    if (index.rank() > 1) {
        throw Error(ErrorCode::shape, std::string(info.name) +
                                          ": the index must be a vector, not " +
                                          to_string(index.shape()));
    }
}

/// Integers as the kernel adds them, wrapping around.
Tensor foldable(const Op& info, const Tensor& x) {
    if (x.dtype() == DType::boolean) check_floating(info, x);
    return x.dtype() == DType::u8 ? to(x, DType::i32) : x;
}

}  // namespace

Tensor cut_to(const Tensor& x, const Shape& extent, int but) {
    Tensor y = x;
    for (int i = 0; i < x.rank(); ++i)
        if (i != but && y.size(i) != extent[i]) y = narrow(y, i, 0, extent[i]);
    return y;
}

void check_extent(const Op& info, const Tensor& index, const Tensor& x, int but) {
    bool fits = index.rank() == x.rank();
    for (int i = 0; fits && i < x.rank(); ++i) fits = i == but || index.size(i) <= x.size(i);
    check_shapes(info, fits, index, x);
}

Tensor index_select(const Tensor& x0, std::int64_t asked_dim, const Tensor& index0) {
    return index_select_op.call(x0, asked_dim, index0, [&](const Tensor& x, const Tensor& index) {
        const int dim = wrap_dim("index_select", asked_dim, x.rank());
        check_one_index_a_row(index_select_op, index);
        const Tensor y =
            selected(x, dim, checked_index(index_select_op, index, size_along(x, dim)), false);
        return x.rank() == 0 && y.rank() != 0 ? reshape(y, x.shape()) : y;
    });
}

Tensor rows_or_zeros(const Tensor& x, std::int64_t asked_dim, const Tensor& index) {
    return selected(x, wrap_dim("index_select", asked_dim, x.rank()), index, true);
}

Tensor selected_once(const Tensor& x, std::int64_t asked_dim, const Tensor& index,
                     const Tensor& inverse) {
    const int dim = wrap_dim("index_select", asked_dim, x.rank());
    const Tensor inputs[] = {x, index};
    return record_many(index_select_op, inputs, select_rows(x, dim, index, true),
                       {save(index), save(inverse)},
                       [dim](std::span<const Tensor> dy, const Saved& saved) {
                           return TensorList{selected_once(dy[0], dim, saved[1], saved[0]), {}};
                       });
}

Tensor rows_added(const Tensor& dy, const Shape& shape, std::int64_t dim, const Tensor& index) {
    return select_backward(dy, shape, wrap_dim("index_select", dim, shape.rank()), index, true);
}

Tensor gather(const Tensor& x0, std::int64_t asked_dim, const Tensor& asked_index) {
    return gather_op.call(x0, asked_dim, asked_index, [&](const Tensor& x, const Tensor& index0) {
        const int dim = wrap_dim("gather", asked_dim, x.rank());
        check_extent(gather_op, index0, x, dim);
        const Tensor index = checked_index(gather_op, index0, size_along(x, dim));
        return gather_part(cut_to(x, index.shape(), dim), dim, index);
    });
}

Tensor index_add(const Tensor& x0, std::int64_t asked_dim, const Tensor& asked_index,
                 const Tensor& source0, double alpha) {
    return index_add_op.call(
        x0, asked_dim, asked_index, source0, alpha,
        [&](const Tensor& x, const Tensor& index0, const Tensor& source) {
            const int dim = wrap_dim("index_add", asked_dim, x.rank());
            same_type(index_add_op, {x, source});
            check_one_index_a_row(index_add_op, index0);
            bool fits = source.rank() == x.rank() && size_along(source, dim) == index0.numel();
            for (int i = 0; fits && i < x.rank(); ++i)
                fits = i == dim || source.size(i) == x.size(i);
            check_shapes(index_add_op, fits, x, source);
            const Tensor index = checked_index(index_add_op, index0, size_along(x, dim));
            if (!is_floating(x.dtype())) {
                const Tensor terms =
                    alpha == 1 ? source
                               : mul(source, whole_number_like(index_add_op, source, alpha));
                const Tensor y =
                    fold_rows(foldable(index_add_op, x), dim, index, foldable(index_add_op, terms));
                return record_flat(index_add_op, {&x, 1}, to(y, x.dtype()));
            }
            if (alpha != 1) {
                const Tensor scaled = mul(widened(source), alpha);
                return to(index_add(widened(x), dim, index, scaled), x.dtype());
            }
            const Tensor inputs[] = {x, source};
            return record_many(
                index_add_op, inputs, fold_rows(x, dim, index, source), {save(index)},
                [dim](std::span<const Tensor> dy, const Saved& saved) {
                    return TensorList{dy[0], saved.needs_gradient(1)
                                                 ? selected(dy[0], dim, saved[0], false)
                                                 : Tensor()};
                });
        });
}

Tensor scatter_add(const Tensor& x0, std::int64_t asked_dim, const Tensor& asked_index,
                   const Tensor& source0) {
    return scatter_add_op.call(
        x0, asked_dim, asked_index, source0,
        [&](const Tensor& x, const Tensor& index0, const Tensor& whole_source) {
            const int dim = wrap_dim("scatter_add", asked_dim, x.rank());
            same_type(scatter_add_op, {x, whole_source});
            check_extent(scatter_add_op, index0, x, dim);
            check_extent(scatter_add_op, index0, whole_source);
            const Tensor index = checked_index(scatter_add_op, index0, size_along(x, dim));
            const Tensor source = cut_to(whole_source, index.shape());
            if (!is_floating(x.dtype())) {
                const Tensor y = fold_elements(foldable(scatter_add_op, x), dim, index,
                                               foldable(scatter_add_op, source));
                return record_flat(scatter_add_op, {&x, 1}, to(y, x.dtype()));
            }
            const Tensor inputs[] = {x, source};
            return record_many(
                scatter_add_op, inputs, fold_elements(x, dim, index, source), {save(index)},
                [dim](std::span<const Tensor> dy, const Saved& saved) {
                    TensorList grads{dy[0], Tensor()};
                    if (saved.needs_gradient(1))
                        grads[1] = gather_part(cut_to(dy[0], saved[0].shape(), dim), dim, saved[0]);
                    return grads;
                });
        });
}

}  // namespace engine
