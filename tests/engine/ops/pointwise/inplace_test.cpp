#include "ops/pointwise/inplace.h"

#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

Tensor leaf(const std::vector<double>& values) {
    Tensor x = Tensor::of(values, {static_cast<std::int64_t>(values.size())});
    return x.set_requires_grad(true);
}

TEST(InPlace, WritesIntoTheSameMemoryAndRaisesTheVersion) {
    const Tensor x = Tensor::of({1, 2}, {2});
    const void* data = x.data();
    const auto version = x.version();
    const Tensor y = add_(x, Tensor::of({10, 20}, {2}));
    EXPECT_EQ(y.data(), data);
    EXPECT_EQ(x.values(), (std::vector<double>{11, 22}));
    EXPECT_GT(x.version(), version);
}

TEST(InPlace, RoundsToTheLeftSidesType) {
    const Tensor x = Tensor::full({1}, 2048, DType::f16);
    add_(x, Tensor::full({1}, 1.5, DType::f32));
    EXPECT_EQ(x.dtype(), DType::f16);
    EXPECT_EQ(x.item(), 2050);
}

TEST(InPlace, AFloatIsNotTruncatedIntoIntegers) {
    const Tensor x = Tensor::of({1, 2}, {2}, DType::i64);
    const Tensor flag = Tensor::of({1}, {1}, DType::boolean);
    for (const auto& write : std::vector<std::function<void()>>{
             [&] { add_(x, Tensor::of({0.7, 1.9}, {2})); }, [&] { mul_(x, Tensor::of({0.5}, {1})); },
             [&] { mul_(x, Tensor::scalar(0.5)); }, [&] { pow_(x, Tensor::scalar(0.5)); },
             [&] { exp_(x); }, [&] { add_(flag, Tensor::of({1}, {1}, DType::i64)); }}) {
        try {
            write();
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::dtype);
        }
    }
    EXPECT_EQ(x.values(), (std::vector<double>{1, 2}));
    add_(x, Tensor::of({3, 4}, {2}, DType::i32));
    mul_(x, x);
    EXPECT_EQ(x.values(), (std::vector<double>{16, 36}));
    const Tensor low = Tensor::of({200}, {1}, DType::u8);
    add_(low, Tensor::of({100}, {1}, DType::i64));  // wraps around, as in PyTorch
    EXPECT_EQ(low.item(), 44);
}

TEST(InPlace, ALeafThatRequiresAGradientIsRefusedWhileGradientsAreRecorded) {
    const Tensor x = leaf({1});
    for (const auto& write : std::vector<std::function<void()>>{
             [&] { add_(x, x); }, [&] { zero_(x); }, [&] { exp_(x); }}) {
        try {
            write();
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::state);
        }
    }
    const GradMode off(false);
    zero_(x);
    EXPECT_EQ(x.item(), 0);
}

TEST(InPlace, AViewOfAGraphTensorIsRefused) {
    const Tensor h = mul(leaf({1, 2, 3, 4}), 2.0);
    try {
        zero_(narrow(h, 0, 0, 2));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_NE(std::string(error.what()).find("view"), std::string::npos);
    }
}

TEST(InPlace, AMiddleTakesItsNewPlaceInTheGraph) {
    const Tensor x = leaf({2, 3});
    const Tensor h = mul(x, 1.0);
    mul_(h, h);
    exp_(zero_(mul(x, 1.0)));
    backward(sum(h));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{4, 6}));
}

TEST(InPlace, APlainTensorJoinsTheGraphOfWhatIsWrittenIntoIt) {
    const Tensor x = leaf({2, 3});
    const Tensor sink = Tensor::zeros({2}, DType::f32);
    copy_(sink, x);
    mul_(sink, Tensor::full({}, 5, DType::f32));
    backward(sum(sink));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{5, 5}));
}

TEST(InPlace, WritesThroughStridesOfAPlainView) {
    const Tensor x = Tensor::of({1, 2, 3, 4}, {2, 2});
    zero_(narrow(x, 1, 0, 1));
    EXPECT_EQ(x.values(), (std::vector<double>{0, 2, 0, 4}));
    copy_(transpose(x, 0, 1), Tensor::of({1, 2, 3, 4}, {2, 2}));
    EXPECT_EQ(x.values(), (std::vector<double>{1, 3, 2, 4}));
}

TEST(InPlace, TheGradientOfARepeatedSourceIsSummedBeforeItIsRounded) {
    const Tensor to = Tensor::zeros({4}, DType::f32);
    Tensor from = Tensor::zeros({1}, DType::f16);
    from.set_requires_grad(true);
    copy_(to, from);
    // Rounded one by one they are 1, 1, 1 and 1 + 2^-9, whose sum is 4 in f16.
    const Tensor dy = Tensor::of({1.00048828125, 1.00048828125, 1.00048828125, 1.00244140625}, {4});
    backward({&to, 1}, {&dy, 1});
    EXPECT_EQ(from.grad().item(), 4.00390625);
}

TEST(InPlace, ASideThatWouldWidenTheShapeIsAnError) {
    EXPECT_THROW(add_(Tensor::zeros({2}, DType::f32), Tensor::zeros({3, 2}, DType::f32)), Error);
}

}  // namespace
}  // namespace engine
