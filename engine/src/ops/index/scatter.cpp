#include "ops/index/scatter.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/index.h"
#include "ops/index/gather.h"
#include "ops/index/index_walk.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

using kernels::IndexFold;

/// One scatter_reduce: how the elements of a place are reduced, and the place of each element.
struct Scattering {
    IndexFold fold;
    int dim;
    bool include_self;
    Tensor index;
};

Tensor number(const Tensor& like, double value) {
    return Tensor::scalar(value, like.dtype(), like.device());
}
/// A truth as 0 or 1 of x's type.
Tensor as_number(const Tensor& truth, const Tensor& x) { return to(truth, x.dtype()); }

Tensor read(const Tensor& x, const Scattering& how) { return gather(x, how.dim, how.index); }
Tensor added(const Tensor& x, const Tensor& source, const Scattering& how) {
    return scatter_add(x, how.dim, how.index, source);
}

TensorList mean_gradients(const Tensor& dy, const Tensor& x, const Tensor& source,
                          const Scattering& how) {
    const Tensor own = Tensor::full(x.shape(), how.include_self ? 1 : 0, x.dtype(), x.device());
    const Tensor ones = Tensor::full(source.shape(), 1, x.dtype(), x.device());
    const Tensor share = div(dy, maximum(added(own, ones, how), number(x, 1)));
    return {share, read(share, how)};
}

/// dy shared among the elements that are the extreme.
TensorList extremum_gradients(const Tensor& dy, const Tensor& x, const Tensor& source,
                              const Tensor& y, const Scattering& how) {
    const Tensor own = as_number(equal(x, y), x);
    const Tensor others = as_number(equal(source, read(y, how)), x);
    const Tensor share = div(dy, added(own, others, how));
    return {mul(own, share), mul(others, read(share, how))};
}

/// The product of the elements that go to a place, and of x there.
Tensor product(const Tensor& x, const Tensor& source, const Scattering& how) {
    return scatter_reduce(x, how.dim, how.index, source, "prod");
}

/// 1, or NaN where x is not finite: PyTorch divides the product by x, which leaves nothing there.
Tensor one_if_finite(const Tensor& x0) {
    const GradMode off(false);
    const Tensor x = to(x0, DType::f64), d = where(equal(x, number(x, 0)), number(x, 1), x);
    return div(d, d);
}

/// Gradients of a product: the product of all other factors. For x that is the product of the
/// source. For an element of the source it is y / element, unless the element is the only zero at
/// its place: then the product without it. With a second zero the result is 0, which y / 1 gives.
/// The second derivative by one element twice is a difference of two equal numbers; in f64 it is 0
/// after rounding to f32.
TensorList product_gradients(const Tensor& dy0, const Tensor& x0, const Tensor& source0,
                             const Scattering& how) {
    const Tensor dy = to(dy0, DType::f64), source = to(source0, DType::f64);
    const Tensor ones = Tensor::full(x0.shape(), 1, DType::f64, x0.device());
    const Tensor x = how.include_self ? to(x0, DType::f64) : ones;
    const Tensor zero = number(x, 0), one = number(x, 1);
    const Tensor is_zero = equal(source, zero);
    const Tensor none = Tensor::zeros(x.shape(), x.dtype(), x.device());
    const Tensor zeros = read(added(none, as_number(is_zero, x), how), how);
    const Tensor alone = equal(mul(as_number(is_zero, x), zeros), one);
    const Tensor without = read(mul(dy, product(x, where(alone, one, source), how)), how);
    const Tensor y = product(x, source, how);
    const Tensor shared = div(read(mul(dy, y), how), where(is_zero, one, source));
    const Tensor by_x = mul(mul(dy, product(ones, source, how)), one_if_finite(x0));
    return {to(by_x, x0.dtype()), to(where(alone, without, shared), x0.dtype())};
}

TensorList gradients(const Tensor& dy, const Tensor& x, const Tensor& source, const Tensor& y,
                     const Scattering& how) {
    switch (how.fold) {
        case IndexFold::mean:
            return mean_gradients(dy, x, source, how);
        case IndexFold::max:
        case IndexFold::min:
            return extremum_gradients(dy, x, source, y, how);
        case IndexFold::prod:
            return product_gradients(dy, x, source, how);
        case IndexFold::sum:
        case IndexFold::last:
            break;
    }
    return {dy, read(dy, how)};
}

/// Gradients of x and source (of the index's shape) from that of the result y, in ops; all of one
/// f32 or f64 type.
TensorList scatter_reduce_backward(const Tensor& dy, const Tensor& x, const Tensor& source,
                                   const Tensor& y, const Scattering& how) {
    TensorList grads = gradients(dy, x, source, y, how);
    if (!how.include_self) grads[0] = scatter(grads[0], how.dim, how.index, 0.0);
    return grads;
}

std::int64_t target_size(const Tensor& x, int dim) { return x.rank() == 0 ? 1 : x.size(dim); }

