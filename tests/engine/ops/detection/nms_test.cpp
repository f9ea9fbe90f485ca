#include "ops/detection/nms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "drawn.h"
#include "engine/base/error.h"
#include "kernels/parallel.h"
#include "support/expectations.h"

namespace engine {
namespace {

using Values = std::vector<double>;

constexpr double no = std::numeric_limits<double>::quiet_NaN();

Values floored(Values values, double factor) {
    for (double& each : values) each = std::floor(static_cast<float>(each) * factor);
    return values;
}

TEST(Nms, KeepsTorchvisionsBoxes) {
    const struct {
        const char* name;
        std::int64_t count;
        double size, threshold;
    } cases[] = {{"one", 1, 100, 0.5},
                 {"few", 40, 60, 0.5},
                 {"many", 2048, 800, 0.7},
                 {"dense", 600, 120, 0.3}};
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        const std::string name = std::string("nms.") + each.name;
        const std::uint32_t number = golden_number(name);
        const Tensor boxes = draw_boxes(number, each.count, each.size, 8, 64);
        const Tensor scores = draw(number + 2, {each.count});
        EXPECT_EQ(nms(boxes, scores, each.threshold).values(), golden(name));
        EXPECT_EQ(nms(boxes, Tensor::of(floored(scores.values(), 8), {each.count}), each.threshold)
                      .values(),
                  golden(name + ".equal_scores"));
        Values groups;
        for (const double score : scores.values())
            groups.push_back(
                static_cast<double>(static_cast<int>(static_cast<float>(score) * 100.0f) % 5));
        const Tensor group = Tensor::of(groups, {each.count}, DType::i64);
        EXPECT_EQ(batched_nms(boxes, scores, group, each.threshold).values(),
                  golden(name + ".by_group"));
    }
}

TEST(Nms, KeepsABoxWhoseIouIsTheThreshold) {
    const Tensor boxes = Tensor::of({0, 0, 4, 4, 0, 0, 4, 2}, {2, 4});
    const Tensor scores = Tensor::of({1, 0.5}, {2});
    EXPECT_EQ(nms(boxes, scores, 0.5).values(), (Values{0, 1}));
    EXPECT_EQ(nms(boxes, scores, 0.499999).values(), (Values{0}));
}

TEST(Nms, KeepsBoxesThatAreNotNumbersOrHaveNoArea) {
    const Tensor boxes = Tensor::of({0, 0, 4, 4, no, 0, 4, 4, 0, no, 4, 4, 0, 0, 4, no, 2, 2, 2, 2,
                                     2, 2, 2, 2, 4, 4, 0, 0, 0, 0, 4, 4},
                                    {8, 4});
    const Tensor scores = Tensor::of({8, 7, 6, 5, 4, 3, 2, 1}, {8});
    EXPECT_EQ(nms(boxes, scores, 0.5).values(), (Values{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Nms, TakesAScoreThatIsNotANumberFirst) {
    const Tensor boxes = Tensor::of({0, 0, 4, 4, 0, 0, 4, 4, 9, 9, 12, 12}, {3, 4});
    EXPECT_EQ(nms(boxes, Tensor::of({3, no, 5}, {3}), 0.5).values(), (Values{1, 2}));
}

TEST(Nms, TakesNoBoxesAndRefusesOtherShapesAndThresholds) {
    const Tensor none = Tensor::zeros({0, 4}, DType::f32), scores = Tensor::zeros({0}, DType::f32);
    EXPECT_EQ(nms(none, scores, 0.5).shape(), (Shape{0}));
    EXPECT_EQ(batched_nms(none, scores, Tensor::zeros({0}, DType::i64), 0.5).dtype(), DType::i64);
    message_of(ErrorCode::shape, [&] { nms(none, Tensor::zeros({1}, DType::f32), 0.5); });
    message_of(ErrorCode::value, [&] { nms(none, scores, -0.5); });
    message_of(ErrorCode::value, [&] { nms(none, scores, no); });
    message_of(ErrorCode::dtype, [&] { batched_nms(none, scores, scores, 0.5); });
}

TEST(Nms, DoesNotDependOnTheThreads) {
    const Tensor boxes = draw_boxes(7, 3000, 300, 8, 64), scores = draw(9, {3000});
    const Tensor groups = Tensor::of(floored(draw(6, {3000}).values(), 6), {3000}, DType::i64);
    const int before = kernels::cpu::threads();
    const Values expected = batched_nms(boxes, scores, groups, 0.5).values();
    for (const int count : {1, 2, 4}) {
        kernels::cpu::set_threads(count);
        EXPECT_EQ(batched_nms(boxes, scores, groups, 0.5).values(), expected);
    }
    kernels::cpu::set_threads(before);
}

}  // namespace
}  // namespace engine
