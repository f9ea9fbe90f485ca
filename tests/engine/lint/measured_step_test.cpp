#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lint.h"
#include "finding_ids.h"
#include "support/device_support.h"

namespace engine {
namespace {

using testing::IsEmpty;

RunConfig spirals(const std::string& preset, const std::vector<std::string>& more) {
    RunConfig config = test::small_run("mlp", preset);
    config.dataset.train_limit = 64;
    config.device = "cpu";
    return parse_run_config(to_json(config), more).config;
}

TEST(LintMeasured, AStaticScaleThatOverflowsInTheFirstStepAndTheOneThatFits) {
    const RunConfig config =
        spirals("amp-fp16", {"precision.scaler=static", "scaler.init_scale=1073741824"});
    const auto findings = lint_measured(config);
    ASSERT_THAT(ids(findings), testing::ElementsAre("static-scale-too-large"));
    const ParsedConfig mended = with_fix(config, findings.front());
    ASSERT_THAT(mended.errors, IsEmpty());
    EXPECT_GT(mended.config.scaler.init_scale, 1024) << "the gradients of a small MLP are small";
    EXPECT_THAT(lint_measured(mended.config), IsEmpty());
    RunConfig larger = mended.config;
    larger.scaler.init_scale *= 8;
    EXPECT_THAT(ids(lint_measured(larger)), testing::ElementsAre("static-scale-too-large"))
        << "no more than three bits were left";
}

TEST(LintMeasured, ADynamicScaleFindsItsOwn) {
    EXPECT_THAT(lint_measured(spirals("amp-fp16", {"scaler.init_scale=1073741824"})), IsEmpty());
    EXPECT_THAT(lint_measured(spirals("fp32", {})), IsEmpty());
}

TEST(LintMeasured, UpdatesThatFp16WeightsLose) {
    const RunConfig config = spirals("pure-fp16", {"optimizer.lr=1e-6"});
    const auto findings = lint_measured(config);
    ASSERT_THAT(ids(findings), testing::ElementsAre("updates-lost"));
    EXPECT_THAT(lint_measured(with_fix(config, findings.front()).config), IsEmpty());
}

}  // namespace
}  // namespace engine
