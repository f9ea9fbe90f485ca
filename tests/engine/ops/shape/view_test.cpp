#include "ops/shape/view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

TEST(View, ReshapeSeesThroughDimensionsOfSizeOne) {
    // (16, 1, 3) of a (3, 16) matrix: no single stride covers both of its dimensions that are
    // larger than 1.
    const Tensor x = reshape(transpose(random_tensor({3, 16}, DType::f32, 1), 0, 1), {16, 1, 3});
    EXPECT_EQ(reshape(x, {48}).values(), contiguous(x).values());
    EXPECT_EQ(reshape(x, {4, 1, 4, 3}).values(), contiguous(x).values());
    const Tensor y = transpose(random_tensor({2, 1, 5, 16}, DType::f32, 2), 0, 3);
    for (const auto& shape : std::vector<Shape>{{160}, {16, 5, 2}, {4, 4, 1, 10}, {8, 20}})
        EXPECT_EQ(reshape(y, shape).values(), contiguous(y).values()) << to_string(shape);
    EXPECT_EQ(reshape(transpose(Tensor::zeros({0, 3}, DType::f32), 0, 1), {1, 0}).numel(), 0);
}

TEST(Views, ShareStorageAndVersionWithTheirSource) {
    const Tensor x = random_tensor({2, 6}, DType::f32, 1);
    const Tensor view = transpose(reshape(x, {3, 4}), 0, 1);
    EXPECT_EQ(view.impl()->storage, x.impl()->storage);
    x.bump_version();
    EXPECT_EQ(view.version(), x.version());
    EXPECT_NE(reshape(view, {12}).impl()->storage, x.impl()->storage);
    EXPECT_EQ(reshape(view, {12}).values(), contiguous(view).values());
}

TEST(Views, RefuseWhatDoesNotFit) {
    const Tensor x = Tensor::zeros({2, 3}, DType::f32);
    EXPECT_THROW(reshape(x, {4}), Error);
    EXPECT_THROW(permute(x, {0, 0}), Error);
    EXPECT_THROW(permute(x, {0}), Error);
    EXPECT_THROW(expand(x, {2, 4}), Error);
    EXPECT_THROW(narrow(x, 1, 2, 2), Error);
    EXPECT_THROW(cat({}, 0), Error);
    EXPECT_THROW(cat({x, Tensor::zeros({3, 3}, DType::f32)}, 1), Error);
}

}  // namespace
}  // namespace engine
