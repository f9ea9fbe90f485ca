#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/verdict/lint.h"
#include "finding_ids.h"
#include "support/device_support.h"
#include "temp_folder.h"
#include "train/run/advice.h"

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

/// A table of three numbers of this size and a class.
RunConfig table_run(const std::string& preset, double size, const std::vector<std::string>& more,
                    const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "table.csv";
    std::ofstream out(file);
    out << "a,b,c,y\n";
    for (int i = 0; i < 60; ++i)
        out << size * ((i * 7) % 10 + 1) / 10 << ',' << -size * ((i * 3) % 7) / 7 << ',' << size << ','
            << (i % 3 == 0 ? "yes" : "no") << '\n';
    out.close();
    RunConfig config = spirals(preset, {});
    std::vector<std::string> set = {"dataset.kind=csv", "dataset.path=" + file.string(),
                                    "dataset.train_limit=0"};
    set.insert(set.end(), more.begin(), more.end());
    return parse_run_config(to_json(config), set).config;
}

TEST(LintMeasured, InputsBeyondFp16AndTheSettingThatBringsThemBack) {
    const test_support::TempFolder folder;
    const RunConfig config =
        table_run("amp-fp16", 1e8, {"dataset.standardize=false"}, folder.path());
    const auto findings = lint_measured(config);
    ASSERT_THAT(ids(findings), testing::ElementsAre("inputs-beyond-fp16"));
    EXPECT_THAT(findings.front().sentence.str(), testing::HasSubstr("1e+08"));
    EXPECT_THAT(findings.front().reason.str(), testing::HasSubstr("Bring the inputs into"));
    const ParsedConfig mended = with_fix(config, findings.front());
    ASSERT_THAT(mended.errors, IsEmpty());
    EXPECT_THAT(lint_measured(mended.config), IsEmpty());
    EXPECT_THAT(ids(lint_measured(table_run("fp32", 1e3, {"dataset.standardize=false",
                                                          "optimizer.lr=1e-9"},
                                            folder.path()))),
                IsEmpty());
}

TEST(LintMeasured, ActivationsBeyondFp16) {
    const test_support::TempFolder folder;
    // Each input fits. Some of 512 sums of three of them times weights of up to 0.58 do not.
    for (const char* preset : {"amp-fp16", "o2-fp16"}) {
        const RunConfig config =
            table_run(preset, 6e4, {"dataset.standardize=false", "model.options.hidden=[512]"},
                      folder.path());
        const auto findings = lint_measured(config);
        ASSERT_THAT(ids(findings), testing::ElementsAre("activations-beyond-fp16")) << preset;
        EXPECT_EQ(findings.front().severity, LintSeverity::error);
        EXPECT_EQ(findings.front().reason.str(), forward_overflow_advice().str());
        const ParsedConfig mended = with_fix(config, findings.front());
        ASSERT_THAT(mended.errors, IsEmpty());
        EXPECT_THAT(ids(lint_measured(mended.config)),
                    testing::Not(testing::Contains("activations-beyond-fp16")));
    }
}

TEST(LintMeasured, AdvisesInTheWordsThatOtherPlacesUse) {
    const auto reason_of = [](const RunConfig& config) {
        const auto findings = lint_measured(config);
        return findings.empty() ? std::string() : findings.front().reason.text;
    };
    EXPECT_THAT(reason_of(spirals("amp-fp16", {"precision.scaler=static",
                                               "scaler.init_scale=1073741824"})),
                testing::EndsWith(" " + static_scale_advice("1").text));
    EXPECT_THAT(reason_of(spirals("pure-fp16", {"optimizer.lr=1e-6"})),
                testing::EndsWith(" Master weights in fp32 would keep them."));
    const RunConfig fast = spirals("fp32", {"optimizer.kind=sgd", "optimizer.lr=300"});
    EXPECT_EQ(reason_of(fast), divergence_advice(fast).text);
}

TEST(LintMeasured, IsQuickForSmallModelsAlone) {
    EXPECT_TRUE(is_quick_to_measure(spirals("fp32", {})));
    const auto quick = [](const std::string& model) {
        const RunConfig config = test::small_run(model, "fp32");
        EXPECT_THAT(validate(config), IsEmpty());
        return is_quick_to_measure(parse_run_config(to_json(config), {"batch_size=64"}).config);
    };
    EXPECT_TRUE(quick("lenet"));
    EXPECT_FALSE(quick("resnet18"));
    RunConfig refused = spirals("fp32", {});
    refused.batch_size = 0;
    EXPECT_FALSE(is_quick_to_measure(refused));
    RunConfig many = spirals("fp32", {});
    many.batch_size = 1 << 20;
    EXPECT_FALSE(is_quick_to_measure(many));
}

TEST(LintMeasured, ALossThatGrowsTenfold) {
    const RunConfig config = spirals("fp32", {"optimizer.kind=sgd", "optimizer.lr=300",
                                              "schedule.kind=constant"});
    const auto findings = lint_measured(config);
    ASSERT_THAT(ids(findings), testing::ElementsAre("loss-grows-tenfold"));
    const ParsedConfig mended = with_fix(config, findings.front());
    ASSERT_THAT(mended.errors, IsEmpty());
    EXPECT_THAT(lint_measured(mended.config), IsEmpty()) << findings.front().fix.front();
    EXPECT_THAT(findings.front().reason.str(), testing::HasSubstr("Lower optimizer.lr"));
}

TEST(LintMeasured, CitesHeadingsOfTheHandbook) {
    std::ifstream file(std::string(HALFTONE_HANDBOOK) + "/hazards.md");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (const char* heading : {"## The first step is finite\n", "## The loss falls in the first steps\n"})
        EXPECT_THAT(text, testing::HasSubstr(heading));
}

}  // namespace
}  // namespace engine
