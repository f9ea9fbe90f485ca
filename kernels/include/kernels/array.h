#pragma once

#include <array>
#include <cstdint>

#include "kernels/dtype.h"

namespace kernels {

/// A queue of device work; the CPU runs at once and ignores it. Without a handle it is the compute
/// stream of the calling thread's device.
struct Stream {
    void* handle = nullptr;
    bool tf32 = false;  ///< f32 products may take their operands as TF32 (10 bits of fraction)
};

/// Dense run of `size` elements.
struct Array {
    void* data;
    DType dtype;
    std::int64_t size;
};
struct ConstArray {
    const void* data;
    DType dtype;
    std::int64_t size;
    ConstArray(const void* data_, DType dtype_, std::int64_t size_)
        : data(data_), dtype(dtype_), size(size_) {}
    ConstArray(Array a)
        : data(a.data), dtype(a.dtype), size(a.size) {}  // NOLINT(google-explicit-constructor)
};

/// Row-major (rows, cols); `ld` elements from one row to the next. With `transposed` the memory
/// holds (cols, rows) with ld elements from one of its rows to the next.
struct Matrix {
    void* data;
    DType dtype;
    std::int64_t rows, cols, ld;
};
struct ConstMatrix {
    const void* data;
    DType dtype;
    std::int64_t rows, cols, ld;
    bool transposed = false;
};

constexpr int max_rank = 8;

/// Strided block: strides in elements, may be 0 (broadcast) on the reading side.
struct Strided {
    void* data;
    DType dtype;
    int rank;
    std::array<std::int64_t, max_rank> shape, strides;
};
struct ConstStrided {
    const void* data;
    DType dtype;
    int rank;
    std::array<std::int64_t, max_rank> shape, strides;
};

}  // namespace kernels
