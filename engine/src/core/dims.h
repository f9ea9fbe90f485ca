#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// Up to eight sizes or strides, without an allocation. Rank 0 is a scalar.
class Dims {
public:
    static constexpr int max_rank = 8;

    Dims() = default;
    Dims(std::initializer_list<std::int64_t> values)
        : Dims(std::span<const std::int64_t>(values.begin(), values.size())) {}
    explicit Dims(std::span<const std::int64_t> values) : rank_(static_cast<int>(values.size())) {
        assert(values.size() <= max_rank);
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
        assert(rank_ < max_rank);
        values_[static_cast<std::size_t>(rank_++)] = value;
    }
    const std::array<std::int64_t, max_rank>& values() const { return values_; }

    /// Product of all sizes; 1 for a scalar.
    std::int64_t numel() const {
        std::int64_t n = 1;
        for (const auto v : *this) n *= v;
        return n;
    }

    bool operator==(const Dims& other) const {
        return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
    }

private:
    std::array<std::int64_t, max_rank> values_{};
    int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;

/// "(2, 3)"
std::string to_string(const Dims& dims);
/// Row-major strides of a dense tensor.
Strides contiguous_strides(const Shape& shape);
/// Strides of a dense NHWC tensor with logical shape (N, C, H, W). Rank 4 only.
Strides channels_last_strides(const Shape& shape);
/// True if `strides` walks `shape` densely as `expected` does; dimensions of size 1 do not matter.
bool same_walk(const Shape& shape, const Strides& strides, const Strides& expected);
/// Shape that both broadcast to. Throws Error(shape) naming `op`.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);
/// `dim` from the end if negative. Throws Error(value) naming `op` if it is out of range.
int wrap_dim(const char* op, std::int64_t dim, int rank);

}  // namespace engine
