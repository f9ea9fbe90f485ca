#include "ops/conv/convolution.h"

#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/catalog_only/columns.h"
#include "ops/linalg/matmul.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

const DType low = DType::f16, wide = DType::f32;

Tensor ones(const Shape& shape, DType dtype = wide) { return Tensor::full(shape, 1, dtype); }
Tensor sequence(const std::vector<double>& values) {
    return Tensor::of(values, {1, 1, static_cast<std::int64_t>(values.size())});
}
using Values = std::vector<double>;

TEST(Convolutions, ASequenceIsAnImageOfOneRow) {
    const Tensor x = random_tensor({2, 4, 9}, wide, 1), w = random_tensor({6, 2, 3}, wide, 2),
                 b = random_tensor({6}, wide, 3);
    const Tensor y = conv1d(x, w, b, {.stride = {2}, .padding = {1}, .dilation = {2}, .groups = 2});
    const Tensor image =
        conv2d(reshape(x, {2, 4, 1, 9}), reshape(w, {6, 2, 1, 3}), b,
               {.stride = {1, 2}, .padding = {0, 1}, .dilation = {1, 2}, .groups = 2});
    EXPECT_EQ(y.shape(), (Shape{2, 6, 4}));
    EXPECT_EQ(y.values(), image.values());
}

TEST(Convolutions, SamePaddingPutsTheOddOneAtTheFarEnd) {
    // Input 1 2 3, weights 1 10: the last window reaches a zero after the end.
    EXPECT_EQ(conv1d(sequence({1, 2, 3}), sequence({1, 10}), {}, {.same = true}).values(),
              (Values{21, 32, 3}));
    EXPECT_EQ(conv1d(sequence({1, 2, 3}), sequence({1, 10}), {}, {.dilation = {2}, .same = true})
                  .values(),
              (Values{20, 31, 2}));
    EXPECT_EQ(conv3d(ones({1, 2, 3, 4, 5}), ones({3, 2, 2, 1, 4}), {}, {.same = true}).shape(),
              (Shape{1, 3, 3, 4, 5}));
    OpArguments args;
    args.tensors = {{0, ones({1, 1, 3, 4})}, {1, ones({1, 1, 2, 3})}};
    args.attrs["padding"] = std::string("same");
    EXPECT_EQ(conv2d_op.call_by_name(args)[0].values(), (Values{4, 6, 6, 4, 4, 6, 6, 4, 2, 3, 3, 2}));
    args.attrs["padding"] = std::string("valid");
    EXPECT_EQ(conv2d_op.call_by_name(args)[0].shape(), (Shape{1, 1, 2, 2}));
    args.attrs["padding"] = std::string("reflect");
    EXPECT_THROW(conv2d_op.call_by_name(args), Error);
    EXPECT_THROW(conv1d(sequence({1, 2, 3}), sequence({1, 10}), {}, {.stride = {2}, .same = true}),
                 Error);
}

TEST(Convolutions, TheTransposedFormSpreadsEachInputOverItsWindow) {
    const Tensor x = sequence({1, 2}), w = sequence({1, 10, 100});
    EXPECT_EQ(conv_transpose1d(x, w).values(), (Values{1, 12, 120, 200}));
    EXPECT_EQ(conv_transpose1d(x, w, {}, {.stride = {2}}).values(), (Values{1, 10, 102, 20, 200}));
    EXPECT_EQ(
        conv_transpose1d(x, w, {}, {.stride = {2}, .padding = {1}, .output_padding = {1}}).values(),
        (Values{10, 102, 20, 200}));
    // Output padding of a stride or more is allowed only with a dilation.
    EXPECT_EQ(conv_transpose1d(x, w, {}, {.output_padding = {1}, .dilation = {2}}).values(),
              (Values{1, 2, 10, 20, 100, 200, 0}));
    EXPECT_EQ(
        conv_transpose1d(x, w, ones({1}), {.padding = {2}, .output_padding = {1}, .dilation = {2}})
            .values(),
        (Values{11, 21, 101}));
    EXPECT_THROW(conv_transpose1d(x, w, {}, {.output_padding = {1}}), Error);
    EXPECT_THROW(conv_transpose1d(x, w, {}, {.padding = {2}}), Error);  // the output would be empty
}

