#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/conv2d.h"

/// A convolution's operands in the form that cuDNN takes.
namespace kernels::cuda {

inline std::size_t bytes_of(std::int64_t elements, DType dtype) {
    return static_cast<std::size_t>(elements) * size_of(dtype);
}
inline std::size_t bytes_of(const Array& array) { return bytes_of(array.size, array.dtype); }

inline std::int64_t weight_size(const Conv2dShape& s) { return s.k * (s.c / s.groups) * s.r * s.s; }

/// The shape that the library is given: of images with zeros behind their channels, if it takes
/// them only so (padded_channels).
Conv2dShape padded_shape(const Conv2dShape& shape, DType dtype);

/// Writes the pixels of x with zeros behind their channels, `channels` values each.
void pad_pixels(void* to, std::int64_t channels, ConstArray x, const Conv2dShape& shape,
                Stream stream);

/// Copies weights between the caller's order and cuDNN's. Its Tensor Core engines for NHWC images
/// require (K, R, S, C), and C may be that of padded_shape(). Small beside the convolution, which
/// reads the weights N times.
class WeightCopy {
public:
    WeightCopy(const Conv2dShape& shape, std::int64_t library_channels, DType dtype, Stream stream)
        : s_(shape), library_channels_(library_channels), dtype_(dtype), stream_(stream) {}

    /// Whether the two are not the same memory.
    bool differs() const;
    void to_library(void* to, const void* from) const;
    void from_library(void* to, const void* from) const;

private:
    bool is_padded() const { return library_channels_ != s_.c / s_.groups; }

    const Conv2dShape& s_;
    std::int64_t library_channels_;
    DType dtype_;
    Stream stream_;
};

}  // namespace kernels::cuda
