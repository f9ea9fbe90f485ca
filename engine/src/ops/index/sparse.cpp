#include "ops/index/sparse.h"

#include <algorithm>
#include <span>
#include <vector>

#include "engine/base/error.h"
#include "kernels/sort.h"
#include "kernels/sparse_rows.h"
#include "ops/index/index_walk.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {
namespace {

constexpr Op sparse_op("sparse_tensor(indices, values)");

Tensor row_major_values(const Tensor& x) { return in_layout(x.detach(), Layout::contiguous); }

Tensor made(const SparseParts& parts, const Shape& shape) {
    check_shape(shape);
    auto impl = std::make_shared<TensorImpl>();
    impl->shape = shape;
    impl->strides = contiguous_strides(shape);
    impl->dtype = parts.values.dtype();
    impl->device = parts.values.device();
    impl->storage = parts.values.impl()->storage;  // for the version
    impl->sparse = std::make_shared<SparseParts>(parts);
    return Tensor(std::move(impl));
}

Shape joined(std::int64_t first, const Shape& rest) {
    Shape shape{first};
    for (const auto size : rest) shape.push_back(size);
    return shape;
}

/// The dimensions that the places are in, and those of what stands at each.
struct Split {
    Shape places, rest;

    explicit Split(const Tensor& x) {
        const auto d = static_cast<int>(sparse_parts(x).indices.size(0));
        for (int i = 0; i < x.rank(); ++i) (i < d ? places : rest).push_back(x.size(i));
    }
};

/// Each place as one row-major number; negative for unused entries.
Tensor flat_places(const Tensor& indices, const Shape& places) {
    const std::int64_t n = indices.size(1);
    const Strides strides = contiguous_strides(places);
    Tensor flat;
    for (int k = 0; k < places.rank(); ++k) {
        const Tensor row = reshape(narrow(indices, 0, k, 1), {n});
        const auto scaled = [&] {
            return mul(row, Tensor::full({}, static_cast<double>(strides[k]), DType::i64,
                                         indices.device()));
        };
        const Tensor part = strides[k] == 1 ? row : scaled();
        flat = flat.defined() ? add(flat, part) : part;
    }
    return row_major_values(flat);
}

/// The row-major numbers of the entries, with -1 for unused ones.
Tensor places_or_holes(const Tensor& indices, const Shape& places) {
    const Tensor flat = flat_places(indices, places);
    if (places.rank() == 1) return flat;
    const auto number = [&](double value) {
        return Tensor::full({}, value, DType::i64, flat.device());
    };
    return where(less(flat, number(0)), number(-1), flat);
}

}  // namespace

Tensor sparse_tensor(const Tensor& indices, const Tensor& values, const Shape& shape) {
    if (indices.rank() != 2 || values.rank() < 1 || indices.size(1) != values.size(0) ||
        indices.size(0) < 1 || indices.size(0) + values.rank() - 1 != shape.rank()) {
        throw Error(ErrorCode::shape, "sparse_tensor: indices " + to_string(indices.shape()) +
                                          " and values " + to_string(values.shape()) +
                                          " do not make a tensor of " + to_string(shape));
    }
    const auto d = static_cast<int>(indices.size(0));
    for (int i = d; i < shape.rank(); ++i) {
        if (values.size(i - d + 1) != shape[i])
            throw Error(ErrorCode::shape, "sparse_tensor: values " + to_string(values.shape()) +
                                              " do not fit a tensor of " + to_string(shape));
    }
    const GradMode off(false);
    for (int k = 0; k < d; ++k) checked_index(sparse_op, narrow(indices, 0, k, 1), shape[k]);
    return made({row_major_values(to(indices, DType::i64)), row_major_values(values)}, shape);
}

Tensor sparse_rows(const Tensor& index, const Tensor& values, const Shape& shape) {
    const GradMode off(false);
    return made({reshape(index.detach(), {1, index.numel()}), values.detach()}, shape);
}

