#include "ops/detection/select_boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "drawn.h"
#include "engine/base/error.h"
#include "kernels/parallel.h"
#include "ops/detection/anchors.h"
#include "support/expectations.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Values = std::vector<double>;

const Tensor pictures() { return Tensor::of({120, 150, 128, 90}, {2, 2}, DType::i64); }

/// Rows of anchors as the map that a convolution makes.
Tensor as_map(const Tensor& rows, std::int64_t h, std::int64_t w) {
    return permute(reshape(rows, {2, h, w, rows.numel() / (2 * h * w)}), {0, 3, 1, 2});
}

TEST(SelectProposals, AreTorchvisions) {
    const std::int64_t grids[][2] = {{16, 20}, {8, 10}, {4, 5}};
    const std::uint32_t number = golden_number("proposals");
    TensorList logits, deltas;
    for (std::uint32_t i = 0; i < 3; ++i) {
        const std::int64_t h = grids[i][0], w = grids[i][1];
        logits.push_back(as_map(draw(number + 2 * i, {2, h * w * 3, 1}, -4, 4), h, w));
        deltas.push_back(as_map(draw(number + 2 * i + 1, {2, h * w * 3, 4}, -1, 1), h, w));
    }
    const Tensor around = anchors(logits, {128, 160}, {16, 32, 64});
    const int before = kernels::cpu::threads();
    for (const int threads : {1, 4}) {
        kernels::cpu::set_threads(threads);
        const TensorList made = select_proposals(logits, deltas, around, pictures(), {100, 60});
        const Values counts = made[1].values(), boxes = made[0].values(), wanted = golden("proposals");
        ASSERT_EQ(counts, golden("proposals.counts"));
        std::size_t at = 0;
        for (std::size_t n = 0; n < 2; ++n)
            for (std::size_t i = 0; i < 60 * 4; ++i) {
                const bool filled = i < static_cast<std::size_t>(counts[n]) * 4;
                // Centre and half a side of at most 160 and 90 e pixels, rounded four times.
                EXPECT_NEAR(boxes[n * 240 + i], filled ? wanted[at] : 0, 4 * 405 * 0x1p-24) << i;
                at += filled;
            }
        EXPECT_EQ(at, wanted.size());
    }
    kernels::cpu::set_threads(before);
}

/// One level of 1 x places, with anchors of 2 pixels a side that do not overlap.
TensorList propose(const Values& logits, const ProposalOptions& options,
                        DType dtype = DType::f32) {
    const auto n = static_cast<std::int64_t>(logits.size());
    Values boxes;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto x = static_cast<double>(4 * i);
        boxes.insert(boxes.end(), {x, 0, x + 2, 2});
    }
    return select_proposals({Tensor::of(logits, {1, 1, 1, n}, dtype)},
                            {Tensor::zeros({1, 4, 1, n}, dtype)}, Tensor::of(boxes, {n, 4}),
                            Tensor::of({100, 100}, {1, 2}, DType::i64), options);
}
/// Which anchors they are.
Values chosen(const TensorList& proposals) {
    Values out;
    const Values boxes = proposals[0].values();
    for (std::size_t i = 0; i < static_cast<std::size_t>(proposals[1].item()); ++i)
        out.push_back(boxes[4 * i] / 4);
    return out;
}

TEST(SelectProposals, PutTiesInTheOrderOfTheAnchors) {
    EXPECT_EQ(chosen(propose({1, 3, 1, 3, 1}, {3, 10})), (Values{1, 3, 0}));
    EXPECT_EQ(chosen(propose({1, 3, 1, 3, 1}, {10, 10})), (Values{1, 3, 0, 2, 4}));
    EXPECT_EQ(chosen(propose({1, 3, 1, 3, 1}, {10, 2})), (Values{1, 3}));
    // Equal in fp16 where they differ in f32.
    EXPECT_EQ(chosen(propose({1, 1.0001, 2}, {2, 10}, DType::f16)), (Values{2, 0}));
    // The best are taken by logit; sigmoids that are equal go by rank.
    EXPECT_EQ(chosen(propose({30, 40, 50}, {2, 10})), (Values{2, 1}));
}

TEST(SelectProposals, CountNaNAsTheSmallestAndDropIt) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN(),
                     far = std::numeric_limits<double>::infinity();
    EXPECT_EQ(chosen(propose({none, 1, -far, 2}, {3, 10})), (Values{3, 1}));
    EXPECT_EQ(chosen(propose({1, -far, none, 2}, {3, 10})), (Values{3, 0, 1}));
    EXPECT_EQ(chosen(propose({none, none}, {3, 10})), (Values{}));
    EXPECT_EQ(chosen(propose({1, 2}, {0, 10})), (Values{}));
}

