#include "ops/linalg/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>

#include "amp/dispatch.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/products.h"
#include "ops/shape/view.h"
#include "support/op_log.h"
#include "tensor/cast.h"
#include "tensor/observer.h"

namespace engine {
namespace {

/// The product (m, k) (k, n) in double, of the values of a and b.
Tensor reference(const Tensor& a, const Tensor& b) {
    const auto x = a.values(), y = b.values();
    const auto m = static_cast<std::size_t>(a.size(0)), k = static_cast<std::size_t>(a.size(1)),
               n = static_cast<std::size_t>(b.size(1));
    std::vector<double> out(m * n, 0.0);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t p = 0; p < k; ++p)
            for (std::size_t j = 0; j < n; ++j) out[i * n + j] += x[i * k + p] * y[p * n + j];
    return Tensor::of(out, {a.size(0), b.size(1)}, DType::f64);
}

TEST(Matmul, MmMatchesAPlainSumAtEdgeSizesInEveryType) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        // One rounding of the result, and k roundings of an f32 sum with terms below 4.
        const double unit = dtype == DType::f16 ? 0x1p-11 : dtype == DType::bf16 ? 0x1p-8 : 0;
        for (const std::int64_t m : {1, 31, 33}) {
            for (const std::int64_t k : {0, 1, 32}) {
                const Tensor a = random_tensor({m, k}, dtype, 1),
                             b = random_tensor({k, 32}, dtype, 2);
                const double sums =
                    (dtype == DType::f64 ? 0x1p-52 : 0x1p-23) * 4.0 * static_cast<double>(k + 1);
                expect_close(to(mm(a, b), DType::f64), reference(a, b), unit + sums);
            }
        }
    }
}

TEST(Matmul, EmptySidesGiveEmptyResultsAndAnEmptySumIsZero) {
    EXPECT_EQ(mm(Tensor::zeros({0, 3}, DType::f32), Tensor::zeros({3, 2}, DType::f32)).shape(),
              (Shape{0, 2}));
    EXPECT_EQ(mm(Tensor::zeros({1, 0}, DType::f32), Tensor::zeros({0, 2}, DType::f32)).values(),
              (std::vector<double>{0, 0}));
    EXPECT_EQ(linear(Tensor::zeros({0, 3}, DType::f32), Tensor::zeros({2, 3}, DType::f32)).shape(),
              (Shape{0, 2}));
}

TEST(Matmul, TransposedAndOtherwiseStridedOperandsGiveWhatTheirCopiesGive) {
    const Tensor a = random_tensor({4, 5}, DType::f32, 1), b = random_tensor({4, 3}, DType::f32, 2);
    const Tensor turned = transpose(a, 0, 1);
    EXPECT_EQ(mm(turned, b).values(), mm(contiguous(turned), b).values());
    const Tensor part = narrow(random_tensor({4, 9}, DType::f32, 3), 1, 2, 4);
    EXPECT_EQ(mm(part, b).values(), mm(contiguous(part), b).values());
    const Tensor wide = expand(random_tensor({1, 4}, DType::f32, 4), {6, 4});
    EXPECT_EQ(mm(wide, b).values(), mm(contiguous(wide), b).values());
    const Tensor column = narrow(part, 1, 1, 1);
    EXPECT_EQ(mm(column, narrow(b, 0, 0, 1)).values(),
              mm(contiguous(column), narrow(b, 0, 0, 1)).values());
}

TEST(Matmul, NanAndInfinityGoThrough) {
    const Tensor a = Tensor::of({NAN, 1, INFINITY, 1}, {2, 2}), b = Tensor::of({1, 0}, {2, 1});
    const auto y = mm(a, b).values();
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], INFINITY);
}

TEST(Matmul, ShapesByRankAreThoseOfNumpy) {
    const auto shape = [](const Shape& a, const Shape& b) {
        return matmul(Tensor::zeros(a, DType::f32), Tensor::zeros(b, DType::f32)).shape();
    };
    EXPECT_EQ(shape({4}, {4}), (Shape{}));
    EXPECT_EQ(shape({4}, {4, 2}), (Shape{2}));
    EXPECT_EQ(shape({3, 4}, {4}), (Shape{3}));
    EXPECT_EQ(shape({4}, {5, 4, 2}), (Shape{5, 2}));
    EXPECT_EQ(shape({5, 3, 4}, {4}), (Shape{5, 3}));
    EXPECT_EQ(shape({5, 1, 3, 4}, {6, 4, 2}), (Shape{5, 6, 3, 2}));
}

