#include "ops/shape/slice.h"

#include <algorithm>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/layout.h"

namespace engine {
namespace {

constexpr Op slice_backward_op("slice_backward(dy; dim, start, step)", "A copy keeps the type.");

/// Every `step`-th of `count` elements from `start` on.
struct SliceSteps {
    int dim;
    std::int64_t start, step, count;
};

/// That part of x, outside the tape.
Tensor part_of(const Tensor& x, const SliceSteps& s) {
    Shape shape = x.shape();
    Strides strides = x.strides();
    shape[s.dim] = s.count;
    if (s.count > 1) strides[s.dim] *= s.step;  // else the step may be any number
    return view_of(x, shape, strides, x.impl()->offset + s.start * x.strides()[s.dim]);
}

Tensor steps(const Tensor& x, const SliceSteps& s);

/// Zeros of `shape` with dy in that part.
Tensor put_back(const Tensor& dy, const Shape& shape, const SliceSteps& s) {
    const Tensor y = Tensor::zeros(shape, dy.dtype(), dy.device());
    copy_into(part_of(y, s), dy);
    return record(slice_backward_op, {dy}, y, {},
                  [s](const Tensor& ddy, const Saved&) { return steps(ddy, s); });
}

Tensor steps(const Tensor& x, const SliceSteps& s) {
    return record(
        slice_op, {x}, part_of(x, s), {},
        [shape = x.shape(), s](const Tensor& dy, const Saved&) { return put_back(dy, shape, s); });
}

void check_dimensions(const Op& info, const Tensor& x) {
    if (x.rank() == 0)
        throw Error(ErrorCode::shape,
                    std::string(info.name) + ": a 0-d tensor has no dimension to cut");
}

/// Parts cost memory even where they are empty.
void check_parts(const Op& info, std::int64_t count) {
    constexpr std::int64_t most = 1 << 20;
    if (count > most) {
        throw Error(ErrorCode::value, std::string(info.name) + ": " + std::to_string(count) +
                                          " parts are more than " + std::to_string(most));
    }
}

}  // namespace

TensorList run_split(const Op&, const OpArguments& args) {
    const std::int64_t dim = args.integer("dim", 0);
    if (args.has("split_size")) return split(args.at(0), args.integer("split_size", 1), dim);
    return split(args.at(0), args.integers("split_sizes", {}), dim);
}

Tensor slice(const Tensor& x0, std::int64_t asked_dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step) {
    return slice_op.call(x0, asked_dim, start, end, step, [&](const Tensor& x) {
        check_dimensions(slice_op, x);
        const int dim = wrap_dim("slice", asked_dim, x.rank());
        if (step < 1)
            throw Error(ErrorCode::value, "slice: step starts at 1, not " + std::to_string(step));
        const std::int64_t size = x.size(dim);
        const auto bound = [size](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
        };
        const std::int64_t first = bound(start.value_or(0)), last = bound(end.value_or(size));
        const std::int64_t count = last > first ? (last - first - 1) / step + 1 : 0;
        return steps(x, {dim, first, step, count});
    });
}

Tensor select(const Tensor& x0, std::int64_t asked_dim, std::int64_t index) {
    return select_op.call(x0, asked_dim, index, [&](const Tensor& x) {
        check_dimensions(select_op, x);
        const int dim = wrap_dim("select", asked_dim, x.rank());
        if (index < -x.size(dim) || index >= x.size(dim)) {
            throw Error(ErrorCode::value, "select: index " + std::to_string(index) +
                                              " is out of range for a dimension of " +
                                              std::to_string(x.size(dim)));
        }
        const Tensor part = narrow(x, dim, index < 0 ? index + x.size(dim) : index, 1);
        return squeeze(part, std::vector<std::int64_t>{dim});
    });
}

Tensor unsqueeze(const Tensor& x0, std::int64_t asked_dim) {
    return unsqueeze_op.call(x0, asked_dim, [&](const Tensor& x) {
        const int dim = wrap_dim("unsqueeze", asked_dim, x.rank() + 1);
        Shape shape;
        for (int i = 0; i < x.rank() + 1; ++i)
            shape.push_back(i == dim ? 1 : x.size(i < dim ? i : i - 1));
        return reshape(x, shape);
    });
}

Tensor squeeze(const Tensor& x0, std::optional<std::vector<std::int64_t>> dims) {
    return squeeze_op.call(x0, dims, [&](const Tensor& x) {
        unsigned asked = dims ? 0u : ~0u;
        for (const auto dim : dims.value_or(std::vector<std::int64_t>{}))
            asked |= 1u << wrap_dim("squeeze", dim, x.rank());
        Shape shape;
        for (int i = 0; i < x.rank(); ++i)
            if (x.size(i) != 1 || (asked >> i & 1u) == 0) shape.push_back(x.size(i));
        return reshape(x, shape);
    });
}

TensorList unbind(const Tensor& x0, std::int64_t asked_dim) {
    return unbind_op.call(x0, asked_dim, [&](const Tensor& x) {
        check_dimensions(unbind_op, x);
        const int dim = wrap_dim("unbind", asked_dim, x.rank());
        TensorList out;
        check_parts(unbind_op, x.size(dim));
        for (std::int64_t i = 0; i < x.size(dim); ++i) out.push_back(select(x, dim, i));
        return out;
    });
}

TensorList split(const Tensor& x0, const std::vector<std::int64_t>& sizes, std::int64_t asked_dim) {
    return split_op.call(x0, sizes, asked_dim, [&](const Tensor& x) {
        check_dimensions(split_op, x);
        const int dim = wrap_dim("split", asked_dim, x.rank());
        std::int64_t sum = 0;
        for (const auto size : sizes) sum = checked_sum(sum, size);
        if (sum != x.size(dim)) {
            throw Error(ErrorCode::value, "split: the sizes add up to " + std::to_string(sum) +
                                              ", the dimension has " + std::to_string(x.size(dim)));
        }
        TensorList out;
        std::int64_t at = 0;
        for (const auto size : sizes) {
            out.push_back(narrow(x, dim, at, size));
            at += size;
        }
        return out;
    });
}

TensorList split(const Tensor& x0, std::int64_t size, std::int64_t asked_dim) {
    return split_op.call(x0, size, asked_dim, [&](const Tensor& x) {
        check_dimensions(split_op, x);
        const int dim = wrap_dim("split", asked_dim, x.rank());
        if (size < 1)
            throw Error(ErrorCode::value,
                        "split: a part has at least 1, not " + std::to_string(size));
        const std::int64_t whole = x.size(dim), count = whole == 0 ? 1 : (whole - 1) / size + 1;
        check_parts(split_op, count);
        std::vector<std::int64_t> sizes;
        for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::min(size, whole - i * size));
        return split(x, sizes, dim);
    });
}