TEST(SelectProposals, DropBoxesOutsideThePicture) {
    // The 26th anchor begins at pixel 100.
    EXPECT_EQ(chosen(propose(Values(26, 1.0), {100, 100})).size(), 25u);
    message_of(ErrorCode::value, [&] { propose({1, 2}, {-1, 10}); });
    message_of(ErrorCode::value, [&] { propose({1, 2}, {1, 10, 2.0}); });
    message_of(ErrorCode::shape, [&] {
        select_proposals({Tensor::zeros({1, 1, 1, 2}, DType::f32)},
                         {Tensor::zeros({1, 4, 1, 2}, DType::f32)}, Tensor::zeros({3, 4}, DType::f32),
                         Tensor::of({100, 100}, {1, 2}, DType::i64));
    });
}

struct HeadInputs {
    Tensor logits, deltas, rois;
};
HeadInputs head_inputs(std::uint32_t number) {
    const Values boxes = draw_boxes(number, 70, 100, 8, 60).values();
    Values rois;
    for (std::size_t k = 0; k < 70; ++k) {
        rois.push_back(k < 40 ? 0 : 1);
        rois.insert(rois.end(), boxes.begin() + static_cast<std::ptrdiff_t>(4 * k),
                    boxes.begin() + static_cast<std::ptrdiff_t>(4 * k + 4));
    }
    return {draw(number + 2, {70, 7}, -3, 3), draw(number + 3, {70, 28}, -3, 3),
            Tensor::of(rois, {70, 5})};
}

TEST(SelectDetections, AreTorchvisions) {
    const struct {
        const char* name;
        DetectionOptions options;
    } cases[] = {{"all", {0.05, 0.5, 400}}, {"cut", {0.2, 0.5, 15}}};
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        const std::string name = std::string("detections.") + each.name;
        const HeadInputs in = head_inputs(golden_number(name));
        const TensorList made =
            select_detections(in.logits, in.deltas, in.rois, pictures(), each.options);
        const Values counts = made[1].values(), rows = made[0].values();
        ASSERT_EQ(counts, golden(name + ".counts"));
        const Values boxes = golden(name + ".boxes"), scores = golden(name + ".scores"),
                     labels = golden(name + ".labels");
        std::size_t at = 0;
        const auto most = static_cast<std::size_t>(each.options.detections);
        for (std::size_t n = 0; n < 2; ++n)
            for (std::size_t i = 0; i < most; ++i) {
                const double* row = rows.data() + (n * most + i) * 6;
                if (i >= static_cast<std::size_t>(counts[n])) {
                    EXPECT_EQ(Values(row, row + 6), Values(6, 0.0));
                    continue;
                }
                for (std::size_t c = 0; c < 4; ++c)
                    EXPECT_NEAR(row[c], boxes[4 * at + c], 4 * 350 * 0x1p-24);
                EXPECT_NEAR(row[4], scores[at], 8 * 0x1p-24);
                EXPECT_EQ(row[5], labels[at]);
                ++at;
            }
        EXPECT_EQ(at, scores.size());
    }
}

TEST(SelectDetections, LeaveOutEmptySlotsAndGiveNoneForNoRois) {
    HeadInputs in = head_inputs(9);
    Values rois = in.rois.values();
    for (std::size_t k = 0; k < 70; ++k) rois[5 * k] = k % 2 == 0 ? -1 : 2;
    EXPECT_EQ(select_detections(in.logits, in.deltas, Tensor::of(rois, {70, 5}), pictures())[1]
                  .values(),
              (Values{0, 0}));
    EXPECT_EQ(select_detections(Tensor::zeros({0, 7}, DType::f32), Tensor::zeros({0, 28}, DType::f32),
                                Tensor::zeros({0, 5}, DType::f32), pictures())[0]
                  .shape(),
              (Shape{2, 100, 6}));
    message_of(ErrorCode::shape, [&] {
        select_detections(in.logits, draw(1, {70, 7}), in.rois, pictures());
    });
}

TEST(SelectDetections, PutTiesInTheOrderOfRoiAndClass) {
    const Tensor logits = Tensor::zeros({2, 3}, DType::f32), deltas = Tensor::zeros({2, 12}, DType::f32);
    const Tensor rois = Tensor::of({0, 0, 0, 10, 10, 0, 50, 50, 60, 60}, {2, 5});
    const Values rows =
        select_detections(logits, deltas, rois, pictures(), {0.05, 0.5, 4})[0].values();
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(rows[6 * i], i < 2 ? 0 : 50);
        EXPECT_EQ(rows[6 * i + 5], static_cast<double>(i % 2 + 1));
    }
}

}  // namespace
}  // namespace engine
