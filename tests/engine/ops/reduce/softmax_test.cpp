#include "ops/reduce/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

TEST(Softmax, RowsAddUpToOneAtEdgeSizes) {
    for (const std::int64_t n : {1, 31, 32, 33}) {
        const Tensor y = softmax(random_tensor({3, n}, DType::f32, 1, -20, 20), 1);
        expect_close(sum(y, {1}), Tensor::full({3}, 1, DType::f32), 33 * 0x1p-23);
    }
    EXPECT_EQ(softmax(Tensor::zeros({0, 3}, DType::f32), 1).shape(), (Shape{0, 3}));
    EXPECT_EQ(softmax(Tensor::zeros({2, 0}, DType::f32), 1).shape(), (Shape{2, 0}));
}

TEST(Softmax, ARowWithInfinityOrNanIsNan) {
    const auto y = softmax(Tensor::of({INFINITY, 0, NAN, 0, 0, 0}, {3, 2}), 1).values();
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_EQ(y[4], 0.5);
}

TEST(Softmax, AGivenTypeIsObeyed) {
    const Tensor x = random_tensor({2, 3}, DType::f16, 1);
    EXPECT_EQ(softmax(x, 1).dtype(), DType::f16);
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
        EXPECT_EQ(softmax(x, 1, dtype).dtype(), dtype);
    EXPECT_THROW(softmax(Tensor::zeros({2}, DType::i64), 0), Error);
    EXPECT_THROW(softmax(x, 2), Error);
}

}  // namespace
}  // namespace engine
