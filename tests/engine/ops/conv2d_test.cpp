#include "ops/conv2d.h"

#include <gtest/gtest.h>

#include "engine/error.h"
#include "gradcheck.h"
#include "ops/cast.h"
#include "ops/layout.h"
#include "ops/reduce.h"

namespace engine {
namespace {

struct Sizes {
    std::int64_t n, c, h, w, k, r, s;
    Conv2dOptions options;
};

double at(const Tensor& t, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    const std::int64_t i = ((a * t.size(1) + b) * t.size(2) + c) * t.size(3) + d;
    return t.data_as<double>()[i];
}

/// The definition, in double; x and w contiguous f64.
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
        // At most 279 terms below 4 in an f32 sum, and one rounding of the result.
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
