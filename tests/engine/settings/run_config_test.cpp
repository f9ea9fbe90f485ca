#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/settings/command_line.h"
#include "engine/settings/run_config.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RunConfig, DefaultsAreTheDocumentedOnes) {
    const RunConfig config;
    EXPECT_EQ(config.dataset.kind, "glyphs");
    EXPECT_EQ(config.model.kind, "lenet");
    EXPECT_EQ(config.precision.preset, "amp-fp16");
    EXPECT_EQ(config.scaler.init_scale, 65536);
    EXPECT_EQ(config.scaler.growth_interval, 2000);
}

TEST(RunConfig, TheDefaultComparisonIsTheDefaultRunWithTheClassroomScaler) {
    EXPECT_THAT(differing_fields(default_comparison(), RunConfig{}),
                ElementsAre("scaler.growth_interval", "scaler.preset"));
    EXPECT_EQ(parse_run_config(R"({"scaler": {"preset": "classroom"}})").config,
              default_comparison());
}

TEST(RunConfig, HistogramsAreKeptAutomaticallyWhereTheSettingsSaySo) {
    EXPECT_EQ(RunConfig{}.instruments.histograms_every, HistogramInterval(0));
    const std::vector<std::string> given{"instruments.histograms_every=auto"};
    const ParsedConfig parsed = parse_run_config("{}", given);
    ASSERT_THAT(parsed.errors, IsEmpty());
    EXPECT_EQ(parsed.config.instruments.histograms_every, automatic_histograms);
    EXPECT_EQ(parse_run_config(to_json(parsed.config)).config, parsed.config);
    EXPECT_EQ(to_overrides(parsed.config), given);
    for (const char* refused : {"instruments.histograms_every=often",
                                "instruments.histograms_every=-1"})
        EXPECT_EQ(parse_run_config("{}", {refused}).errors.size(), 1U) << refused;
}

TEST(RunConfig, ResolveGivesThePresetsFiveSettings) {
    const auto amp = resolve({"amp-fp16", {}, {}, {}, {}, {}});
    EXPECT_EQ(amp.weights, WeightFormat::fp32);
    EXPECT_EQ(amp.autocast, AutocastFormat::fp16);
    EXPECT_EQ(amp.batch_norm, WeightFormat::fp32);
    EXPECT_FALSE(amp.master_weights);
    EXPECT_EQ(amp.scaler, ScalerMode::dynamic);
    EXPECT_EQ(resolve({"amp-bf16", {}, {}, {}, {}, {}}).scaler, ScalerMode::off);
    EXPECT_EQ(resolve({"pure-fp16", {}, {}, {}, {}, {}}).batch_norm, WeightFormat::fp16);
    EXPECT_EQ(resolve({"fp32", {}, {}, {}, {}, {}}).autocast, AutocastFormat::off);
    const auto o2 = resolve({"o2-fp16", {}, {}, {}, {}, {}});
    EXPECT_EQ(o2.weights, WeightFormat::fp16);
    EXPECT_EQ(o2.autocast, AutocastFormat::off);
    EXPECT_EQ(o2.batch_norm, WeightFormat::fp32);
    EXPECT_TRUE(o2.master_weights);
    EXPECT_EQ(o2.scaler, ScalerMode::dynamic);
}

TEST(RunConfig, ResolveTakesTheOverrides) {
    PrecisionConfig precision{"fp32", WeightFormat::fp16,  AutocastFormat::bf16, WeightFormat::fp16,
                              true,   ScalerMode::constant};
    const auto resolved = resolve(precision);
    EXPECT_EQ(resolved.weights, WeightFormat::fp16);
    EXPECT_EQ(resolved.autocast, AutocastFormat::bf16);
    EXPECT_EQ(resolved.batch_norm, WeightFormat::fp16);
    EXPECT_TRUE(resolved.master_weights);
    EXPECT_EQ(resolved.scaler, ScalerMode::constant);
}

TEST(RunConfig, ResolveRefusesAnUnknownPreset) {
    EXPECT_THROW(resolve({"fp8", {}, {}, {}, {}, {}}), Error);
}

TEST(RunConfig, AnOverrideThatIsNotSetHasNoText) {
    RunConfig config;
    EXPECT_EQ(setting_text(config, "precision.weights"), "");
    EXPECT_EQ(setting_text(config, "precision.master_weights"), "");
    config.precision.master_weights = false;
    EXPECT_EQ(setting_text(config, "precision.master_weights"), "false");
}

TEST(RunConfig, DifferingFieldsNamesEachByItsPath) {
    RunConfig a;
    RunConfig b;
    EXPECT_THAT(differing_fields(a, b), IsEmpty());
    b.optimizer.options["lr"] = 0.1;
    b.precision.scaler = ScalerMode::off;
    b.model.options["hidden"] = std::vector<std::int64_t>{8};
    b.dataset.path = {"x", "y"};
    const auto fields = testing::UnorderedElementsAre("optimizer.lr", "precision.scaler",
                                                      "model.options.hidden", "dataset.path");
    EXPECT_THAT(differing_fields(a, b), fields);
    EXPECT_THAT(differing_fields(b, a), fields);
}

}  // namespace
}  // namespace engine
