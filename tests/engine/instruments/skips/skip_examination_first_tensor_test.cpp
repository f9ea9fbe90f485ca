#include "instruments/skips/skip_examination.h"

#include <gtest/gtest.h>

#include "capsule_support.h"

namespace engine {
namespace {

using test::capsule_after;
using test::small_run;

TEST(FirstTensorHistograms, OfAScaleThatIsTooLargeAreShiftedByTheScales) {
    RunConfig config = small_run("lenet", "amp-fp16");
    config.scaler.init_scale = 0x1p24;
    const SkipReport report = examine_step(capsule_after(config, 0));
    ASSERT_TRUE(report.first && report.histograms);
    const TensorHistograms& found = *report.histograms;
    EXPECT_EQ(found.scale, 0x1p24);
    EXPECT_EQ(found.other_scale, report.passing_scale);
    EXPECT_FALSE(found.in_f32);
    EXPECT_EQ(found.before.total(), report.first->total);
    EXPECT_EQ(found.before.infinite, report.first->infinite);
    EXPECT_EQ(found.before.nan, report.first->nan);
    EXPECT_EQ(found.after.total(), report.first->total);
    EXPECT_EQ(found.after.non_finite(), 0);
    EXPECT_LE(*largest_exponent(found.after), 15);
}

TEST(FirstTensorHistograms, OfAForwardFaultTheOtherIsInFP32) {
    RunConfig config = small_run("mlp", "amp-fp16");
    config.teach.plant = {PlantKind::exp_12, 1, ""};
    const SkipReport report = examine_step(capsule_after(config, 0));
    ASSERT_EQ(report.cause, SkipCause::forward_overflow);
    ASSERT_TRUE(report.histograms);
    EXPECT_TRUE(report.histograms->in_f32);
    EXPECT_EQ(report.histograms->before.infinite, report.first->infinite);
}

TEST(FirstTensorHistograms, OfAFiniteStepThereAreNone) {
    EXPECT_FALSE(examine_step(capsule_after(small_run("lenet", "amp-bf16"), 1)).histograms);
}

}  // namespace
}  // namespace engine
