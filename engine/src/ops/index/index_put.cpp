#include "ops/index/index_put.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/index/index_walk.h"
#include "ops/index/scatter.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/inplace.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"

namespace engine {
namespace {

Tensor whole(std::int64_t value, const Tensor& like) {
    return Tensor::full({}, static_cast<double>(value), DType::i64, like.device());
}

/// Indices counted from the start. An out-of-range index is an error (tensor/check_values.h); on a
/// GPU it becomes `outside`.
Tensor wrapped(const Op& info, const Tensor& asked, std::int64_t size, std::int64_t outside) {
    if (asked.dtype() != DType::i64 && asked.dtype() != DType::i32) {
        throw Error(
            ErrorCode::dtype,
            std::string(info.name) + ": an index must be i64 or i32, not " + name(asked.dtype()));
    }
    const Tensor given = in_layout(to(asked, DType::i64), Layout::contiguous);
    check_index_values(info, given, -size, size);
    const Tensor counted =
        where(less(given, whole(0, given)), add(given, whole(size, given)), given);
    const Tensor low = less(counted, whole(0, given));
    const Tensor high = greater_equal(counted, whole(size, given));
    return where(low, whole(outside, given), where(high, whole(outside, given), counted));
}

/// How x[indices] is read from x as rows: the indexed dimensions in front and joined.
struct Rows {
    Dims to_front;  // permutation of x
    Shape places;   // of the indexed dimensions
    Shape rest;     // of the others
    Shape chosen;   // that the indices broadcast to
    int at = 0;     // where `chosen` stands in the result
    Tensor index;   // (chosen.numel()) i64: rows

    Rows(const Op& info, const Tensor& x, const TensorList& indices);

    Shape moved() const { return joined(places, rest); }
    std::int64_t row_size() const { return rest.numel(); }
    /// x as (places, rest), two dimensions.
    Tensor rows_of(const Tensor& x) const {
        return reshape(permute(x, to_front), {places.numel(), row_size()});
    }
    Tensor from_rows(const Tensor& rows) const {
        Dims back = to_front;
        for (int i = 0; i < to_front.rank(); ++i) back[static_cast<int>(to_front[i])] = i;
        return permute(reshape(rows, moved()), back);
    }
    /// Shape of x[indices].
    Shape result() const {
        Shape shape;
        for (int i = 0; i < at; ++i) shape.push_back(rest[i]);
        shape = joined(shape, chosen);
        for (int i = at; i < rest.rank(); ++i) shape.push_back(rest[i]);
        return shape;
    }
    /// Dimensions of (chosen, rest) in the order of the result.
    Dims order() const {
        Dims dims;
        for (int i = 0; i < at; ++i) dims.push_back(chosen.rank() + i);
        for (int i = 0; i < chosen.rank(); ++i) dims.push_back(i);
        for (int i = at; i < rest.rank(); ++i) dims.push_back(chosen.rank() + i);
        return dims;
    }

