#include "engine/settings/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings/config_fields.h"
#include "settings/setting_specs.h"

namespace engine {
namespace {

using testing::ElementsAreArray;

std::vector<std::string> setting_paths() {
    std::vector<std::string> paths;
    RunConfig config;
    for_each_setting(config, [&](const SettingSpec& spec, const auto& field) {
        const std::string path = spec.path;
        if (!std::is_same_v<std::decay_t<decltype(field)>, Options>) return paths.push_back(path);
        for (const std::string& name : OptionCatalog(config.model).names(path)) paths.push_back(option_path(path, name));
    });
    return paths;
}

TEST(Catalog, EveryFieldOfTheSettingsIsExplainedInTheirOrder) {
    std::vector<std::string> paths;
    for (const auto& field : fields()) {
        paths.push_back(field.path);
        EXPECT_FALSE(field.label.empty()) << field.path;
        EXPECT_GT(field.help.size(), 30u) << field.path;
        EXPECT_EQ(field.help.back(), '.') << field.path;
    }
    EXPECT_THAT(paths, ElementsAreArray(setting_paths()));
}

TEST(Catalog, FieldsThatTakeFewValuesListThem) {
    for (const char* path : {"schedule.kind", "precision.autocast", "precision.batch_norm",
                             "precision.weights", "precision.scaler", "clip.kind", "device",
                             "deterministic", "precision.master_weights", "optimizer.norm"}) {
        ASSERT_NE(find_field(path), nullptr) << path;
        EXPECT_GE(find_field(path)->choices.size(), 2u) << path;
    }
    EXPECT_TRUE(find_field("precision.master_weights")->optional);
    EXPECT_FALSE(find_field("deterministic")->optional);
    EXPECT_TRUE(find_field("optimizer.lr")->choices.empty());
    EXPECT_EQ(find_field("optimizer.colour"), nullptr);
}

TEST(Catalog, DescribesAnOptionAsTheKindHasIt) {
    const auto& mlp = *find_field("model.options.hidden", "mlp");
    const auto& rnn = *find_field("model.options.hidden", "rnn-lm");
    EXPECT_EQ(mlp.label, "Hidden layers");
    EXPECT_EQ(rnn.label, "Hidden size");
    EXPECT_NE(mlp.help, rnn.help);
    EXPECT_EQ(rnn.kinds, mlp.kinds);
    EXPECT_THAT(rnn.kinds, testing::IsSupersetOf({"mlp", "rnn-lm"}));
    const OptionCatalog catalog{ModelConfig{}};
    for (const auto& group : {"dataset.", "model.options", "optimizer.", "schedule."}) {
        for (const auto& [kind, options] : catalog.by_kind(group)) {
            for (const auto& spec : options) {
                EXPECT_EQ(find_field(option_path(group, spec.name), kind)->label, spec.label)
                    << kind;
            }
        }
    }
    EXPECT_EQ(find_field("epochs", "mlp"), find_field("epochs"));
    EXPECT_EQ(find_field("model.options.hidden", "lenet"), find_field("model.options.hidden"));
    EXPECT_EQ(find_field("optimizer.colour", "sgd"), nullptr);
}

TEST(Catalog, DescribesAFieldAsTheSettingsHaveIt) {
    RunConfig config;
    config.model.kind = "rnn-lm";
    EXPECT_EQ(find_field("model.options.hidden", config)->label, "Hidden size");
    config.model.kind = "mlp";
    EXPECT_EQ(find_field("model.options.hidden", config)->label, "Hidden layers");
    EXPECT_EQ(find_field("epochs", config).get(), find_field("epochs"));
    EXPECT_EQ(find_field("optimizer.colour", config), nullptr);
    EXPECT_EQ(fields(config), std::vector<FieldInfo>(fields().begin(), fields().end()));
}

TEST(Catalog, EveryPrecisionPassesValidation) {
    for (const auto& info : precisions()) {
        EXPECT_TRUE(parse_run_config("{}", {"precision.preset=" + info.kind}).errors.empty())
            << info.kind;
        EXPECT_FALSE(info.summary.empty());
    }
    EXPECT_EQ(precisions().size(), 14u);
}

TEST(Catalog, TheFirstScalerPresetIsTheDefault) {
    EXPECT_EQ(scaler_presets()[0].settings, ScalerConfig{});
    EXPECT_EQ(scaler_presets()[1].kind, scaler_presets()[1].settings.preset);
    EXPECT_EQ(scaler_presets()[1].settings.growth_interval, 25);
}

TEST(Catalog, OptimizersNameFieldsThatExist) {
    const auto paths = setting_paths();
    for (const auto& info : optimizers()) {
        EXPECT_TRUE(parse_run_config("{}", {"optimizer.kind=" + info.kind}).errors.empty());
        Options defaults;
        complete(defaults, info.options);
        EXPECT_EQ(parse_run_config("{}", {"optimizer.kind=" + info.kind}).config.optimizer.options,
                  defaults);
        for (const auto& spec : info.options)
            EXPECT_THAT(paths, testing::Contains("optimizer." + spec.name));
    }
}

}  // namespace
}  // namespace engine
