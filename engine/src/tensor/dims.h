#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Up to eight sizes or strides, without an allocation. Rank 0 is a scalar. A ninth is
/// Error(shape).
class Dims {
public:
    static constexpr int max_rank = 8;

    Dims() = default;
    Dims(std::initializer_list<std::int64_t> values)
        : Dims(std::span<const std::int64_t>(values.begin(), values.size())) {}
    explicit Dims(std::span<const std::int64_t> values) {
        if (values.size() > max_rank) refuse_rank(values.size());
        rank_ = static_cast<int>(values.size());
        std::copy(values.begin(), values.end(), values_.begin());
    }
    explicit Dims(const std::vector<std::int64_t>& values)
        : Dims(std::span<const std::int64_t>(values)) {}

    int rank() const { return rank_; }
    std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
    std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
    std::int64_t back() const { return (*this)[rank_ - 1]; }
    const std::int64_t* begin() const { return values_.data(); }
    const std::int64_t* end() const { return values_.data() + rank_; }
    void push_back(std::int64_t value) {
        if (rank_ == max_rank) refuse_rank(max_rank + 1);
        values_[static_cast<std::size_t>(rank_++)] = value;
    }
    const std::array<std::int64_t, max_rank>& values() const { return values_; }

    /// Product of all sizes; 1 for a scalar. Only for a shape that check_shape() has accepted.
    std::int64_t numel() const {
        std::int64_t n = 1;
        for (const auto v : *this) n *= v;
        return n;
    }

    bool operator==(const Dims& other) const {
        return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
    }

private:
    [[noreturn]] static void refuse_rank(std::size_t rank);

    std::array<std::int64_t, max_rank> values_{};
    int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;

/// The largest number of elements of a tensor, far more than any machine holds. Sums of thousands
/// of sizes, and the bytes of a tensor, cannot overflow.
constexpr std::int64_t max_elements = std::int64_t{1} << 48;

/// Throws Error(shape) naming the sizes if one is negative or the product of the non-zero ones
/// exceeds max_elements. Tensor::empty and view_of, which make every tensor, call it. Call it
/// before computing with sizes that no tensor has yet.
void check_shape(const Shape& shape);
/// a + b and a * b of sizes; throw Error(shape) naming both if the result exceeds 64 bits.
std::int64_t checked_sum(std::int64_t a, std::int64_t b);
std::int64_t checked_product(std::int64_t a, std::int64_t b);

/// "(2, 3)"
std::string to_string(const Dims& dims);
/// Row-major strides of a dense tensor.
Strides contiguous_strides(const Shape& shape);
/// Strides of a dense NHWC tensor with logical shape (N, C, H, W). Rank 4 only.
Strides channels_last_strides(const Shape& shape);
/// True if `strides` walks `shape` densely as `expected` does; dimensions of size 1 do not matter.
bool same_walk(const Shape& shape, const Strides& strides, const Strides& expected);
/// Shape that both broadcast to. Throws Error(shape) naming `op`.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);
/// `dim` from the end if negative. Throws Error(value) naming `op` if it is out of range.
int wrap_dim(std::string_view op, std::int64_t dim, int rank);

}  // namespace engine