IndexFold parse_fold(const std::string& reduce) {
    if (reduce == "sum") return IndexFold::sum;
    if (reduce == "prod") return IndexFold::prod;
    if (reduce == "mean") return IndexFold::mean;
    if (reduce == "amax") return IndexFold::max;
    if (reduce == "amin") return IndexFold::min;
    throw Error(ErrorCode::value,
                "scatter_reduce: reduce is sum, prod, mean, amax or amin, not " + reduce);
}

/// scatter_reduce of tensors that are wide already.
Tensor reduce_wide(const Tensor& x, const Tensor& source, const Scattering& how) {
    const Tensor inputs[] = {x, source};
    const FoldOptions options{how.fold, how.include_self};
    const Tensor y = fold_elements(x, how.dim, how.index, source, options);
    return record_many(scatter_reduce_op, inputs, y, {save(x), save(source), save_output(y)},
                       [how](std::span<const Tensor> dy, const Saved& saved) {
                           return scatter_reduce_backward(dy[0], saved[0], saved[1], saved[2], how);
                       });
}

}  // namespace

TensorList run_scatter(const Op&, const OpArguments& args) {
    const std::int64_t dim = args.integer("dim", 0);
    if (args.has("value")) return {scatter(args.at(0), dim, args.at(1), args.number("value", 0))};
    return {scatter(args.at(0), dim, args.at(1), args.at(2))};
}

Tensor scatter(const Tensor& x0, std::int64_t asked_dim, const Tensor& asked_index,
               const Tensor& whole_source0) {
    return scatter_op.call(
        x0, asked_dim, asked_index, whole_source0,
        [&](const Tensor& x, const Tensor& index0, const Tensor& whole_source) {
            const int dim = wrap_dim("scatter", asked_dim, x.rank());
            same_type(scatter_op, {x, whole_source});
            check_extent(scatter_op, index0, x, dim);
            check_extent(scatter_op, index0, whole_source);
            const Tensor index = checked_index(scatter_op, index0, target_size(x, dim));
            const Tensor source = cut_to(whole_source, index.shape());
            const Tensor inputs[] = {x, source};
            const Tensor y = fold_elements(x, dim, index, source, {.fold = IndexFold::last});
            return record_many(scatter_op, inputs, y, {save(index)},
                               [dim](std::span<const Tensor> dy, const Saved& saved) {
                                   TensorList grads(2);
                                   if (saved.needs_gradient(0))
                                       grads[0] = scatter(dy[0], dim, saved[0], 0.0);
                                   if (saved.needs_gradient(1))
                                       grads[1] = gather(dy[0], dim, saved[0]);
                                   return grads;
                               });
        });
}

Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value) {
    return scatter(x, dim, index, Tensor::full(index.shape(), value, x.dtype(), x.device()));
}

Tensor scatter_reduce(const Tensor& x0, std::int64_t asked_dim, const Tensor& asked_index,
                      const Tensor& source0, const std::string& reduce, bool include_self) {
    return scatter_reduce_op.call(
        x0, asked_dim, asked_index, source0, reduce, include_self,
        [&](const Tensor& x, const Tensor& index0, const Tensor& source) {
            const int dim = wrap_dim("scatter_reduce", asked_dim, x.rank());
            one_type(scatter_reduce_op, {x, source});
            check_extent(scatter_reduce_op, index0, x, dim);
            check_extent(scatter_reduce_op, index0, source);
            const Tensor index = checked_index(scatter_reduce_op, index0, target_size(x, dim));
            const Scattering how{parse_fold(reduce), dim, include_self, index};
            const Tensor y = reduce_wide(widened(x), cut_to(widened(source), index.shape()), how);
            return to(y, x.dtype());
        });
}

Tensor index_copy(const Tensor& x0, std::int64_t asked_dim, const Tensor& asked_index,
                  const Tensor& source0) {
    return index_copy_op.call(
        x0, asked_dim, asked_index, source0,
        [&](const Tensor& x, const Tensor& index0, const Tensor& source) {
            const int dim = wrap_dim("index_copy", asked_dim, x.rank());
            same_type(index_copy_op, {x, source});
            bool fits = index0.rank() <= 1 && source.rank() == x.rank() &&
                        target_size(source, dim) == index0.numel();
            for (int i = 0; fits && i < x.rank(); ++i)
                fits = i == dim || source.size(i) == x.size(i);
            check_shapes(index_copy_op, fits, x, source);
            const Tensor index = checked_index(index_copy_op, index0, target_size(x, dim));
            const Tensor inputs[] = {x, source};
            const Tensor y = fold_rows(x, dim, index, source, {.fold = IndexFold::last});
            return record_many(
                index_copy_op, inputs, y, {save(index)},
                [dim, shape = source.shape()](std::span<const Tensor> dy, const Saved& saved) {
                    TensorList grads(2);
                    const Tensor zeros = Tensor::zeros(shape, dy[0].dtype(), dy[0].device());
                    if (saved.needs_gradient(0)) grads[0] = index_copy(dy[0], dim, saved[0], zeros);
                    if (saved.needs_gradient(1)) grads[1] = index_select(dy[0], dim, saved[0]);
                    return grads;
                });
        });
}

}  // namespace engine
