#include "tensor/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;

TEST(ViewOf, ReachesEveryElementOfItsMemory) {
    const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, {6});
    EXPECT_EQ(view_of(x, {2, 3}, {3, 1}, 0).values(), x.values());
    EXPECT_EQ(view_of(x, {2}, {-5}, 5).values(), (std::vector<double>{6, 1}));
    EXPECT_EQ(view_of(x, {2, 0}, {huge, huge}, huge).numel(), 0);  // nothing is read
}

TEST(ViewOf, ThatLeavesItsMemoryIsRefused) {
    const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, {6});
    EXPECT_THROW(view_of(x, {2, 3}, {4, 1}, 0), Error);
    EXPECT_THROW(view_of(x, {6}, {1}, 1), Error);
    EXPECT_THROW(view_of(x, {2}, {-1}, 0), Error);
    EXPECT_THROW(view_of(x, {3}, {huge}, 0), Error);
    EXPECT_THROW(view_of(x, {2, 2}, {huge, huge}, huge), Error);
}

TEST(ViewOf, OfAnImpossibleShapeIsRefused) {
    const Tensor x = Tensor::of({1}, {1});
    EXPECT_THROW(view_of(x, {huge, huge}, {0, 0}, 0), Error);
    EXPECT_THROW(view_of(x, {-1}, {1}, 0), Error);
}

}  // namespace
}  // namespace engine
