#include "index/sparse.h"

#include <algorithm>
#include <vector>

#include "core/cast.h"
#include "core/layout.h"
#include "core/tape.h"
#include "core/transfer.h"
#include "engine/error.h"
#include "index/index_walk.h"
#include "pointwise/binary.h"
#include "shape/view.h"

namespace engine {
namespace {

const OpInfo sparse_info{"sparse_tensor", CastPolicy::none, "sparse_tensor(indices, values)", 0,
                         "Holds what a gradient has other than zeros."};

Tensor row_major(const Tensor& x) { return in_layout(x.detach(), Layout::contiguous); }

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

/// The places as one row-major number each.
Tensor flat_places(const Tensor& indices, const Shape& places) {
    const std::int64_t n = indices.size(1);
    const Strides strides = contiguous_strides(places);
    Tensor flat;
    for (int k = 0; k < places.rank(); ++k) {
        const Tensor row = reshape(narrow(indices, 0, k, 1), {n});
        const Tensor step =
            Tensor::full({}, static_cast<double>(strides[k]), DType::i64, indices.device());
        const Tensor part = mul(row, step);
        flat = flat.defined() ? add(flat, part) : part;
    }
    return row_major(flat);
}

std::vector<std::int64_t> on_host(const Tensor& x) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(x.numel()));
    const Tensor host = x.copy_to(Device{});
    std::copy_n(host.data_as<const std::int64_t>(), out.size(), out.begin());
    return out;
}

Tensor on_device(const std::vector<std::int64_t>& values, const Shape& shape,
                 const Device& device) {
    const Tensor host = Tensor::empty(shape, DType::i64, Device{});
    std::copy(values.begin(), values.end(), host.data_as<std::int64_t>());
    return host.copy_to(device);
}

/// Indices (d, n) of places given as numbers.
Tensor indices_of(const std::vector<std::int64_t>& flat, const Shape& places,
                  const Device& device) {
    const Strides strides = contiguous_strides(places);
    std::vector<std::int64_t> out;
    for (int k = 0; k < places.rank(); ++k)
        for (const std::int64_t place : flat) out.push_back(place / strides[k] % places[k]);
    return on_device(out, {places.rank(), static_cast<std::int64_t>(flat.size())}, device);
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
    for (int k = 0; k < d; ++k) checked_index(sparse_info, narrow(indices, 0, k, 1), shape[k]);
    return made({row_major(to(indices, DType::i64)), row_major(values)}, shape);
}

Tensor coalesce(const Tensor& x) {
    const SparseParts& parts = sparse_parts(x);
    if (parts.coalesced) return x;
    const GradMode off(false);
    const Split split(x);
    const std::vector<std::int64_t> flat = on_host(flat_places(parts.indices, split.places));
    std::vector<std::int64_t> once = flat, rank;
    std::sort(once.begin(), once.end());
    once.erase(std::unique(once.begin(), once.end()), once.end());
    for (const std::int64_t place : flat)
        rank.push_back(std::lower_bound(once.begin(), once.end(), place) - once.begin());
    const auto count = static_cast<std::int64_t>(once.size());
    const Tensor zeros = Tensor::zeros(joined(count, split.rest), x.dtype(), x.device());
    const Tensor index = on_device(rank, {parts.indices.size(1)}, x.device());
    return made({indices_of(once, split.places, x.device()),
                 fold_rows(zeros, 0, index, parts.values), true},
                x.shape());
}

Tensor to_dense(const Tensor& x) {
    if (!x.is_sparse()) return x;
    const SparseParts& parts = sparse_parts(x);
    const GradMode off(false);
    const Split split(x);
    const Tensor zeros =
        Tensor::zeros(joined(split.places.numel(), split.rest), x.dtype(), x.device());
    const Tensor index = flat_places(parts.indices, split.places);
    return reshape(fold_rows(zeros, 0, index, parts.values), x.shape());
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
    return made({parts.indices, row_major(values), parts.coalesced}, x.shape());
}

}  // namespace engine
