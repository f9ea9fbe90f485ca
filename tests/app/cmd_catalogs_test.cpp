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

TEST(Catalogs, NumbersAndLintSayInTextWhatTheirPagesSay) {
    EXPECT_THAT(printed({"numbers", "0.1", "--format", "fp16"}),
                AllOf(HasSubstr("below 0.09991455078125"), HasSubstr("above 0.10003662109375")));
    EXPECT_THAT(printed({"lint", "--set", "precision.preset=pure-fp16"}),
                HasSubstr("Handbook, hazards.md: FP16 needs loss scaling"));
}

}  // namespace
}  // namespace app