Tensor coalesce(const Tensor& x) {
    const SparseParts& parts = sparse_parts(x);
    if (parts.coalesced) return x;
    const GradMode off(false);
    const Split split(x);
    const Device& device = x.device();
    const std::int64_t n = parts.indices.size(1);
    const Tensor keys = flat_places(parts.indices, split.places);
    const Tensor order = Tensor::empty({n}, DType::i64, device);
    on(device, kernels::cpu::sort_order, kernels::cuda::sort_order)(
        order.array(), keys.array(), 1, n, 1, /*descending=*/false, current_stream());
    const Tensor places = Tensor::empty(parts.indices.shape(), DType::i64, device);
    const Tensor sums = empty_like(parts.values);
    const kernels::SparseEntries entries{
        parts.indices.data_as<const std::int64_t>(), keys.data_as<const std::int64_t>(),
        order.data_as<const std::int64_t>(), parts.indices.size(0), n};
    on(device, kernels::cpu::coalesce_rows, kernels::cuda::coalesce_rows)(
        places.array(), sums.array(), entries, parts.values.array(), current_stream());
    return made({places, sums, true}, x.shape());
}

namespace {

std::int64_t row_length(const SparseParts& parts) {
    return parts.values.numel() / parts.values.size(0);
}

/// Whether coalesce_tables takes it.
bool is_sparse_table(const Tensor& x) {
    const SparseParts& parts = sparse_parts(x);
    return x.device().kind == Device::Kind::cuda && !parts.coalesced && parts.values.numel() > 0 &&
           parts.indices.size(0) == 1 && parts.indices.size(1) <= kernels::max_sparse_table &&
           x.size(0) <= kernels::max_sparse_table;
}

/// Whether coalesce_tables takes both at once.
bool go_together(const Tensor& a, const Tensor& b) {
    return a.dtype() == b.dtype() && a.device() == b.device() &&
           row_length(sparse_parts(a)) == row_length(sparse_parts(b));
}

/// Coalesces those of the list that are named, all of which go together.
void coalesce_together(TensorList& list, std::span<const std::size_t> named) {
    std::vector<kernels::SparseTable> tables;
    TensorList coalesced;
    for (const std::size_t i : named) {
        const SparseParts& parts = sparse_parts(list[i]);
        const Tensor places =
            Tensor::empty(parts.indices.shape(), DType::i64, parts.indices.device());
        const Tensor sums = empty_like(parts.values);
        tables.push_back({parts.indices.data_as<const std::int64_t>(), parts.values.data(),
                          places.data_as<std::int64_t>(), sums.data(), parts.indices.size(1),
                          list[i].size(0)});
        coalesced.push_back(made({places, sums, true}, list[i].shape()));
    }
    const Tensor& first = list[named.front()];
    const DeviceScope scope(first.device());
    kernels::cuda::coalesce_tables(tables, first.dtype(), row_length(sparse_parts(first)),
                                   current_stream());
    for (std::size_t k = 0; k < named.size(); ++k) list[named[k]] = coalesced[k];
}

}  // namespace

TensorList coalesce(const TensorList& list) {
    const GradMode off(false);
    TensorList out = list;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (is_sparse_table(out[i]))
            left.push_back(i);
        else
            out[i] = coalesce(out[i]);
    }
    while (!left.empty()) {
        const Tensor first = out[left.front()];
        const auto others = std::stable_partition(left.begin(), left.end(), [&](std::size_t i) {
            return go_together(first, out[i]);
        });
        const std::vector<std::size_t> named(left.begin(), others);
        coalesce_together(out, named);
        left.erase(left.begin(), others);
    }
    return out;
}

Tensor place_numbers(const Tensor& x) {
    const GradMode off(false);
    return places_or_holes(sparse_parts(x).indices, Split(x).places);
}

Tensor to_dense(const Tensor& x) {
    if (!x.is_sparse()) return x;
    const SparseParts& parts = sparse_parts(x);
    const GradMode off(false);
    const Split split(x);
    const Tensor zeros =
        Tensor::zeros(joined(split.places.numel(), split.rest), x.dtype(), x.device());
    const Tensor index = places_or_holes(parts.indices, split.places);
    return reshape(fold_rows(zeros, 0, index, parts.values, {.holes = true, .in_place = true}),
                   x.shape());
}

Tensor add_sparse(const Tensor& a, const Tensor& b) {
    const GradMode off(false);
    if (!a.is_sparse() || !b.is_sparse() ||
        sparse_parts(a).indices.size(0) != sparse_parts(b).indices.size(0))
        return add(to_dense(a), to_dense(b));
    const SparseParts &left = sparse_parts(a), &right = sparse_parts(b);
    return made({cat({left.indices, right.indices}, 1), cat({left.values, right.values}, 0)},
                a.shape());
}

Tensor with_values(const Tensor& x, const Tensor& values) {
    const SparseParts& parts = sparse_parts(x);
    return made({parts.indices, row_major_values(values), parts.coalesced}, x.shape());
}

}  // namespace engine
