#include "ops/detection/boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "amp/autocast.h"
#include "drawn.h"
#include "kernels/select_boxes.h"
#include "support/expectations.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Values = std::vector<double>;

const Values rpn{1, 1, 1, 1}, head{10, 10, 5, 5};

TEST(BoxIou, IsTorchvisionsAlsoWithoutArea) {
    Values a = draw_boxes(10, 12, 40, 0, 30).values(), b = draw_boxes(12, 17, 40, 0, 30).values();
    std::copy_n(a.begin() + 12, 2, a.begin() + 14);
    b[23] = b[21];
    expect_same(box_iou(Tensor::of(a, {12, 4}), Tensor::of(b, {17, 4})).values(),
                golden("box_iou"));
}

TEST(BoxIou, OfTwoPointsIsNotANumberAndOfNoBoxesIsEmpty) {
    const Tensor point = Tensor::of({3, 3, 3, 3}, {1, 4}), none = Tensor::zeros({0, 4}, DType::f32);
    EXPECT_TRUE(std::isnan(box_iou(point, point).item()));
    EXPECT_EQ(box_iou(none, point).shape(), (Shape{0, 1}));
    message_of(ErrorCode::shape, [&] { box_iou(Tensor::zeros({2, 5}, DType::f32), point); });
}

TEST(BoxIou, ComputesInF32WhereAreasLeaveFp16) {
    const Tensor wide = Tensor::of({0, 0, 1000, 1000, 0, 0, 1000, 500}, {2, 4}, DType::f16);
    EXPECT_EQ(box_iou(wide, wide).values(), (Values{1, 0.5, 0.5, 1}));
    const AutocastRegion region(here, true, DType::f16);
    const auto inside = region.enter();
    EXPECT_EQ(box_iou(wide, wide).dtype(), DType::f32);
}

/// Six units in the last place of the result's largest operand.
void expect_near(const Values& got, const Values& wanted, const Values& operands) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_LE(std::abs(got[i] - wanted[i]), 6 * 0x1p-23 * operands[i]) << i;
}

TEST(BoxCoder, EncodesAsTorchvision) {
    const Tensor boxes = draw_boxes(20, 64, 200, 1, 150), around = draw_boxes(22, 64, 200, 1, 150);
    const Values b = boxes.values(), a = around.values();
    for (const auto& [name, weights] : {std::pair("rpn", rpn), std::pair("head", head)}) {
        const Values wanted = golden(std::string("box_encode.") + name);
        Values operands;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const std::size_t axis = i % 2, row = i / 4 * 4;
            const double side = a[row + 2 + axis] - a[row + axis];
            const double most = std::max(a[row + 2 + axis], b[row + 2 + axis]);
            // A side is a difference of edges, so its error is one of the edges' units.
            const double other = b[row + 2 + axis] - b[row + axis];
            operands.push_back(weights[i % 4] *
                               (i % 4 < 2 ? most / side + std::abs(wanted[i]) / weights[i % 4]
                                          : 1 + most / side + most / other));
        }
        expect_near(box_encode(boxes, around, weights).values(), wanted, operands);
    }
}

TEST(BoxCoder, DecodesAsTorchvisionWithSidesThatAreCut) {
    const Tensor around = draw_boxes(22, 64, 200, 1, 150);
    const Values a = around.values();
    for (const auto& [name, weights] : {std::pair("rpn", rpn), std::pair("head", head)}) {
        Values deltas = draw(24, {64, 12}, -4, 4).values();
        bool cut = false;
        for (std::size_t i = 0; i < deltas.size(); ++i) {
            const auto scaled = static_cast<float>(deltas[i]) * static_cast<float>(weights[i % 4]);
            deltas[i] = scaled * (i % 4 < 2 ? 1.0f : 1.5f);
            cut = cut || (i % 4 > 1 && deltas[i] / weights[i % 4] > kernels::max_log_side);
        }
        EXPECT_TRUE(cut);
        const Values wanted = golden(std::string("box_decode.") + name);
        Values operands;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const std::size_t axis = i % 2, row = i / 12 * 4, box = i / 4 * 4;
            const double side = a[row + 2 + axis] - a[row + axis];
            operands.push_back(std::abs(wanted[box + axis]) + std::abs(wanted[box + 2 + axis]) +
                               4 * side + a[row + 2 + axis]);
        }
        const Tensor made = box_decode(Tensor::of(deltas, {64, 12}), around, weights);
        EXPECT_EQ(made.shape(), (Shape{64, 12}));
        expect_near(made.values(), wanted, operands);
    }
}

TEST(BoxCoder, DecodesWhatItHasEncoded) {
    const Tensor boxes = draw_boxes(20, 64, 200, 1, 150), around = draw_boxes(22, 64, 200, 20, 150);
    const Values back = box_decode(box_encode(boxes, around, head), around, head).values(),
                 b = boxes.values();
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(back[i], b[i], 350 * 24 * 0x1p-24) << i;
}

TEST(BoxCoder, CastsDeltasToF32First) {
    const Tensor around = Tensor::of({1000, 1000, 1001, 1001}, {1, 4});
    const Tensor deltas = Tensor::zeros({1, 4}, DType::bf16);
    const AutocastRegion region(here, true, DType::bf16);
    const auto inside = region.enter();
    EXPECT_EQ(box_decode(deltas, around, rpn).values(), (Values{1000, 1000, 1001, 1001}));
    message_of(ErrorCode::value, [&] { box_decode(deltas, around, {1, 1}); });
    message_of(ErrorCode::shape, [&] { box_encode(Tensor::zeros({2, 4}, DType::f32), around, rpn); });
}

}  // namespace
}  // namespace engine
