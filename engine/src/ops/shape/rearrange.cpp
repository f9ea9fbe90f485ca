#include "ops/shape/rearrange.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

Tensor flipped(const Tensor& x, unsigned dims) {
    const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
    if (x.numel() > 0) {
        Strides strides = x.strides();
        std::int64_t offset = x.impl()->offset;
        for (int i = 0; i < x.rank(); ++i) {
            if ((dims >> i & 1u) == 0) continue;
            offset += (x.size(i) - 1) * strides[i];
            strides[i] = -strides[i];
        }
        copy_into(y, view_of(x, x.shape(), strides, offset));
    }
    return record(flip_op, {x}, y, {},
                  [dims](const Tensor& dy, const Saved&) { return flipped(dy, dims); });
}

/// Sizes before, of and after a dimension.
struct Around {
    std::int64_t before = 1, size, after = 1;

    Around(const Tensor& x, int dim) : size(x.size(dim)) {
        for (int i = 0; i < dim; ++i) before *= x.size(i);
        for (int i = dim + 1; i < x.rank(); ++i) after *= x.size(i);
    }
};

void check_count(const Op& info, std::int64_t repeats) {
    if (repeats < 0)
        throw Error(ErrorCode::value, std::string(info.name) +
                                          ": repeats must not be negative, not " +
                                          std::to_string(repeats));
}

/// Dimension `dim` n times: as a whole, or element by element. x in the type that its gradient is
/// added in.
Tensor repeated(const Tensor& x, int dim, std::int64_t n, bool interleaved) {
    const Around a(x, dim);
    Shape shape = x.shape();
    shape[dim] = checked_product(a.size, n);
    const Tensor spread =
        interleaved
            ? expand(reshape(x, {a.before, a.size, 1, a.after}), {a.before, a.size, n, a.after})
            : expand(reshape(x, {a.before, 1, a.size, a.after}), {a.before, n, a.size, a.after});
    return reshape(spread, shape);
}

}  // namespace

Tensor flip(const Tensor& x0, const std::vector<std::int64_t>& dims) {
    return flip_op.call(x0, dims, [&](const Tensor& x) {
        unsigned turned = 0;
        for (const auto dim : dims) {
            const unsigned bit = 1u << wrap_dim("flip", dim, x.rank());
            if ((turned & bit) != 0)
                throw Error(ErrorCode::value, "flip: a dimension is named twice");
            turned |= bit;
        }
        return flipped(x, turned);
    });
}

Tensor roll(const Tensor& x0, const std::vector<std::int64_t>& shifts,
            const std::vector<std::int64_t>& dims) {
    return roll_op.call(x0, shifts, dims, [&](const Tensor& x) {
        if (dims.empty() && shifts.size() == 1)
            return reshape(roll(reshape(x, {x.numel()}), shifts, {0}), x.shape());
        if (dims.size() != shifts.size() || dims.empty()) {
            throw Error(ErrorCode::value, "roll: " + std::to_string(shifts.size()) +
                                              " shifts for " + std::to_string(dims.size()) +
                                              " dimensions");
        }
        Tensor y = x;
        for (std::size_t k = 0; k < dims.size(); ++k) {
            const int dim = wrap_dim("roll", dims[k], x.rank());
            const std::int64_t size = x.rank() == 0 ? 1 : x.size(dim);
            if (size == 0) continue;
            const std::int64_t by = (shifts[k] % size + size) % size;
            if (by == 0) continue;
            y = cat({narrow(y, dim, size - by, by), narrow(y, dim, 0, size - by)}, dim);
        }
        return y;
    });
}

Tensor repeat(const Tensor& x0, const std::vector<std::int64_t>& repeats) {
    return repeat_op.call(x0, repeats, [&](const Tensor& x) {
        const int rank = static_cast<int>(repeats.size());
        if (rank < x.rank() || rank > Dims::max_rank) {
            throw Error(ErrorCode::shape, "repeat: " + std::to_string(rank) +
                                              " repeats for a tensor of " + to_string(x.shape()));
        }
        Shape shape;
        for (int i = 0; i < rank; ++i)
            shape.push_back(i < rank - x.rank() ? 1 : x.size(i - (rank - x.rank())));
        // The rearranges_values' gradients are added up: in the wide type, so that they are rounded
        // once.
        const bool sums = x.requires_grad();
        Tensor y = reshape(sums ? widened(x) : x, shape);
        for (int i = 0; i < rank; ++i) {
            const std::int64_t n = repeats[static_cast<std::size_t>(i)];
            check_count(repeat_op, n);
            if (n != 1) y = repeated(y, i, n, false);
        }
        return to(y, x.dtype());
    });
}