TEST(Convolutions, AVolumeIsSummedOverItsDepthAndRoundedOnce) {
    // 2049 is not an f16 number: a sum in f16, slice by slice, would lose the ones.
    const Tensor x = Tensor::of({2048, 1, 1}, {1, 1, 3, 1, 1}, low);
    EXPECT_EQ(conv3d(x, ones({1, 1, 3, 1, 1}, low)).item(), 2050);
    EXPECT_EQ(conv3d(x, ones({1, 1, 3, 1, 1}, low), ones({1}, low)).item(), 2052);  // 2051, to even
    // So does the transposed convolution, with its bias.
    EXPECT_EQ(
        conv_transpose3d(reshape(x, {1, 3, 1, 1, 1}), ones({3, 1, 1, 1, 1}, low), ones({1}, low))
            .item(),
        2052);
    Tensor leaf = ones({1, 1, 1, 1, 1}, low);
    leaf.set_requires_grad(true);
    const Tensor y = conv3d(leaf, x, {}, {.padding = {2, 0, 0}});
    const Tensor outs[] = {y}, seeds[] = {ones({1, 1, 3, 1, 1}, low)};
    backward(outs, seeds);
    EXPECT_EQ(leaf.grad().item(), 2050);
}

TEST(Convolutions, AVolumeOfOneSliceIsAnImage) {
    const Tensor x = random_tensor({2, 4, 1, 5, 4}, wide, 1),
                 w = random_tensor({6, 2, 1, 3, 2}, wide, 2);
    const Tensor y = conv3d(x, w, {}, {.stride = {1, 2, 1}, .padding = {0, 1, 0}, .groups = 2});
    EXPECT_EQ(y.values(), conv2d(reshape(x, {2, 4, 5, 4}), reshape(w, {6, 2, 3, 2}), {},
                                 {.stride = {2, 1}, .padding = {1, 0}, .groups = 2})
                              .values());
}

TEST(Convolutions, ASequenceByTimeIsOneByChannels) {
    const DType exact = DType::f64;
    const Tensor x = random_tensor({5, 2, 3}, exact, 1), w = random_tensor({2, 3, 4}, exact, 2),
                 b = random_tensor({4}, exact, 3);
    const Tensor y = conv_tbc(x, w, b, 1);
    const Tensor same = conv1d(permute(x, {1, 2, 0}), permute(w, {2, 1, 0}), b, {.padding = {1}});
    EXPECT_EQ(y.shape(), (Shape{6, 2, 4}));
    const Values expected = permute(same, {2, 0, 1}).values();
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(y.values()[i], expected[i], 1e-14) << i;
    EXPECT_EQ(conv_tbc(ones({3, 0, 2}), ones({2, 2, 4}), ones({4}), 1).shape(), (Shape{4, 0, 4}));
}

struct Call {
    const Op* info;
    Shape x, weight;
};

TEST(Convolutions, A11M9MixedTypesAreAnErrorOutsideARegionAndFineInside) {
    const Call calls[] = {{&conv1d_op, {1, 2, 3}, {2, 2, 1}},
                          {&conv3d_op, {1, 2, 3, 1, 1}, {2, 2, 1, 1, 1}},
                          {&conv_transpose1d_op, {1, 2, 3}, {2, 2, 1}},
                          {&conv_transpose2d_op, {1, 2, 3, 1}, {2, 2, 1, 1}},
                          {&conv_transpose3d_op, {1, 2, 3, 1, 1}, {2, 2, 1, 1, 1}},
                          {&conv_tbc_op, {3, 1, 2}, {1, 2, 2}},
                          {&convolution_op, {1, 2, 3}, {2, 2, 1}},
                          {&cudnn_convolution_op, {1, 2, 3}, {2, 2, 1}},
                          {&cudnn_convolution_transpose_op, {1, 2, 3, 1}, {2, 2, 1, 1}}};
    for (const auto& [info, x, weight] : calls) {
        SCOPED_TRACE(info->name);
        OpArguments args;
        args.tensors = {{0, ones(x, low)}, {1, ones(weight)}, {2, ones({2})}};
        try {
            info->call_by_name(args);
            ADD_FAILURE() << "it ran outside a region";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::dtype);
            const std::string text = error.what();
            EXPECT_EQ(text.find(std::string(info->name) + ":"), 0u) << text;
            EXPECT_NE(text.find("f16"), std::string::npos) << text;
            EXPECT_NE(text.find("f32"), std::string::npos) << text;
            EXPECT_FALSE(error.hint().empty());
        }
        const AutocastRegion region(here, true, DType::bf16);
        const auto entered = region.enter();
        const Tensor y = info->call_by_name(args)[0];
        EXPECT_EQ(y.dtype(), DType::bf16);
        args.tensors = {{0, to(args.tensors[0], DType::bf16)},
                        {1, to(args.tensors[1], DType::bf16)},
                        {2, to(args.tensors[2], DType::bf16)}};
        EXPECT_EQ(y.values(), info->call_by_name(args)[0].values());
    }
}

