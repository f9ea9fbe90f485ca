#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/conv2d_problem.h"
#include "kernels/device_array.h"
#include "needs_cuda.h"

// Images whose pixels are followed by zeros, as a GPU's convolutions read them.
namespace kernels::test::conv {
namespace {

const Conv2dShape padded_shapes[] = {
    {.n = 2, .c = 3, .h = 9, .w = 8, .k = 16, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1},
    {.n = 1, .c = 3, .h = 15, .w = 13, .k = 8, .r = 7, .s = 7, .stride_h = 2, .stride_w = 2},
    {.n = 3, .c = 5, .h = 6, .w = 7, .k = 5, .r = 2, .s = 3, .dilation_h = 2},
    {.n = 2, .c = 7, .h = 4, .w = 5, .k = 9, .r = 1, .s = 1}};

Buffer with_zeros(const Buffer& x, std::int64_t channels, std::int64_t pitch) {
    Buffer out(x.dtype(), x.size() / channels * pitch);
    for (std::int64_t i = 0; i < out.size(); ++i) {
        const std::int64_t c = i % pitch;
        out.set(i, c < channels ? x.get(i / pitch * channels + c) : 0);
    }
    return out;
}

struct PaddedResults {
    std::vector<double> y, biased, dw, dbias;
    bool operator==(const PaddedResults&) const = default;
};

/// The passes that read images, with pixels `pitch` values apart; nothing: dense.
PaddedResults results(const Problem& p, const Buffer& weights, Conv2dShape shape,
                      std::optional<std::int64_t> pitch) {
    shape.x_pitch = pitch.value_or(0);
    const DeviceBuffer pixels(pitch ? with_zeros(p.x, shape.c, *pitch) : p.x);
    const DeviceBuffer w(weights), bias(p.bias), dy(p.dy);
    const DeviceBuffer y(p.dtype, p.dy.size()), biased(p.dtype, p.dy.size());
    const DeviceBuffer dw(p.dtype, p.w.size()), dbias(p.dtype, shape.k);
    const ConstArray x{pixels.as<void>(), p.dtype, p.x.size()};
    cuda::conv2d_forward(y, x, w, {nullptr, p.dtype, 0}, shape, {});
    cuda::conv2d_forward(biased, x, w, bias, shape, {});
    cuda::conv2d_weight_gradient(dw, dbias, dy, x, shape, {});
    return {y.host().values(), biased.host().values(), dw.host().values(), dbias.host().values()};
}

TEST(CudaPaddedConv2d, HasTheBitsOfDenseImages) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const Conv2dShape& shape : padded_shapes) {
            SCOPED_TRACE(to_string(dtype, shape));
            const std::int64_t pitch = padded_channels(dtype, shape.c);
            ASSERT_EQ(pitch, 8);
            const Problem problem(dtype, shape);
            EXPECT_EQ(results(problem, problem.w, shape, pitch),
                      results(problem, problem.w, shape, std::nullopt));
            Conv2dShape last = shape;
            last.channels_last_weights = true;
            const Buffer weights = in_channels_last(problem.w, shape);
            EXPECT_EQ(results(problem, weights, last, pitch),
                      results(problem, weights, last, std::nullopt));
        }
}

TEST(CudaPaddedConv2d, KeepsInfinitiesAndNaNsToTheirOwnChannels) {
    HALFTONE_NEEDS_CUDA();
    Problem problem(DType::f16, padded_shapes[0]);
    problem.x.set(4, INFINITY);
    problem.w.set(30, NAN);
    problem.dy.set(17, -INFINITY);
    const PaddedResults dense = results(problem, problem.w, padded_shapes[0], std::nullopt);
    const PaddedResults padded = results(problem, problem.w, padded_shapes[0], 8);
    const auto nans = [](const std::vector<double>& values) {
        std::vector<std::size_t> at;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (std::isnan(values[i])) at.push_back(i);
        return at;
    };
    EXPECT_EQ(nans(padded.y), nans(dense.y));
    EXPECT_EQ(nans(padded.dw), nans(dense.dw));
    EXPECT_FALSE(nans(padded.y).empty());
    EXPECT_FALSE(nans(padded.dw).empty());
}

}  // namespace
}  // namespace kernels::test::conv
