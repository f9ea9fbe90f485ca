#include "ops/detection/gather_anchors.h"

#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "support/expectations.h"

namespace engine {
namespace {

using Values = std::vector<double>;

/// (2, 6, h, w) channels last whose value is 1000 level + its place in memory.
Tensor numbered(int level, std::int64_t h, std::int64_t w) {
    Values values;
    for (std::int64_t i = 0; i < 2 * h * w * 6; ++i)
        values.push_back(static_cast<double>(1000 * level + i));
    return permute(Tensor::of(values, {2, h, w, 6}), {0, 3, 1, 2});
}

TEST(GatherAnchors, ReadsChannelsByPictureLevelPlaceAndGroup) {
    const TensorList maps{numbered(1, 2, 2), numbered(2, 1, 1)};  // 12 + 3 anchors a picture
    const Tensor index = Tensor::of({0, 5, 12, -1, 16, 29}, {6}, DType::i64);
    EXPECT_EQ(gather_anchors(maps, index, 3).values(),
              (Values{1000, 1001, 1010, 1011, 2000, 2001, 0, 0, 1026, 1027, 2010, 2011}));
    EXPECT_EQ(gather_anchors(maps, index, 6).shape(), (Shape{6, 1}));
}

TEST(GatherAnchors, ReadsChannelsOfAWiderMap) {
    const Tensor map = numbered(0, 1, 2);
    const Tensor index = Tensor::of({3, 0}, {2}, DType::i64);
    EXPECT_EQ(gather_anchors({narrow(map, 1, 2, 3)}, index, 3).values(), (Values{8, 2}));
}

TEST(GatherAnchors, PutsItsGradientWhereItHasRead) {
    TensorList maps{numbered(1, 1, 2), numbered(2, 1, 1)};
    for (Tensor& map : maps) map.set_requires_grad(true);
    const Tensor y = gather_anchors(maps, Tensor::of({1, 8, -1}, {3}, DType::i64), 3);
    backward({&y, 1}, std::vector{Tensor::of({1, 2, 3, 4, 5, 6}, {3, 2})});
    Values first(24, 0), second(12, 0);
    first[2] = 1, second[4] = 3;   // by memory: (2, h, w, 6)
    first[3] = 2, second[5] = 4;
    EXPECT_EQ(permute(maps[0].grad(), {0, 2, 3, 1}).values(), first);
    EXPECT_EQ(permute(maps[1].grad(), {0, 2, 3, 1}).values(), second);
}

TEST(GatherAnchors, RefusesAnchorsThatAreNotThere) {
    const TensorList maps{numbered(1, 1, 2)};
    const auto at = [&](double number) {
        return gather_anchors(maps, Tensor::of({number}, {1}, DType::i64), 3).values();
    };
    EXPECT_EQ(at(11), (Values{1022, 1023}));
    EXPECT_NE(message_of(ErrorCode::value, [&] { at(12); }).find("outside the 12"),
              std::string::npos);
    message_of(ErrorCode::value, [&] { at(-2); });
    message_of(ErrorCode::shape,
               [&] { gather_anchors(maps, Tensor::of({0}, {1}, DType::i64), 4); });
    message_of(ErrorCode::dtype, [&] { gather_anchors(maps, Tensor::of({0}, {1}), 3); });
}

}  // namespace
}  // namespace engine