TensorList chunk(const Tensor& x0, std::int64_t chunks, std::int64_t asked_dim) {
    return chunk_op.call(x0, chunks, asked_dim, [&](const Tensor& x) {
        check_dimensions(chunk_op, x);
        if (chunks < 1)
            throw Error(ErrorCode::value,
                        "chunk: at least 1 part is needed, not " + std::to_string(chunks));
        const std::int64_t size = x.size(wrap_dim("chunk", asked_dim, x.rank()));
        if (size == 0) {
            // Nothing to share out: every part is empty.
            check_parts(chunk_op, chunks);
            return split(x, std::vector<std::int64_t>(static_cast<std::size_t>(chunks), 0),
                         asked_dim);
        }
        return split(x, (size - 1) / chunks + 1, asked_dim);
    });
}

Tensor stack(const TensorList& tensors0, std::int64_t asked_dim) {
    return stack_op.call(tensors0, asked_dim, [&](const TensorList& tensors) {
        if (tensors.empty()) throw Error(ErrorCode::value, "stack: the list of tensors is empty");
        const int dim = wrap_dim("stack", asked_dim, tensors.front().rank() + 1);
        TensorList parts;
        for (const auto& x : tensors) {
            if (!(x.shape() == tensors.front().shape())) {
                throw Error(ErrorCode::shape, "stack: " + to_string(x.shape()) +
                                                  " is not of shape " +
                                                  to_string(tensors.front().shape()));
            }
            parts.push_back(unsqueeze(x, dim));
        }
        return cat(parts, dim);
    });
}

}  // namespace engine
