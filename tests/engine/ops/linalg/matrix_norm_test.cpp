#include "ops/linalg/matrix_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/catalog/catalog.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/norm.h"

namespace engine {
namespace {

using Values = std::vector<double>;
constexpr double infinite = std::numeric_limits<double>::infinity();

double of(const Tensor& x, const MatrixOrder& ord) { return linalg_matrix_norm(x, ord).item(); }

TEST(MatrixNorm, OfEveryOrderByHand) {
    const Tensor x = Tensor::of({3, 0, 0, -4}, {2, 2}, DType::f64);
    EXPECT_EQ(of(x, "fro"), 5);
    EXPECT_NEAR(of(x, "nuc"), 7, 1e-15 * 8);
    EXPECT_NEAR(of(x, 2.0), 4, 1e-15 * 4);
    EXPECT_NEAR(of(x, -2.0), 3, 1e-15 * 4);
    const Tensor y = Tensor::of({1, -2, 3, 4}, {2, 2}, DType::f64);
    EXPECT_EQ(of(y, 1.0), 6);
    EXPECT_EQ(of(y, -1.0), 4);
    EXPECT_EQ(of(y, infinite), 7);
    EXPECT_EQ(of(y, -infinite), 3);
    EXPECT_EQ(frobenius_norm(x, {}).item(), 5);
    EXPECT_NEAR(nuclear_norm(x).item(), 7, 1e-15 * 8);
}

TEST(MatrixNorm, LiesInAnyTwoDimensions) {
    const Tensor x = random_tensor({2, 3, 4}, DType::f64, 3);
    for (const MatrixOrder& ord : {MatrixOrder("nuc"), MatrixOrder(2.0), MatrixOrder(1.0)}) {
        const Tensor y = linalg_matrix_norm(x, ord, {-1, 0}, true);
        EXPECT_EQ(y.shape(), (Shape{1, 3, 1}));
        EXPECT_EQ(linalg_matrix_norm(x, ord, {2, 0}).shape(), (Shape{3}));
    }
}

TEST(MatrixNorm, OfTheNamesThatNormTakes) {
    const Op& info = *find_op("norm");
    OpArguments args;
    args.tensors[0] = random_tensor({3, 4}, DType::f64, 5);
    args.attrs["p"] = std::string("nuc");
    EXPECT_EQ(info.call_by_name(args)[0].item(), nuclear_norm(args.tensors[0]).item());
    args.attrs["p"] = std::string("fro");
    EXPECT_EQ(info.call_by_name(args)[0].item(), norm(args.tensors[0]).item());
    args.attrs["p"] = std::string("max");
    EXPECT_THROW(info.call_by_name(args), Error);
}

TEST(MatrixNorm, RefusesOtherOrdersAndDimensions) {
    const Tensor x = Tensor::zeros({2, 2}, DType::f32);
    EXPECT_THROW(linalg_matrix_norm(x, 3.0), Error);
    EXPECT_THROW(linalg_matrix_norm(x, "max"), Error);
    EXPECT_THROW(linalg_matrix_norm(x, "fro", {0, 0}), Error);
    EXPECT_THROW(linalg_matrix_norm(x, "fro", {0}), Error);
    EXPECT_THROW(nuclear_norm(Tensor::zeros({2, 2, 2}, DType::f32)), Error);
    EXPECT_THROW(frobenius_norm(Tensor::zeros({2, 2, 2}, DType::f32), {0, 1, 2}), Error);
    EXPECT_THROW(linalg_matrix_norm(x, "fro", {-2, -1}, false, DType::f16), Error);
}

TEST(A12MatrixNormsInARegion, AreF32) {
    const Tensor x = Tensor::of({1, 2, 3, 5}, {2, 2}, DType::f16);
    EXPECT_EQ(linalg_matrix_norm(x).dtype(), DType::f16);
    const AutocastRegion region(x.device().kind, true, DType::f16);
    const auto inside = region.enter();
    for (const Tensor& y : {linalg_matrix_norm(x), linalg_matrix_norm(x, "nuc"),
                            linalg_matrix_norm(x, 2.0), frobenius_norm(x, {0}), nuclear_norm(x)})
        EXPECT_EQ(y.dtype(), DType::f32);
}

TEST(Svd, OfATensorTakesItApartInItsType) {
    for (const DType dtype : {DType::f64, DType::f32}) {
        const Tensor x = random_tensor({2, 3, 4}, dtype, 9);
        const SingularValues y = svd(x);
        EXPECT_EQ(y.s.dtype(), dtype);
        EXPECT_EQ(y.v.shape(), (Shape{2, 4, 3}));
        Values diagonal(18, 0);
        const Values s = y.s.values();
        for (std::size_t b = 0; b < 2; ++b)
            for (std::size_t i = 0; i < 3; ++i) diagonal[b * 9 + i * 4] = s[b * 3 + i];
        const Tensor middle = Tensor::of(diagonal, {2, 3, 3}, dtype);
        const Tensor again = product(product(y.u, false, middle, false), false, y.v, true);
        // About ten roundings of numbers up to the largest singular value, about 4.
        expect_close(again, x, 40 * (dtype == DType::f64 ? 0x1p-53 : 0x1p-24));
    }
}

}  // namespace
}  // namespace engine