Tensor repeat_interleave(const Tensor& x0, std::int64_t repeats, std::optional<std::int64_t> dim) {
    return repeat_interleave_op.call(x0, repeats, dim, [&](const Tensor& x) {
        check_count(repeat_interleave_op, repeats);
        const Tensor from = dim ? x : reshape(x, {x.numel()});
        if (from.rank() == 0) return repeat_interleave(reshape(x, {1}), repeats, *dim);
        const int at = wrap_dim("repeat_interleave", dim.value_or(0), from.rank());
        return to(repeated(x.requires_grad() ? widened(from) : from, at, repeats, true), x.dtype());
    });
}

namespace {

[[noreturn]] void refuse(const Op& info, const Tensor& x, std::int64_t factor) {
    throw Error(ErrorCode::shape, std::string(info.name) + ": " + to_string(x.shape()) +
                                      " does not fit a factor of " + std::to_string(factor));
}

/// x as (batch, C, H, W).
Tensor flat_batch(const Tensor& x) {
    std::int64_t batch = 1;
    for (int i = 0; i < x.rank() - 3; ++i) batch *= x.size(i);
    return reshape(x, {batch, x.size(x.rank() - 3), x.size(x.rank() - 2), x.size(x.rank() - 1)});
}

Tensor in_batch_of(const Tensor& x, const Tensor& y, std::int64_t c, std::int64_t h,
                   std::int64_t w) {
    Shape shape = x.shape();
    shape[x.rank() - 3] = c;
    shape[x.rank() - 2] = h;
    shape[x.rank() - 1] = w;
    return reshape(y, shape);
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x0, std::int64_t r) {
    return pixel_shuffle_op.call(x0, r, [&](const Tensor& x) {
        const std::int64_t square = r < 1 ? 1 : checked_product(r, r);
        if (r < 1 || x.rank() < 3 || x.size(x.rank() - 3) % square != 0)
            refuse(pixel_shuffle_op, x, r);
        const Tensor flat = flat_batch(x);
        const std::int64_t n = flat.size(0), c = flat.size(1) / square, h = flat.size(2),
                           w = flat.size(3);
        const Tensor y = permute(reshape(flat, {n, c, r, r, h, w}), {0, 1, 4, 2, 5, 3});
        return in_batch_of(x, y, c, checked_product(h, r), checked_product(w, r));
    });
}

Tensor pixel_unshuffle(const Tensor& x0, std::int64_t r) {
    return pixel_unshuffle_op.call(x0, r, [&](const Tensor& x) {
        if (r < 1 || x.rank() < 3 || x.size(x.rank() - 2) % r != 0 || x.size(x.rank() - 1) % r != 0)
            refuse(pixel_unshuffle_op, x, r);
        const Tensor flat = flat_batch(x);
        const std::int64_t n = flat.size(0), c = flat.size(1), h = flat.size(2) / r,
                           w = flat.size(3) / r;
        const Tensor y = permute(reshape(flat, {n, c, h, r, w, r}), {0, 1, 3, 5, 2, 4});
        return in_batch_of(x, y, checked_product(c, checked_product(r, r)), h, w);
    });
}

Tensor channel_shuffle(const Tensor& x0, std::int64_t groups) {
    return channel_shuffle_op.call(x0, groups, [&](const Tensor& x) {
        if (groups < 1 || x.rank() < 3 || x.size(1) % groups != 0)
            refuse(channel_shuffle_op, x, groups);
        const std::int64_t n = x.size(0), c = x.size(1);
        const std::int64_t rest = c == 0 || n == 0 ? 0 : x.numel() / n / c;
        const Tensor y = permute(reshape(x, {n, groups, c / groups, rest}), {0, 2, 1, 3});
        return reshape(y, x.shape());
    });
}

}  // namespace engine
