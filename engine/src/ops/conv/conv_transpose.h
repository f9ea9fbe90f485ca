#pragma once

#include <vector>

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* gradient_forward =
    "The gradient of a convolution, used forward: fast in 16 bits, summed in fp32.";

struct ConvTransposeOptions {
    std::vector<std::int64_t> stride{1}, padding{0}, output_padding{0}, dilation{1};
    std::int64_t groups = 1;

    void read(auto& from) {
        from("stride", stride)("padding", padding)("output_padding", output_padding);
        from("dilation", dilation)("groups", groups);
    }
};

/// The gradient of a convolution as an op: weight (C, K / groups, size..), bias (K) or undefined ->
/// (N, K, out..), out = (in - 1) stride - 2 padding + dilation (size - 1) + 1 + output_padding;
/// output_padding, at the far end, is below stride or dilation. With a bias 16-bit operands are
/// widened first, since the sum and the bias are to be rounded once.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});
inline constexpr Op conv_transpose1d_op(CastPolicy::low,
                                        "conv_transpose1d(x, weight, bias?; stride=1, padding=0, "
                                        "output_padding=0, groups=1, dilation=1)",
                                        gradient_forward, by_name<conv_transpose1d>);
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});
inline constexpr Op conv_transpose2d_op(CastPolicy::low,
                                        "conv_transpose2d(x, weight, bias?; stride=1, padding=0, "
                                        "output_padding=0, groups=1, dilation=1)",
                                        gradient_forward, by_name<conv_transpose2d>);
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});
inline constexpr Op conv_transpose3d_op(CastPolicy::low,
                                        "conv_transpose3d(x, weight, bias?; stride=1, padding=0, "
                                        "output_padding=0, groups=1, dilation=1)",
                                        gradient_forward, by_name<conv_transpose3d>);
/// The transposed convolution of a batch as `info`, after its casts.
Tensor transposed_convolution(const Op& info, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, const ConvTransposeOptions& options);

}  // namespace engine
