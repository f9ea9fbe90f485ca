#include "tensor/dims.h"

#include <cassert>

#include "engine/base/error.h"

namespace engine {

void Dims::refuse_rank(std::size_t rank) {
    throw Error(ErrorCode::shape, "a tensor has at most " + std::to_string(max_rank) +
                                      " dimensions, not " + std::to_string(rank));
}

void check_shape(const Shape& shape) {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) {
        if (size < 0)
            throw Error(ErrorCode::shape, "the shape " + to_string(shape) + " has a negative size");
        std::int64_t product = 0;
        if (__builtin_mul_overflow(elements, size, &product) || product > max_elements)
            throw Error(ErrorCode::shape,
                        "the shape " + to_string(shape) +
                            " is too large: its sizes multiply to more than 2^48");
        if (size > 0) elements = product;
    }
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        throw Error(ErrorCode::shape, "the sizes " + std::to_string(a) + " and " +
                                          std::to_string(b) + " add up to more than 64 bits hold");
    return sum;
}

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw Error(ErrorCode::shape, "the sizes " + std::to_string(a) + " and " +
                                          std::to_string(b) +
                                          " multiply to more than 64 bits hold");
    return product;
}

std::string to_string(const Dims& dims) {
    std::string out = "(";
    for (int i = 0; i < dims.rank(); ++i) {
        if (i > 0) out += ", ";
        out += std::to_string(dims[i]);
    }
    return out + ")";
}

Strides contiguous_strides(const Shape& shape) {
    Strides strides = shape;
    std::int64_t step = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
        strides[i] = step;
        step *= std::max<std::int64_t>(shape[i], 1);
    }
    return strides;
}

Strides channels_last_strides(const Shape& shape) {
    assert(shape.rank() == 4);
    const std::int64_t c = shape[1], h = shape[2], w = shape[3];
    return {c * h * w, 1, w * c, c};
}

bool same_walk(const Shape& shape, const Strides& strides, const Strides& expected) {
    for (int i = 0; i < shape.rank(); ++i) {
        if (shape[i] == 0) return true;
        if (shape[i] != 1 && strides[i] != expected[i]) return false;
    }
    return true;
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
    const int rank = std::max(a.rank(), b.rank());
    Shape out;
    for (int i = 0; i < rank; ++i) {
        const int ia = i - (rank - a.rank());
        const int ib = i - (rank - b.rank());
        const std::int64_t sa = ia < 0 ? 1 : a[ia];
        const std::int64_t sb = ib < 0 ? 1 : b[ib];
        if (sa != sb && sa != 1 && sb != 1) {
            throw Error(ErrorCode::shape, std::string(op) + ": shapes " + to_string(a) + " and " +
                                              to_string(b) + " do not broadcast");
        }
        out.push_back(sa == 1 ? sb : sa);
    }
    return out;
}

int wrap_dim(std::string_view op, std::int64_t dim, int rank) {
    const int n = std::max(rank, 1);
    if (dim < -n || dim >= n) {
        throw Error(ErrorCode::value, std::string(op) + ": dim " + std::to_string(dim) +
                                          " is out of range for rank " + std::to_string(rank));
    }
    return static_cast<int>(dim < 0 ? dim + n : dim);
}

}  // namespace engine
