#include "ops/detection/match_boxes.h"

#include <gtest/gtest.h>

#include "drawn.h"
#include "engine/base/error.h"
#include "kernels/parallel.h"
#include "support/expectations.h"

namespace engine {
namespace {

using Values = std::vector<double>;

Tensor one_picture(const Tensor& boxes) { return reshape(boxes, {1, boxes.size(0), 4}); }

TEST(MatchBoxes, IsTorchvisionsMatcher) {
    const struct {
        const char* name;
        std::int64_t count;
        MatchOptions options;
    } cases[] = {{"one", 1, {0.7, 0.3, true}},
                 {"few", 5, {0.7, 0.3, true}},
                 {"many", 12, {0.6, 0.2, true}},
                 {"rois", 5, {0.5, 0.5, false}}};
    const int before = kernels::cpu::threads();
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        const std::string name = std::string("match.") + each.name;
        const std::uint32_t number = golden_number(name);
        const Tensor boxes = draw_boxes(number, each.count, 100, 8, 60),
                     candidates = draw_boxes(number + 2, 700, 110, 8, 60);
        for (const int threads : {1, 3}) {
            kernels::cpu::set_threads(threads);
            EXPECT_EQ(match_boxes(one_picture(boxes), candidates, each.options).values(),
                      golden(name));
        }
    }
    kernels::cpu::set_threads(before);
}

TEST(MatchBoxes, GivesEachPictureItsOwnBoxesAndCandidates) {
    const Tensor boxes = Tensor::of({0, 0, 4, 4, 0, 0, 0, 0, 8, 8, 12, 12, 0, 0, 4, 4}, {2, 2, 4});
    const Tensor shared = Tensor::of({0, 0, 4, 4, 8, 8, 12, 12}, {2, 4});
    EXPECT_EQ(match_boxes(boxes, shared).values(), (Values{0, -1, 1, 0}));
    const Tensor own = Tensor::of({0, 0, 4, 4, 8, 8, 12, 12, 8, 8, 12, 12, 0, 0, 4, 4}, {2, 2, 4});
    EXPECT_EQ(match_boxes(boxes, own).values(), (Values{0, -1, 0, 1}));
}

TEST(MatchBoxes, TakesTheFirstOfEqualBoxes) {
    const Tensor boxes = Tensor::of({0, 0, 4, 4, 0, 0, 4, 4}, {1, 2, 4});
    EXPECT_EQ(match_boxes(boxes, Tensor::of({0, 0, 4, 4}, {1, 4})).values(), (Values{0}));
}

TEST(MatchBoxes, OfLowQualityTakeAllTiesAndEachCandidatesOwnBestBox) {
    // IoU 4 / 16 for two candidates of the first box; the second has its best with one of them,
    // whose own best box is the first.
    const Tensor boxes = Tensor::of({0, 0, 4, 4, 1, 0, 9, 1}, {1, 2, 4});
    const Tensor candidates = Tensor::of({0, 0, 2, 2, 2, 0, 4, 2, 20, 20, 24, 24}, {3, 4});
    EXPECT_EQ(match_boxes(boxes, candidates).values(), (Values{0, 0, -1}));
    EXPECT_EQ(match_boxes(boxes, candidates, {0.7, 0.3, false}).values(), (Values{-1, -1, -1}));
    EXPECT_EQ(match_boxes(boxes, candidates, {0.7, 0.2, false}).values(), (Values{-2, -2, -1}));
}

TEST(MatchBoxes, GivesEmptySlotsNothingAndNoBoxesTheBackground) {
    const Tensor candidates = Tensor::of({0, 0, 4, 4, 0, 0, 0, 0, 4, 4, 0, 0}, {3, 4});
    EXPECT_EQ(match_boxes(Tensor::zeros({1, 0, 4}, DType::f32), candidates).values(),
              (Values{-1, -2, -2}));
    EXPECT_EQ(match_boxes(Tensor::zeros({1, 3, 4}, DType::f32), candidates).values(),
              (Values{-1, -2, -2}));
    EXPECT_EQ(match_boxes(Tensor::zeros({2, 3, 4}, DType::f32), Tensor::zeros({0, 4}, DType::f32))
                  .shape(),
              (Shape{2, 0}));
    message_of(ErrorCode::shape, [&] { match_boxes(candidates, candidates); });
    message_of(ErrorCode::value, [&] {
        match_boxes(Tensor::zeros({1, 3, 4}, DType::f32), candidates, {2, 0.3, true});
    });
}

}  // namespace
}  // namespace engine
