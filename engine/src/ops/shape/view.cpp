#include "ops/shape/view.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// A walk through memory: `count` elements, `step` apart.
struct Run {
    std::int64_t count, step;
};

/// The dimensions of x as runs: neighbours are joined where one stride covers both. Dimensions of
/// size 1 are dropped.
std::vector<Run> runs_of(const Tensor& x) {
    std::vector<Run> runs;
    for (int i = 0; i < x.rank(); ++i) {
        const std::int64_t size = x.size(i), step = x.strides()[i];
        if (size == 1) continue;
        if (!runs.empty() && runs.back().step == step * size)
            runs.back() = {runs.back().count * size, step};
        else
            runs.push_back({size, step});
    }
    return runs;
}

/// Strides of x seen with another shape, if its memory walk allows that without a copy.
std::optional<Strides> reshaped_strides(const Tensor& x, const Shape& shape) {
    if (x.is_contiguous() || x.numel() == 0) return contiguous_strides(shape);
    std::vector<Run> runs = runs_of(x);
    Run now{1, 1};
    Strides strides = shape;
    for (int i = shape.rank() - 1; i >= 0; --i) {
        if (shape[i] != 1 && now.count == 1) {
            now = runs.back();
            runs.pop_back();
        }
        if (now.count % shape[i] != 0) return std::nullopt;
        strides[i] = now.step;
        now = {now.count / shape[i], now.step * shape[i]};
    }
    return strides;
}

Shape resolved(const Tensor& x, const Shape& asked) {
    Shape shape = asked;
    int open = -1;
    for (int i = 0; i < shape.rank() && open < 0; ++i) {
        if (shape[i] == -1) open = i;
    }
    if (open >= 0) shape[open] = 1;
    check_shape(shape);
    const std::int64_t known = shape.numel();
    if (open >= 0 && known > 0) shape[open] = x.numel() / known;
    const bool ambiguous = open >= 0 && known == 0;  // any size would do
    if (ambiguous || shape.numel() != x.numel()) {
        throw Error(ErrorCode::shape,
                    "reshape: " + to_string(x.shape()) + " does not fill " + to_string(asked));
    }
    return shape;
}

}  // namespace

Tensor reshape(const Tensor& x0, const Shape& asked) {
    return reshape_op.call(x0, asked, [&](const Tensor& x) {
        const Shape shape = resolved(x, asked);
        if (shape == x.shape()) return x;
        const auto strides = reshaped_strides(x, shape);
        const Tensor y = strides ? view_of(x, shape, *strides, x.impl()->offset)
                                 : view_of(in_layout(x, Layout::contiguous), shape,
                                           contiguous_strides(shape), 0);
        return record(reshape_op, {x}, y, {}, [from = x.shape()](const Tensor& dy, const Saved&) {
            return reshape(dy, from);
        });
    });
}

Tensor flatten(const Tensor& x0, std::int64_t start, std::int64_t end) {
    return flatten_op.call(x0, start, end, [&](const Tensor& x) {
        const int first = wrap_dim("flatten", start, x.rank()),
                  last = wrap_dim("flatten", end, x.rank());
        Shape shape;
        for (int i = 0; i < first; ++i) shape.push_back(x.size(i));
        std::int64_t joined = 1;
        for (int i = first; i <= last && i < x.rank(); ++i) joined *= x.size(i);
        shape.push_back(joined);
        for (int i = last + 1; i < x.rank(); ++i) shape.push_back(x.size(i));
        return reshape(x, shape);
    });
}

Tensor permute(const Tensor& x0, const Dims& dims) {
    return permute_op.call(x0, dims, [&](const Tensor& x) {
        if (dims.rank() != x.rank())
            throw Error(ErrorCode::shape, "permute: " + to_string(dims) + " does not fit rank " +
                                              std::to_string(x.rank()));
        Shape shape = dims;
        Strides strides = dims;
        Dims inverse = dims;
        unsigned seen = 0;
        for (int i = 0; i < dims.rank(); ++i) {
            const int from = wrap_dim("permute", dims[i], x.rank());
            shape[i] = x.size(from);
            strides[i] = x.strides()[from];
            inverse[from] = i;
            seen |= 1u << from;
        }
        if (seen != (1u << dims.rank()) - 1)
            throw Error(ErrorCode::value,
                        "permute: " + to_string(dims) + " names a dimension twice");
        return record(permute_op, {x}, view_of(x, shape, strides, x.impl()->offset), {},
                      [inverse](const Tensor& dy, const Saved&) { return permute(dy, inverse); });
    });
}

Tensor transpose(const Tensor& x0, std::int64_t a, std::int64_t b) {
    return transpose_op.call(x0, a, b, [&](const Tensor& x) {
        Dims dims = x.shape();
        for (int i = 0; i < x.rank(); ++i) dims[i] = i;
        std::swap(dims[wrap_dim("transpose", a, x.rank())],
                  dims[wrap_dim("transpose", b, x.rank())]);
        return permute(x, dims);
    });
}

