#include "data/detection/detection_truth.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

const MaskPolygons square = {{10, 10, 30, 10, 30, 20, 10, 20}};

TEST(DetectionTruth, PolygonsAndRunsAreTheSameMask) {
    const RunLength runs = mask_runs(square, 40, 40);
    EXPECT_EQ(mask_area(runs), 200);
    EXPECT_EQ(mask_runs(runs, 40, 40), runs);
    EXPECT_EQ(mask_runs({}, 3, 2).counts, (std::vector<std::uint32_t>{6}));
}

TEST(DetectionTruth, TheAreaIsTheMasksOrTheBoxs) {
    DetectionTruth::Annotation annotation{.box = {10, 10, 20, 11.5}};
    EXPECT_EQ(measured_area(annotation, 40, 40), 230);
    annotation.mask = square;
    EXPECT_EQ(measured_area(annotation, 40, 40), 200);
}

}  // namespace
}  // namespace engine
