#include "models/anchor_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/detection/anchors.h"
#include "ops/detection/boxes.h"
#include "tensor/philox.h"

namespace engine {
namespace {

/// A box of the canvas, by the words of a stream.
BoxPreview drawn_box(std::uint64_t number, const std::array<std::int64_t, 2>& canvas) {
    const PhiloxBlock words = RandomStream(1, StreamId::task, 0).block(number);
    const auto at = [&](std::size_t word, std::int64_t bound) {
        return static_cast<float>(
            RandomStream::to_bounded(words[word], static_cast<std::uint32_t>(bound)));
    };
    const float x = at(0, canvas[1]), y = at(1, canvas[0]);
    return {.corners = {x, y, x + 1 + at(2, 90), y + 1 + at(3, 60)}, .canvas = canvas};
}

TEST(AnchorFit, FindsTheBoxesThatNoAnchorOfAllOverlaps) {
    for (const std::array<std::int64_t, 2>& canvas : {std::array<std::int64_t, 2>{160, 224}, {64, 96}}) {
        const std::vector<std::int64_t> sizes{16, 32, 64, 128, 256};
        TensorList maps;
        for (std::int64_t stride : {4, 8, 16, 32})
            maps.push_back(Tensor::zeros({1, 1, canvas[0] / stride, canvas[1] / stride}, DType::f32));
        maps.push_back(Tensor::zeros({1, 1, (canvas[0] / 32 + 1) / 2, (canvas[1] / 32 + 1) / 2}, DType::f32));
        const Tensor all = anchors(maps, canvas, {sizes.begin(), sizes.end()});
        int missed = 0;
        for (std::uint64_t i = 0; i < 60; ++i) {
            const BoxPreview box = drawn_box(i, canvas);
            const Tensor corners = Tensor::of({box.corners.begin(), box.corners.end()}, {1, 4},
                                              DType::f32, Device{});
            const std::vector<double> overlaps = box_iou(corners, all).values();
            const bool is_missed = std::ranges::max(overlaps) < 0.3;
            missed += is_missed;
            EXPECT_EQ(share_without_anchor({&box, 1}, sizes), is_missed ? 1 : 0) << i;
        }
        EXPECT_GT(missed, 5);
        EXPECT_LT(missed, 55);
    }
}

TEST(AnchorFit, ProposesSizesThatFitTheBoxes) {
    std::vector<BoxPreview> boxes;
    for (float i = 0; i < 20; ++i)
        boxes.push_back({.corners = {10 * i, 8, 10 * i + 5, 13}, .canvas = {320, 320}});
    EXPECT_EQ(share_without_anchor(boxes, {32, 64, 128, 256, 512}), 1);
    const std::vector<std::int64_t> fitting = fitting_anchor_sizes(boxes);
    EXPECT_EQ(fitting.size(), 5u);
    EXPECT_LT(share_without_anchor(boxes, fitting), 0.1);
    EXPECT_EQ(share_without_anchor({}, {32, 64, 128, 256, 512}), 0);
}

}  // namespace
}  // namespace engine