TEST(Convolutions, EmptyBatchesAreEmptyAndGiveZeroGradients) {
    Tensor w = ones({2, 1, 2, 2, 2});
    w.set_requires_grad(true);
    const Tensor y = conv3d(Tensor::zeros({0, 1, 3, 3, 3}, wide), w);
    EXPECT_EQ(y.shape(), (Shape{0, 2, 2, 2, 2}));
    backward(sum(y));
    EXPECT_EQ(w.grad().values(), Values(16, 0.0));
    EXPECT_EQ(conv_transpose3d(Tensor::zeros({0, 2, 1, 1, 1}, wide), w.detach()).shape(),
              (Shape{0, 1, 2, 2, 2}));
    EXPECT_EQ(conv1d(Tensor::zeros({0, 1, 3}, wide), ones({1, 1, 2})).shape(), (Shape{0, 1, 2}));
}

TEST(Convolutions, WithoutInputChannelsTheBiasIsLeft) {
    for (const DType dtype : {DType::f64, wide, low, DType::bf16}) {
        const Tensor bias = Tensor::of({2, 3}, {2}, dtype);
        EXPECT_EQ(conv2d(ones({1, 0, 2, 3}, dtype), ones({2, 0, 2, 2}, dtype), bias).values(),
                  (Values{2, 2, 3, 3}));
        EXPECT_EQ(conv2d(ones({1, 0, 2, 3}, dtype), ones({2, 0, 2, 2}, dtype)).values(), Values(4));
        EXPECT_EQ(conv3d(ones({1, 0, 2, 1, 1}, dtype), ones({2, 0, 1, 1, 1}, dtype), bias).values(),
                  (Values{2, 2, 3, 3}));
    }
}

TEST(Convolutions, WithoutOutputChannelsTheInputsGradientIsZero) {
    Tensor x = ones({1, 2, 2, 3});
    x.set_requires_grad(true);
    backward(sum(conv2d(x, ones({0, 2, 2, 2}))));
    EXPECT_EQ(x.grad().values(), Values(12));
}

