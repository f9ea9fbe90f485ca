#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ParsedConfig recipe_config(std::vector<std::string> overrides) {
    overrides.push_back("device=cpu");
    return parse_run_config("{}", overrides);
}

std::string refused_recipe(const std::vector<std::string>& overrides) {
    std::string out;
    for (const SettingError& each : recipe_config(overrides).errors) out += each.str() + '\n';
    return out;
}

TEST(RecipeSettings, AreReadAndWrittenOnlyWhereGiven) {
    const auto plain = recipe_config({"precision.preset=fp8-delayed"});
    EXPECT_EQ(to_json(plain.config).find("quantize"), std::string::npos);
    const auto given = recipe_config({"precision.preset=fp8-delayed", "quantize.history=16",
                                      "quantize.history_algorithm=most-recent", "quantize.margin=3",
                                      "quantize.first_scale=current", "quantize.evaluate=false",
                                      "quantize.last_blocks=2", "quantize.first_blocks=auto",
                                      "quantize.skip=[\"fc1:fprop\", \"fc2:wgrad\"]",
                                      "quantize.high_precision_from=0.9"});
    EXPECT_THAT(given.errors, IsEmpty());
    EXPECT_THAT(given.notes, IsEmpty());
    EXPECT_EQ(given.config.quantize.history, 16);
    EXPECT_EQ(given.config.quantize.history_algorithm, HistoryRule::newest);
    EXPECT_EQ(given.config.quantize.first_blocks, std::nullopt);
    EXPECT_EQ(given.config.quantize.skip.size(), 2u);
    EXPECT_EQ(parse_run_config(to_json(given.config)).config, given.config);
}

TEST(RecipeSettings, ThatNoRecipeHasAreNoted) {
    const auto notes = [](const std::vector<std::string>& overrides) {
        const auto all = recipe_config(overrides);
        EXPECT_THAT(all.errors, IsEmpty());
        std::vector<std::string> out;
        for (const Message& each : all.notes) out.push_back(each.str());
        return out;
    };
    EXPECT_THAT(notes({"precision.preset=fp8-current", "quantize.mx_scale=floor",
                       "quantize.gradient_format=e4m3", "quantize.history=3"}),
                ElementsAre("Ignored, since the recipe does not use them: quantize.history, "
                            "quantize.mx_scale."));
    EXPECT_THAT(notes({"precision.preset=fp8-current", "quantize.mx_scale=floor",
                       "precision.force.fc1=mxfp8"}),
                IsEmpty());
    EXPECT_THAT(notes({"precision.preset=amp-bf16", "quantize.head=true"}),
                ElementsAre(HasSubstr("quantize.head")));
    EXPECT_THAT(notes({"precision.preset=nvfp4", "teach.quantize_scale=1"}),
                ElementsAre(HasSubstr("teach.quantize_scale")));
    EXPECT_THAT(notes({"precision.preset=mxfp8", "teach.resume_without_history=true"}),
                ElementsAre(HasSubstr("teach.resume_without_history")));
}

TEST(RecipeSettings, OutOfRangeAreRefused) {
    EXPECT_THAT(refused_recipe({"quantize.history=0"}), HasSubstr("from 1 to 65536"));
    EXPECT_THAT(refused_recipe({"quantize.margin=9"}), HasSubstr("from 0 to 8"));
    EXPECT_THAT(refused_recipe({"quantize.high_precision_from=1.5"}), HasSubstr("from 0 to 1"));
    EXPECT_THAT(refused_recipe({"quantize.mx_scale=round"}),
                HasSubstr("rceil, floor, ceil or even"));
    EXPECT_THAT(refused_recipe({"quantize.skip=fc1"}),
                HasSubstr("precision.force keeps a whole module"));
    EXPECT_THAT(refused_recipe({"quantize.skip=fc1:fpro"}), HasSubstr("did you mean fprop?"));
    EXPECT_THAT(refused_recipe({"teach.accumulator_bits=9"}), HasSubstr("from 10 to 24"));
    for (const char* scale : {"1e-50", "1e-40", "1e39", "-1"})
        EXPECT_THAT(refused_recipe({std::string("teach.quantize_scale=") + scale}),
                    HasSubstr("teach.quantize_scale"));
    EXPECT_EQ(refused_recipe({"precision.preset=fp8-current", "teach.quantize_scale=0.5"}), "");
}

TEST(RecipeSettings, ThatDoNotGoTogetherAreRefused) {
    EXPECT_THAT(refused_recipe({"precision.preset=o2-fp16", "precision.force.fc1=mxfp8"}),
                HasSubstr("precision.force.fc1: mxfp8: use fp32 weights"));
    EXPECT_THAT(refused_recipe({"precision.preset=nvfp4", "precision.autocast=off"}),
                HasSubstr("quantize.hadamard off"));
    EXPECT_EQ(refused_recipe(
                  {"precision.preset=nvfp4", "precision.autocast=off", "quantize.hadamard=off"}),
              "");
    EXPECT_THAT(refused_recipe({"precision.preset=mxfp4", "precision.autocast=fp16",
                                "quantize.hadamard=wgrad"}),
                HasSubstr("precision.autocast bf16"));
    for (const PrecisionDescriptor& each : precisions())
        if (each.settings.has_recipe()) {
            EXPECT_EQ(refused_recipe({"precision.preset=" + each.kind, "workers=2"}), "")
                << each.kind;
        }
}

}  // namespace
}  // namespace engine
