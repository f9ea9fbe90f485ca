#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace app {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string printed(const std::vector<std::string>& args) {
    Program program(args);
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    return program.output_text();
}

TEST(Catalogs, PrintInTextWhatTheirPagesPromise) {
    EXPECT_THAT(printed({"tasks"}), AllOf(HasSubstr("metric accuracy: Accuracy, higher is better"),
                                          HasSubstr("metric rmse: RMSE, lower is better")));
    EXPECT_THAT(printed({"models"}),
                AllOf(HasSubstr("model.options.hidden"), HasSubstr("takes: image")));
    EXPECT_THAT(printed({"datasets"}), AllOf(HasSubstr("dataset.path needs: "),
                                             HasSubstr("needs no files"), HasSubstr("dataset.")));
}

TEST(Catalogs, PresetsNameTheirSettingsAsSettingsFilesDo) {
    const auto presets = nlohmann::json::parse(printed({"presets", "--json"}));
    for (const auto& preset : presets) {
        if (preset.at("kind") != "precision") continue;
        for (const char* key : {"weights", "autocast", "batch_norm", "scaler"})
            EXPECT_TRUE(preset.at("settings").at(key).is_string()) << preset.dump();
        if (preset.at("name") == "amp-fp16") {
            EXPECT_EQ(preset.at("settings").at("autocast"), "fp16");
            EXPECT_EQ(preset.at("settings").at("scaler"), "dynamic");
        }
    }
}

TEST(Catalogs, RecipesNameTheirFormatsAndScales) {
    const auto all = nlohmann::json::parse(printed({"recipes", "--json"}));
    ASSERT_EQ(all.size(), 8u);
    EXPECT_EQ(all[0].at("name"), "fp8-delayed");
    EXPECT_EQ(all[0].at("gradient"), "E5M2");
    EXPECT_EQ(all[0].at("engine"), "emulated");
    const auto one = nlohmann::json::parse(printed({"recipes", "nvfp4", "--json"}));
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].at("gradient_rounding"), "random");
    EXPECT_THAT(printed({"recipes", "mxfp8"}),
                AllOf(HasSubstr("input and weight E4M3, gradient E4M3"),
                      HasSubstr("32 values along the contraction"), HasSubstr("emulated")));
    Program unknown({"recipes", "fp6"});
    unknown.finish();
    EXPECT_EQ(unknown.exit_code(), 2);
    EXPECT_THAT(unknown.errors(), HasSubstr("fp6 is not a recipe: use fp8-delayed"));
}

TEST(Catalogs, NumbersAndLintSayInTextWhatTheirPagesSay) {
    EXPECT_THAT(printed({"numbers", "0.1", "--format", "fp16"}),
                AllOf(HasSubstr("below 0.09991455078125"), HasSubstr("above 0.10003662109375")));
    EXPECT_THAT(printed({"lint", "--set", "precision.preset=pure-fp16"}),
                HasSubstr("Handbook, hazards.md: FP16 needs loss scaling"));
}

}  // namespace
}  // namespace app
