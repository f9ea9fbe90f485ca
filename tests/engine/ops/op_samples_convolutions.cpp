#include "op_samples.h"
#include "ops/conv/columns.h"
#include "ops/conv/convolution.h"

namespace engine {
namespace {

using In = const TensorList&;

Tensor bias_of(In x) { return x.size() > 2 ? x[2] : Tensor(); }

using Form = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvolutionOptions&);
Function form(Form op, ConvolutionOptions options) {
    return [op, options](In x) { return op(x[0], x[1], bias_of(x), options); };
}
using Transposed = Tensor (*)(const Tensor&, const Tensor&, const Tensor&,
                              const ConvTransposeOptions&);
Function transposed(Transposed op, ConvTransposeOptions options) {
    return [op, options](In x) { return op(x[0], x[1], bias_of(x), options); };
}

}  // namespace

void add_convolutions_samples(std::vector<OpSample>& out) {
    const auto sample = [&](const char* op, const char* label, Function f,
                            std::vector<Shape> shapes, double length) {
        out.push_back({op, label, std::move(f), std::move(shapes), -2, 2, {}, length});
    };
    sample("conv1d", "strided", form(conv1d, {.stride = {2}, .padding = {1}, .dilation = {2}}),
           {{2, 2, 7}, {3, 2, 3}, {3}}, 7);
    sample("conv1d", "same", form(conv1d, {.groups = 2, .same = true}), {{2, 2, 4}, {4, 1, 2}}, 2);
    sample("conv3d", "strided",
           form(conv3d, {.stride = {2, 1, 2}, .padding = {1, 0, 1}, .dilation = {1, 2, 1}}),
           {{1, 2, 3, 3, 3}, {2, 2, 2, 2, 2}, {2}}, 17);
    sample("conv3d", "groups", form(conv3d, {.dilation = {2, 1, 1}, .groups = 2, .same = true}),
           {{2, 4, 3, 2, 2}, {4, 2, 2, 1, 2}}, 8);
    sample("conv_transpose1d", "strided",
           transposed(conv_transpose1d, {.stride = {3}, .padding = {1}, .output_padding = {2}}),
           {{2, 2, 3}, {2, 3, 3}, {3}}, 3);
    sample("conv_transpose1d", "dilated",
           transposed(conv_transpose1d, {.output_padding = {1}, .dilation = {2}}),
           {{2, 2, 3}, {2, 2, 2}}, 4);
    sample("conv_transpose2d", "groups",
           transposed(conv_transpose2d,
                      {.stride = {2, 1}, .padding = {1, 0}, .output_padding = {1, 0}, .groups = 2}),
           {{1, 4, 2, 3}, {4, 1, 3, 2}, {2}}, 6);
    sample("conv_transpose3d", "strided",
           transposed(conv_transpose3d,
                      {.stride = {2, 1, 2}, .padding = {1, 0, 0}, .output_padding = {1, 0, 1}}),
           {{1, 2, 2, 2, 2}, {2, 2, 3, 2, 2}, {2}}, 12);
    sample("conv_transpose3d", "unbatched",
           transposed(conv_transpose3d, {.dilation = {2, 1, 1}, .groups = 2}),
           {{2, 2, 2, 2}, {2, 1, 2, 2, 1}}, 4);
    sample(
        "conv_tbc", "padded", [](In x) { return conv_tbc(x[0], x[1], x[2], 1); },
        {{4, 2, 3}, {2, 3, 2}, {2}}, 7);
    sample(
        "im2col", "padded",
        [](In x) {
            return im2col(
                x[0], {.kernel = {2, 3}, .dilation = {2, 1}, .padding = {1, 1}, .stride = {1, 2}});
        },
        {{2, 2, 3, 4}}, 1);
    sample(
        "col2im", "overlapping",
        [](In x) {
            return col2im(x[0], {3, 4}, {.kernel = {2, 3}, .padding = {0, 1}, .stride = {1, 2}});
        },
        {{2, 12, 4}}, 4);
    sample(
        "convolution", "images",
        [](In x) {
            return convolution(x[0], x[1], x[2], false, {.stride = {2}, .padding = {1, 0}});
        },
        {{2, 2, 3, 3}, {2, 2, 2, 2}, {2}}, 9);
    sample(
        "convolution", "transposed",
        [](In x) { return convolution(x[0], x[1], {}, true, {.stride = {2}}); },
        {{2, 2, 3}, {2, 2, 2}}, 4);
    sample(
        "cudnn_convolution", "strided",
        [](In x) {
            return cudnn_convolution(x[0], x[1],
                                     {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}});
        },
        {{2, 2, 3, 4}, {3, 2, 2, 2}}, 8);
    sample(
        "cudnn_convolution", "groups",
        [](In x) { return cudnn_convolution(x[0], x[1], {.padding = {1}, .groups = 2}); },
        {{1, 4, 4}, {2, 2, 3}}, 6);
    sample(
        "cudnn_convolution_transpose", "strided",
        [](In x) {
            return cudnn_convolution_transpose(
                x[0], x[1], {.stride = {2}, .padding = {1, 0}, .output_padding = {1, 0}});
        },
        {{1, 2, 2, 3}, {2, 3, 3, 2}}, 6);
    sample(
        "cudnn_convolution_transpose", "volume",
        [](In x) {
            return cudnn_convolution_transpose(x[0], x[1], {.dilation = {2, 1, 1}, .groups = 2});
        },
        {{1, 2, 2, 2, 2}, {2, 1, 2, 1, 2}}, 4);
}

}  // namespace engine