Tensor expand(const Tensor& x0, const Shape& asked) {
    return expand_op.call(x0, asked, [&](const Tensor& x) {
        Shape shape = asked;
        const int lead = shape.rank() - x.rank();
        for (int i = 0; i < shape.rank(); ++i) {
            if (shape[i] == -1 && i >= lead) shape[i] = x.size(i - lead);
        }
        if (lead < 0 || !(broadcast_shapes("expand", x.shape(), shape) == shape)) {
            throw Error(ErrorCode::shape, "expand: " + to_string(x.shape()) +
                                              " does not broadcast to " + to_string(asked));
        }
        if (shape == x.shape()) return x;
        return record(
            expand_op, {x}, expanded_view(x, shape), {},
            [from = x.shape()](const Tensor& dy, const Saved&) { return sum_to(dy, from); });
    });
}

namespace {

constexpr Op narrow_backward_op("narrow_backward(dy; dim, start)");

/// Zeros of `shape` with dy in its part of dimension dim: the gradient of narrow.
Tensor widen(const Tensor& dy, const Shape& shape, int dim, std::int64_t start) {
    const Tensor y = Tensor::zeros(shape, dy.dtype(), dy.device());
    const Tensor part = view_of(y, dy.shape(), y.strides(), start * y.strides()[dim]);
    copy_into(part, dy);
    return record(narrow_backward_op, {dy}, y, {},
                  [dim, start, length = dy.size(dim)](const Tensor& ddy, const Saved&) {
                      return narrow(ddy, dim, start, length);
                  });
}

}  // namespace

Tensor narrow(const Tensor& x0, std::int64_t asked_dim, std::int64_t asked_start,
              std::int64_t length) {
    return narrow_op.call(x0, asked_dim, asked_start, length, [&](const Tensor& x) {
        const int dim = wrap_dim("narrow", asked_dim, x.rank());
        const std::int64_t start =
            asked_start < 0 && x.rank() > 0 ? asked_start + x.size(dim) : asked_start;
        if (start < 0 || length < 0 || x.rank() == 0 || start > x.size(dim) ||
            length > x.size(dim) - start) {
            throw Error(ErrorCode::value, "narrow: " + std::to_string(length) + " elements from " +
                                              std::to_string(start) + " on leave dimension " +
                                              std::to_string(dim) + " of " + to_string(x.shape()));
        }
        Shape shape = x.shape();
        shape[dim] = length;
        const Tensor y =
            view_of(x, shape, x.strides(), x.impl()->offset + start * x.strides()[dim]);
        return record(narrow_op, {x}, y, {},
                      [from = x.shape(), dim, start](const Tensor& dy, const Saved&) {
                          return widen(dy, from, dim, start);
                      });
    });
}

Tensor contiguous(const Tensor& x0) {
    return contiguous_op.call(x0, [&](const Tensor& x) {
        if (x.is_contiguous()) return x;
        return record(contiguous_op, {x}, in_layout(x, Layout::contiguous), {},
                      [](const Tensor& dy, const Saved&) { return dy; });
    });
}

Tensor cat(const TensorList& tensors0, std::int64_t asked_dim) {
    return cat_op.call(tensors0, asked_dim, [&](const TensorList& tensors) {
        if (tensors.empty()) throw Error(ErrorCode::value, "cat: the list of tensors is empty");
        const Tensor& first = tensors.front();
        const int dim = wrap_dim("cat", asked_dim, first.rank());
        DType dtype = first.dtype();
        Shape shape = first.shape();
        shape[dim] = 0;
        for (const auto& x : tensors) {
            dtype = promote(dtype, x.dtype());
            for (int i = 0; i < std::max(x.rank(), shape.rank()); ++i) {
                if (x.rank() != shape.rank() || (i != dim && x.size(i) != shape[i])) {
                    throw Error(ErrorCode::shape, "cat: " + to_string(x.shape()) +
                                                      " does not fit " + to_string(first.shape()) +
                                                      " along dimension " + std::to_string(dim));
                }
            }
            shape[dim] += x.size(dim);
        }
        const Tensor y = Tensor::empty(shape, dtype, first.device(), layout_of(first));
        std::int64_t at = 0;
        for (const auto& x : tensors) {
            copy_into(view_of(y, x.shape(), y.strides(), at * y.strides()[dim]),
                      to(x.detach(), dtype));
            at += x.size(dim);
        }
        std::vector<std::int64_t> lengths;
        for (const auto& x : tensors) lengths.push_back(x.size(dim));
        return record_many(cat_op, tensors, y, {},
                           [dim, lengths](std::span<const Tensor> dy, const Saved& saved) {
                               TensorList grads(lengths.size());
                               std::int64_t start = 0;
                               for (std::size_t i = 0; i < lengths.size(); ++i) {
                                   if (saved.needs_gradient(static_cast<int>(i)))
                                       grads[i] = narrow(dy[0], dim, start, lengths[i]);
                                   start += lengths[i];
                               }
                               return grads;
                           });
    });
}

}  // namespace engine
