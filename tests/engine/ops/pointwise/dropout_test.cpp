#include "ops/pointwise/dropout.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/shape/sum.h"

namespace engine {
namespace {

const RandomStream stream(7, StreamId::dropout, 3);

TEST(Dropout, KeepsAndScalesWhatTheMaskKeeps) {
    const Tensor x = Tensor::of({1, 2, 3}, {3}), mask = Tensor::of({1, 0, 1}, {3}, DType::boolean);
    EXPECT_EQ(dropout(x, mask, 0.75).values(), (std::vector<double>{4, 0, 12}));
    EXPECT_EQ(dropout(x, mask, 1).values(), (std::vector<double>{0, 0, 0}));
}

TEST(Dropout, DropsAShareOfAboutPAndTheSameElementsEachTime) {
    const Tensor x = Tensor::full({100, 100}, 1, DType::f32);
    const Tensor y = dropout(x, 0.3, stream, 0);
    // The share of 10,000 draws has a standard deviation of 0.0046. Allows five of them.
    EXPECT_NEAR(sum(y).item() * 0.7 / 10000, 0.7, 0.023);
    EXPECT_EQ(dropout(x, 0.3, stream, 0).values(), y.values());
    EXPECT_NE(dropout(x, 0.3, stream, 10000).values(), y.values());
}

TEST(Dropout, TheMaskGoesByPositionHoweverTheWorkIsSplit) {
    const auto whole = dropout(Tensor::full({64}, 1, DType::f32), 0.5, stream, 0).values();
    const auto tail = dropout(Tensor::full({32}, 1, DType::f32), 0.5, stream, 32).values();
    EXPECT_EQ(std::vector<double>(whole.begin() + 32, whole.end()), tail);
}

TEST(Dropout, RefusesAProbabilityOutsideZeroToOne) {
    const Tensor x = Tensor::full({2}, 1, DType::f32);
    EXPECT_THROW(dropout(x, -0.1, stream, 0), Error);
    EXPECT_THROW(dropout(x, 1.1, stream, 0), Error);
    EXPECT_THROW(dropout(x, Tensor::full({3}, 1, DType::boolean), 0.5), Error);
}

}  // namespace
}  // namespace engine