TEST(Matmul, ShapesThatDoNotFitAreErrorsWithBothShapes) {
    try {
        mm(Tensor::zeros({2, 3}, DType::f32), Tensor::zeros({2, 3}, DType::f32));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::shape);
        EXPECT_NE(std::string(error.what()).find("(2, 3) and (2, 3)"), std::string::npos);
    }
    EXPECT_THROW(linear(Tensor::zeros({2, 3}, DType::f32), Tensor::zeros({4, 2}, DType::f32)),
                 Error);
    EXPECT_THROW(mm(Tensor::zeros({2}, DType::f32), Tensor::zeros({2, 3}, DType::f32)), Error);
    EXPECT_THROW(mm(Tensor::zeros({2, 2}, DType::i64), Tensor::zeros({2, 2}, DType::i64)), Error);
}

TEST(Matmul, AddmmWithBetaZeroDoesNotReadItsFirstArgument) {
    const Tensor c = Tensor::full({2}, NAN, DType::f32), a = Tensor::full({2, 2}, 1, DType::f32);
    EXPECT_EQ(addmm(c, a, a, 0, 0.5).values(), (std::vector<double>{1, 1, 1, 1}));
}

TEST(Matmul, LinearRoundsOnceWithTheBiasInside) {
    // 2048 + 1 is halfway between two f16 numbers. With the bias of 0.5 added before rounding, the
    // sum rounds up.
    const Tensor x = Tensor::of({2048, 1}, {1, 2}, DType::f16),
                 w = Tensor::full({1, 2}, 1, DType::f16), b = Tensor::full({1}, 0.5, DType::f16);
    EXPECT_EQ(linear(x, w, b).item(), 2050);
}

/// A layer's result and its gradients by x, weight and bias.
template <typename Layer>
TensorList layer_run(const Layer& layer, const Shape& weight_shape, DType dtype, OpLog* log) {
    Tensor x = random_tensor({11, 6}, dtype, 1), weight = random_tensor(weight_shape, dtype, 2);
    Tensor bias = random_tensor({8}, dtype, 3);
    for (auto* t : {&x, &weight, &bias}) t->set_requires_grad(true);
    const Tensor y = layer(x, weight, bias), dy = random_tensor(y.shape(), dtype, 4);
    std::optional<ObserverScope> scope;
    if (log != nullptr) scope.emplace(*log);
    backward({&y, 1}, {&dy, 1});
    return {y, x.grad(), weight.grad(), bias.grad()};
}

/// By one kernel for the last two, and by a product and a sum: where types are forced.
template <typename Layer>
void expect_the_same_apart(const Layer& layer, const Shape& weight_shape) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        const TensorList one = layer_run(layer, weight_shape, dtype, nullptr);
        OpLog log;
        const TensorList seen = layer_run(layer, weight_shape, dtype, &log);
        for (const char* part : {"mm in ", "sum in "})
            EXPECT_THAT(log.backward, testing::Contains(part));
        for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].values(), seen[i].values());
        const ForceScope forced(std::make_shared<const ForceRules>(
            std::vector<ForceRule>{{"other", "other", "", DType::f32}}));
        const TensorList two = layer_run(layer, weight_shape, dtype, nullptr);
        // Sums of up to 11 products of at most 4, in another order, may round to a neighbour.
        const double unit = dtype == DType::f64   ? 1e-13
                            : dtype == DType::f32 ? 0x1p-17
                            : dtype == DType::f16 ? 0x1p-9
                                                  : 0x1p-6;
        for (std::size_t i = 0; i < one.size(); ++i)
            expect_close(to(one[i], DType::f64), to(two[i], DType::f64), unit);
    }
}

TEST(LayerGradients, AreThoseOfAProductAndASumWhichObserversSee) {
    expect_the_same_apart([](auto&... t) { return linear(t...); }, {8, 6});
    expect_the_same_apart([](auto&... t) { return linear_relu(t...); }, {8, 6});
    expect_the_same_apart([](const Tensor& x, const Tensor& weight,
                             const Tensor& bias) { return addmm(bias, x, weight); },
                          {6, 8});
}

TEST(Addmm, AddsAVectorToEveryRowAsAMatrixOfItWouldBe) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
        for (const double alpha : {1.0, 0.5, 0.0}) {
            const Tensor a = random_tensor({5, 7}, dtype, 1), b = random_tensor({7, 9}, dtype, 2);
            const Tensor row = random_tensor({9}, dtype, 3);
            const Tensor all = contiguous(expand(row, {5, 9}));
            const Tensor y = addmm(row, a, b, 1, alpha), twin = addmm(all, a, b, 1, alpha);
            const double unit = dtype == DType::f64   ? 1e-13
                                : dtype == DType::f32 ? 0x1p-17
                                : dtype == DType::f16 ? 0x1p-9
                                                      : 0x1p-6;
            expect_close(to(y, DType::f64), to(twin, DType::f64), unit);
        }
}

}  // namespace
}  // namespace engine