    static Shape joined(const Shape& a, const Shape& b) {
        Shape shape = a;
        for (const auto size : b) shape.push_back(size);
        return shape;
    }
};

Rows::Rows(const Op& info, const Tensor& x, const TensorList& indices) {
    if (static_cast<int>(indices.size()) > x.rank()) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": " +
                                          std::to_string(indices.size()) +
                                          " indices for a tensor of shape " + to_string(x.shape()));
    }
    std::vector<int> indexed;
    Dims others;
    for (int i = 0; i < x.rank(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (k < indices.size() && indices[k].defined()) {
            indexed.push_back(i);
            to_front.push_back(i);
            places.push_back(x.size(i));
            chosen = broadcast_shapes(info.name, chosen, indices[k].shape());
        } else {
            others.push_back(i);
            rest.push_back(x.size(i));
        }
    }
    if (indexed.empty())
        throw Error(ErrorCode::value, std::string(info.name) + ": no index was given");
    const bool neighbours =
        indexed.back() - indexed.front() + 1 == static_cast<int>(indexed.size());
    at = neighbours ? indexed.front() : 0;
    for (const auto dim : others) to_front.push_back(dim);
    const GradMode off(false);
    const Strides strides = contiguous_strides(places);
    Tensor flat;
    for (std::size_t k = 0; k < indexed.size(); ++k) {
        const auto i = static_cast<int>(k);
        const Tensor one =
            wrapped(info, indices[static_cast<std::size_t>(indexed[k])], places[i], places.numel());
        const Tensor part = mul(one, whole(strides[i], one));
        flat = flat.defined() ? add(flat, part) : part;
    }
    flat = in_layout(expanded_view(flat, chosen), Layout::contiguous);
    index = reshape(flat, {chosen.numel()});
}

/// values, which broadcast to x[indices], as rows.
Tensor rows_of_values(const Op& info, const Tensor& values, const Rows& rows) {
    const Shape shape = rows.result();
    check_shapes(info, values.rank() <= shape.rank(), values, values);
    const Tensor spread = expand(values, shape);
    const Dims order = rows.order();
    Dims back = order;
    for (int i = 0; i < order.rank(); ++i) back[static_cast<int>(order[i])] = i;
    return reshape(permute(spread, back), {rows.index.numel(), rows.row_size()});
}

Tensor put(const Op& info, const Tensor& x, const TensorList& indices, const Tensor& values,
           bool accumulate) {
    same_type(info, {x, values});
    if (accumulate) check_floating(info, x);
    const Rows rows(info, x, indices);
    const Tensor from = rows_of_values(info, values, rows), into = rows.rows_of(x);
    return rows.from_rows(accumulate ? index_add(into, 0, rows.index, from)
                                     : index_copy(into, 0, rows.index, from));
}

}  // namespace

Tensor index(const Tensor& x0, const TensorList& indices0) {
    return index_op.call(x0, indices0, [&](const Tensor& x, const TensorList& indices) {
        const Rows rows(index_op, x, indices);
        const Tensor chosen = index_select(rows.rows_of(x), 0, rows.index);
        return permute(reshape(chosen, Rows::joined(rows.chosen, rows.rest)), rows.order());
    });
}

Tensor index_put(const Tensor& x0, const TensorList& indices0, const Tensor& values0,
                 bool accumulate) {
    return index_put_op.call(x0, indices0, values0, accumulate,
                             [&](const Tensor& x, const TensorList& indices, const Tensor& values) {
                                 const NoAutocast inside(x.device().kind);
                                 return put(index_put_op, x, indices, values, accumulate);
                             });
}

Tensor index_put_(const Tensor& x0, const TensorList& indices0, const Tensor& values0,
                  bool accumulate) {
    return index_put_inplace_op.call(
        x0, indices0, values0, accumulate,
        [&](const Tensor& x, const TensorList& indices, const Tensor& values) {
            return copy_(x, put(index_put_inplace_op, x, indices, values, accumulate));
        });
}

Tensor take_along_dim(const Tensor& x0, const Tensor& index0, std::int64_t asked_dim) {
    return take_along_dim_op.call(x0, index0, asked_dim, [&](const Tensor& x, const Tensor& index) {
        const int dim = wrap_dim("take_along_dim", asked_dim, x.rank());
        check_shapes(take_along_dim_op, index.rank() == x.rank(), x, index);
        Shape left = x.shape(), right = index.shape();
        left[dim] = right[dim] = 1;
        Shape of_x = broadcast_shapes("take_along_dim", left, right), of_index = of_x;
        of_x[dim] = x.size(dim);
        of_index[dim] = index.size(dim);
        const Tensor places = expand(index, of_index);
        if (of_x == x.shape()) return gather(x, dim, places);
        // The gradients of what is broadcast are added up: in the wide type, rounded once.
        return to(gather(expand(widened(x), of_x), dim, places), x.dtype());
    });
}

}  // namespace engine