TEST(Convolutions, AnImageAsColumnsTimesWeightsIsAConvolution) {
    const Tensor x = random_tensor({2, 3, 4, 5}, DType::f64, 1),
                 w = random_tensor({4, 3, 2, 3}, DType::f64, 2);
    const ColumnOptions options{
        .kernel = {2, 3}, .dilation = {1, 2}, .padding = {1, 2}, .stride = {2, 1}};
    const Tensor columns = im2col(x, options);
    EXPECT_EQ(columns.shape(), (Shape{2, 18, 15}));
    const Tensor y = reshape(matmul(reshape(w, {4, 18}), columns), {2, 4, 3, 5});
    expect_close(y, conv2d(x, w, {}, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}}),
                 0x1p-45);
    // The inverse counts each element once for each window that contains it.
    const Tensor line = Tensor::of({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(im2col(reshape(line, {1, 1, 4}), {.kernel = {1, 3}}).values(),
              (Values{1, 2, 2, 3, 3, 4}));
    EXPECT_EQ(col2im(line, {1, 3}, {.kernel = {1, 2}}).values(), (Values{1, 5, 4}));
    EXPECT_EQ(
        col2im(Tensor::of({7, 1, 7}, {3, 1}, low), {1, 1}, {.kernel = {3, 1}, .padding = {1, 0}})
            .item(),
        1);
    EXPECT_THROW(col2im(line, {1, 4}, {.kernel = {1, 2}}), Error);
    EXPECT_THROW(im2col(x, {.kernel = {5, 1}}), Error);
    EXPECT_THROW(im2col(x, {.stride = {0, 1}}), Error);
}

TEST(Convolutions, CudnnsNamesAreTheGeneralEntryWithoutABias) {
    const Tensor x = random_tensor({2, 4, 5, 4}, low, 1), w = random_tensor({4, 2, 3, 2}, low, 2);
    const ConvTransposeOptions options{.stride = {2, 1},
                                       .padding = {1, 0},
                                       .output_padding = {1, 0},
                                       .dilation = {1, 2},
                                       .groups = 2};
    EXPECT_EQ(cudnn_convolution(x, w, options).values(),
              convolution(x, w, {}, options).values());
    const Tensor y = cudnn_convolution_transpose(x, w, options);
    EXPECT_EQ(y.shape(), (Shape{2, 4, 10, 6}));
    EXPECT_EQ(y.values(), convolution(x, w, {}, options, true).values());
    EXPECT_EQ(cudnn_convolution(sequence({1, 2, 3}), sequence({1, 10})).values(), (Values{21, 32}));
    EXPECT_EQ(cudnn_convolution_transpose(sequence({1, 2}), sequence({1, 10})).values(),
              (Values{1, 12, 20}));
    EXPECT_THROW(cudnn_convolution(ones({2, 4}), w), Error);  // no batch
    EXPECT_THROW(cudnn_convolution(x, ones({4, 2, 3}, low)), Error);
    EXPECT_THROW(cudnn_convolution(x, w, {.padding = {-1}}), Error);
    EXPECT_THROW(cudnn_convolution_transpose(x, w, {.output_padding = {1}}), Error);
}

TEST(Convolutions, RefusesWhatDoesNotFit) {
    const Tensor x = ones({1, 2, 4}), w = ones({2, 2, 3});
    EXPECT_THROW(conv1d(ones({1, 2, 4, 4}), w), Error);
    EXPECT_THROW(conv1d(x, ones({2, 2, 5})), Error);
    EXPECT_THROW(conv1d(x, ones({2, 1, 3})), Error);
    EXPECT_THROW(conv1d(x, w, ones({3})), Error);
    EXPECT_THROW(conv1d(x, w, {}, {.stride = {0}}), Error);
    EXPECT_THROW(conv1d(x, w, {}, {.stride = {1, 1}}), Error);
    EXPECT_THROW(conv1d(x, w, {}, {.groups = 0}), Error);
    EXPECT_THROW(conv_transpose1d(x, ones({3, 2, 3})), Error);
    EXPECT_THROW(conv_transpose1d(x, w, {}, {.output_padding = {-1}}), Error);
    EXPECT_THROW(convolution(ones({2, 4}), w, {}, {}), Error);
    EXPECT_THROW(conv_tbc(x, ones({1, 4, 2}), ones({3})), Error);
}

struct Sizes {
    std::int64_t n, c, h, w, k, r, s;
    Conv2dOptions options;
};

double at(const Tensor& t, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    const std::int64_t i = ((a * t.size(1) + b) * t.size(2) + c) * t.size(3) + d;
    return t.data_as<double>()[i];
}

/// The definition, in double. x and w are contiguous f64.
Tensor reference(const Tensor& x0, const Tensor& w0, const Shape& out, const Conv2dOptions& o) {
    const Tensor x = x0.copy_to(Device{}), w = w0.copy_to(Device{});
    std::vector<double> y;
    const std::int64_t per_group = w.size(1), filters = w.size(0) / o.groups;
    for (std::int64_t n = 0; n < out[0]; ++n)
        for (std::int64_t k = 0; k < out[1]; ++k)
            for (std::int64_t i = 0; i < out[2]; ++i)
                for (std::int64_t j = 0; j < out[3]; ++j) {
                    double total = 0;
                    for (std::int64_t c = 0; c < per_group; ++c)
                        for (std::int64_t r = 0; r < w.size(2); ++r)
                            for (std::int64_t s = 0; s < w.size(3); ++s) {
                                const std::int64_t row =
                                    i * o.stride[0] - o.padding[0] + r * o.dilation[0];
                                const std::int64_t col =
                                    j * o.stride[1] - o.padding[1] + s * o.dilation[1];
                                if (row < 0 || row >= x.size(2) || col < 0 || col >= x.size(3))
                                    continue;
                                total += at(x, n, k / filters * per_group + c, row, col) *
                                         at(w, k, c, r, s);
                            }
                    y.push_back(total);
                }
    return Tensor::of(y, out, DType::f64);
}

void expect_reference(const Sizes& z, DType dtype, double bound) {
    const Tensor x = random_tensor({z.n, z.c, z.h, z.w}, dtype, 1),
                 w = random_tensor({z.k, z.c / z.options.groups, z.r, z.s}, dtype, 2);
    const Tensor y = conv2d(x, w, {}, z.options);
    EXPECT_TRUE(y.is_channels_last());
    expect_close(to(y, DType::f64),
                 reference(to(x, DType::f64), to(w, DType::f64), y.shape(), z.options), bound);
}

TEST(Conv2d, MatchesItsDefinitionInEveryType) {
    const Sizes all[] = {{1, 1, 1, 1, 1, 1, 1, {}},
                         {2, 3, 7, 9, 5, 3, 2, {.stride = {2, 3}, .padding = {1, 2}}},
                         {1, 6, 8, 8, 4, 3, 3, {.dilation = {2, 1}, .groups = 2}},
                         {1, 31, 5, 5, 33, 3, 3, {.padding = {1, 1}}}};
    for (const auto& sizes : all) {
        // An f32 sum of at most 279 terms below 4, and one rounding of the result.
        const double sums = 279 * 4 * 0x1p-23;
        expect_reference(sizes, DType::f64, 1e-12);
        expect_reference(sizes, DType::f32, sums);
        expect_reference(sizes, DType::f16, sums + 0x1p-10);
        expect_reference(sizes, DType::bf16, sums + 0x1p-7);
    }
}

TEST(Conv2d, AnyLayoutOfTheInputGivesTheSame) {
    const Tensor x = random_tensor({2, 3, 5, 4}, DType::f32, 1),
                 w = random_tensor({2, 3, 3, 3}, DType::f32, 2);
    EXPECT_EQ(conv2d(in_layout(x, Layout::channels_last), w).values(), conv2d(x, w).values());
}

TEST(Conv2d, AnEmptyBatchHasAnEmptyResultAndZeroWeightGradients) {
    Tensor w = random_tensor({2, 3, 3, 3}, DType::f32, 2), b = Tensor::zeros({2}, DType::f32);
    w.set_requires_grad(true);
    b.set_requires_grad(true);
    const Tensor y = conv2d(Tensor::zeros({0, 3, 5, 5}, DType::f32), w, b);
    EXPECT_EQ(y.shape(), (Shape{0, 2, 3, 3}));
    backward(sum(y));
    EXPECT_EQ(w.grad().values(), std::vector<double>(54, 0.0));
    EXPECT_EQ(b.grad().values(), std::vector<double>(2, 0.0));
}

TEST(Conv2d, DoesNotComputeTheGradientOfAnInputThatWantsNone) {
    struct Names final : OpObserver {
        void on_op(const OpEvent& event) override { input = input || name_of(event); }
        static bool name_of(const OpEvent& event) {
            return std::string(event.info->name) == "conv2d_input_gradient";
        }
        bool input = false;
    } names;
    const ObserverScope watching(names);
    Tensor w = random_tensor({2, 3, 3, 3}, DType::f32, 2);
    w.set_requires_grad(true);
    backward(sum(conv2d(random_tensor({1, 3, 4, 4}, DType::f32, 1), w)));
    EXPECT_FALSE(names.input);
    EXPECT_TRUE(w.grad().is_contiguous());
}

TEST(Conv2d, RefusesShapesAndOptionsThatDoNotFit) {
    const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape, DType::f32); };
    EXPECT_THROW(conv2d(zeros({1, 3, 4, 4}), zeros({2, 2, 3, 3})), Error);
    EXPECT_THROW(conv2d(zeros({1, 3, 2, 2}), zeros({2, 3, 3, 3})), Error);
    EXPECT_THROW(conv2d(zeros({1, 3, 4, 4}), zeros({2, 3, 3, 3}), zeros({3})), Error);
    EXPECT_THROW(conv2d(zeros({1, 3, 4, 4}), zeros({2, 3, 3, 3}), {}, {.stride = {0, 1}}), Error);
}

}  // namespace
}  // namespace engine
