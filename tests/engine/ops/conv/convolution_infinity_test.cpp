#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "ops/conv/convolution.h"
#include "tensor/tape.h"

// An infinity must reach exactly the results that depend on it. Padding that belongs to no sum,
// because of slices, cuts or odd windows, must not turn it into NaN.
namespace engine {
namespace {

using Values = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
const DType all_types[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

Tensor typed_sequence(const Values& values, DType dtype) {
    return Tensor::of(values, {1, 1, static_cast<std::int64_t>(values.size())}, dtype);
}
Tensor pillar(const Values& values, DType dtype) {
    return Tensor::of(values, {1, 1, static_cast<std::int64_t>(values.size()), 1, 1}, dtype);
}
Tensor leaf(const Tensor& x) {
    Tensor y = x;
    y.set_requires_grad(true);
    return y;
}
void back(const Tensor& y, const Values& dy) {
    const Tensor outs[] = {y}, seeds[] = {Tensor::of(dy, y.shape(), y.dtype())};
    backward(outs, seeds);
}

TEST(ConvolutionInfinity, TheOddZeroOfSamePaddingIsAnElementLikeAnother) {
    for (const DType dtype : all_types) {
        const Tensor x = leaf(typed_sequence({inf, 2, 3}, dtype)),
                     w = leaf(typed_sequence({1, 10}, dtype));
        const Tensor y = conv1d(x, w, {}, {.same = true});
        EXPECT_EQ(y.values(), (Values{inf, 32, 3}));
        back(y, {1, 1, 1});
        EXPECT_EQ(w.grad().values(), (Values{inf, 5}));  // 2 + 3 + the zero
        EXPECT_EQ(x.grad().values(), (Values{1, 11, 11}));
        const Values out = conv1d(typed_sequence({1, 2, 3}, dtype), typed_sequence({1, inf}, dtype),
                                  {}, {.same = true})
                               .values();
        EXPECT_EQ(out[1], inf);
        EXPECT_TRUE(std::isnan(out[2]));  // infinity times the zero, as PyTorch pads it
    }
}

TEST(ConvolutionInfinity, OutputPaddingOfWholeStridesMeetsNoWeight) {
    for (const DType dtype : all_types) {
        const Tensor x = typed_sequence({1, 2}, dtype), w = typed_sequence({1, 10, inf}, dtype);
        EXPECT_EQ(conv_transpose1d(x, w, {}, {.output_padding = {1}, .dilation = {2}}).values(),
                  (Values{1, 2, 10, 20, inf, inf, 0}));
        EXPECT_EQ(conv_transpose1d(x, w, Tensor::full({1}, 1, dtype),
                                   {.padding = {1}, .output_padding = {1}, .dilation = {2}})
                      .values(),
                  (Values{3, 11, 21, inf, inf}));
        EXPECT_EQ(conv_transpose1d(x, typed_sequence({1, 10}, dtype), Tensor::full({1}, 1, dtype),
                                   {.output_padding = {2}, .dilation = {3}})
                      .values(),
                  (Values{2, 3, 1, 11, 21, 1, 1}));
    }
}

TEST(ConvolutionInfinity, ADepthTapThatMeetsPaddingIsNoTermOfTheSum) {
    for (const DType dtype : all_types) {
        const Tensor w = pillar({inf, 1}, dtype), x = pillar({1, 2, 3, 4}, dtype);
        EXPECT_EQ(conv3d(x, w, {}, {.padding = {1, 0, 0}}).values(),
                  (Values{1, inf, inf, inf, inf}));
        // The input's gradient, with holes from the stride and at the ends.
        EXPECT_EQ(conv_transpose3d(x, w).values(), (Values{inf, inf, inf, inf, 4}));
        EXPECT_EQ(conv_transpose3d(x, w, {}, {.stride = {2, 1, 1}}).values(),
                  (Values{inf, 1, inf, 2, inf, 3, inf, 4}));
        EXPECT_EQ(
            conv_transpose3d(x, w, {}, {.stride = {3, 1, 1}, .output_padding = {1, 0, 0}}).values(),
            (Values{inf, 1, 0, inf, 2, 0, inf, 3, 0, inf, 4, 0}));
        EXPECT_EQ(
            conv_transpose3d(x, w, {}, {.padding = {1, 0, 0}, .dilation = {3, 1, 1}}).values(),
            (Values{inf, inf, inf, 2, 3}));
        // The weights' gradient.
        const Tensor v = leaf(pillar({1, 1}, dtype));
        back(conv3d(x, v, {}, {.padding = {1, 0, 0}}), {inf, 1, 1, 1, 1});
        EXPECT_EQ(v.grad().values(), (Values{10, inf}));
        const Tensor reach = leaf(pillar({1, 1, 1}, dtype));
        back(conv3d(pillar({5}, dtype), reach, {}, {.padding = {1, 0, 0}}), {inf});
        EXPECT_EQ(reach.grad().values(), (Values{0, inf, 0}));
    }
}

TEST(ConvolutionInfinity, SlicesThatMeetOnlyPaddingHoldTheBias) {
    for (const DType dtype : all_types) {
        const Tensor b = leaf(Tensor::of({7, 8}, {2}, dtype));
        const Tensor w = Tensor::of({inf, 2}, {2, 1, 1, 1, 1}, dtype);
        const Tensor y = conv3d(pillar({1}, dtype), w, b, {.padding = {1, 0, 0}});
        EXPECT_EQ(y.values(), (Values{7, inf, 7, 8, 10, 8}));
        back(y, {1, 2, 3, 4, 5, 6});
        EXPECT_EQ(b.grad().values(), (Values{6, 15}));
        EXPECT_EQ(conv3d(pillar({1}, dtype), w, {}, {.padding = {1, 0, 0}}).values(),
                  (Values{0, inf, 0, 0, 2, 0}));
    }
}

TEST(ConvolutionInfinity, ASequenceByTimeIsPaddedByNothing) {
    for (const DType dtype : all_types) {
        const Tensor x = Tensor::of({1, 2}, {2, 1, 1}, dtype);
        const Tensor w = leaf(Tensor::of({inf, 1}, {2, 1, 1}, dtype));
        const Tensor y = conv_tbc(x, w, Tensor::zeros({1}, dtype), 1);
        EXPECT_EQ(y.values(), (Values{1, inf, inf}));
        back(y, {1, 1, inf});
        EXPECT_EQ(w.grad().values(), (Values{inf, 3}));
    }
}

TEST(ConvolutionInfinity, NeitherAnOddPixelNorAnOddChannelTakesItsNeighbour) {
    for (const DType dtype : all_types) {
        const Tensor x = typed_sequence({1, 2, 3, inf}, dtype),
                     w = leaf(typed_sequence({1, 1}, dtype));
        back(conv1d(x, w), {1, 1, 1});
        EXPECT_EQ(w.grad().values(), (Values{6, inf}));
        // The channels of one pixel are next to those of the next pixel in memory.
        const Tensor image = Tensor::of({1, 1, 1, inf, 1, 1}, {1, 3, 1, 2}, dtype);
        EXPECT_EQ(conv2d(image, Tensor::full({16, 3, 1, 1}, 1, dtype)).values()[0], 3);
    }
}

}  // namespace
}  // namespace engine
