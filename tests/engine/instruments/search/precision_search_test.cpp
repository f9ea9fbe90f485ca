#include "engine/instruments/precision_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "step_support.h"

namespace engine {
namespace {

using test::small_run;
using testing::HasSubstr;

FoundPrecision found_for(const RunConfig& config, std::optional<double> tolerance = {}) {
    PrecisionSearchOptions options;
    options.tolerance = tolerance;
    options.confirm_steps = 0;
    return search_precision(capture_first_step(config), options);
}

TEST(PrecisionSearch, AllowsTheUsualToleranceWhereRoundingMovesGradientsLittle) {
    const FoundPrecision found = found_for(test::small_text_run("fp32"));
    EXPECT_GT(found.amp_error, 0);
    EXPECT_LT(found.amp_error, PrecisionSearchOptions::usual_tolerance / 2);
    EXPECT_EQ(found.tolerance, PrecisionSearchOptions::usual_tolerance);
    EXPECT_LE(found.error, found.tolerance);
    const auto json = nlohmann::json::parse(to_json(found));
    EXPECT_EQ(json.at("amp_error"), found.amp_error);
    EXPECT_THAT(text_of(found), HasSubstr("amp-fp16 by itself: "));
}

TEST(PrecisionSearch, KeepsAToleranceThatIsGiven) {
    EXPECT_EQ(found_for(test::small_text_run("fp32"), 0.2).tolerance, 0.2);
}

/// With batch norms over few values, any rounding changes the gradients a lot. A tolerance below
/// the error of amp-fp16 itself would keep most of the network in FP32.
TEST(PrecisionSearch, AllowsAQuarterMoreThanAmpHasByItself) {
    RunConfig config = small_run("mobilenetv2", "fp32");
    config.model.options["stem"] = "imagenet";
    config.batch_size = 4;
    const FoundPrecision found = found_for(completed(config));
    EXPECT_GT(found.amp_error, PrecisionSearchOptions::usual_tolerance);
    EXPECT_DOUBLE_EQ(found.tolerance, 1.25 * found.amp_error);
    EXPECT_LE(found.error, found.tolerance);
}

}  // namespace
}  // namespace engine
