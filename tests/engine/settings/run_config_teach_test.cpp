#include "engine/settings/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/record/event.h"
#include "engine/runs/run_listing.h"
#include "engine/settings/catalog.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ParsedConfig parse(const std::vector<std::string>& overrides, const std::string& json = "{}") {
    return parse_run_config(json, overrides);
}

TEST(Teach, IsOffByDefault) {
    EXPECT_EQ(RunConfig{}.teach, TeachConfig{});
    EXPECT_THAT(broken_on_purpose(parse({}).config), IsEmpty());
    EXPECT_EQ(broken_on_purpose_text(RunConfig{}), "");
}

TEST(Teach, IsWrittenAndReadAsAnObjectInAnObject) {
    const auto parsed = parse({}, R"({"teach": {"norm": "composed", "loss": "where-mismatch",
        "plant": {"kind": "nan-weight", "step": 7, "where": "fc1.weight:3"}}})");
    ASSERT_THAT(parsed.errors, IsEmpty());
    const TeachConfig& teach = parsed.config.teach;
    EXPECT_EQ(teach.norm, TeachNorm::composed);
    EXPECT_EQ(teach.loss, TeachLoss::where_mismatch);
    EXPECT_EQ(teach.plant, (PlantConfig{PlantKind::nan_weight, 7, "fc1.weight:3"}));
    const auto written = nlohmann::json::parse(to_json(parsed.config));
    EXPECT_EQ(written.at("teach").at("plant"),
              nlohmann::json::parse(R"({"kind":"nan-weight","step":7,"where":"fc1.weight:3"})"));
    EXPECT_EQ(written.at("teach").at("loss"), "where-mismatch");
    EXPECT_EQ(parse_run_config(written.dump()).config, parsed.config);
}

TEST(Teach, TakesOverridesOfItsPartsAndOfThePlantAsAWhole) {
    const auto one = parse({"teach.plant.kind=exp-12", "teach.plant.step=5", "teach.norm="});
    ASSERT_THAT(one.errors, IsEmpty());
    EXPECT_EQ(one.config.teach.plant, (PlantConfig{PlantKind::exp_12, 5, ""}));
    const auto whole = parse({R"(teach.plant={"kind":"exp-12","step":5})"});
    ASSERT_THAT(whole.errors, IsEmpty());
    EXPECT_EQ(whole.config, one.config);
    EXPECT_EQ(setting_text(one.config, "teach.plant.kind"), "\"exp-12\"");
}

TEST(Teach, RefusesUnknownFieldsAndValuesByTheirPaths) {
    const auto text = [](const ParsedConfig& parsed) {
        std::string out;
        for (const auto& error : parsed.errors) out += error.str() + '\n';
        return out;
    };
    EXPECT_THAT(
        text(parse({"teach.plant.kind=exp-13"})),
        testing::AllOf(HasSubstr("teach.plant.kind: exp-13"), HasSubstr("\"\", nan-pixel")));
    EXPECT_THAT(text(parse({"teach.plant.step=0"})), HasSubstr("teach.plant.step: 0"));
    EXPECT_THAT(text(parse({"teach.norm_epsilon=-1"})), HasSubstr("teach.norm_epsilon"));
    EXPECT_THAT(text(parse({}, R"({"teach": {"plant": {"knd": 1}}})")),
                HasSubstr("teach.plant.knd"));
    EXPECT_THAT(text(parse({}, R"({"teach": {"plant": 3}})")), HasSubstr("teach.plant: 3"));
    EXPECT_THAT(text(parse({}, R"({"teach.plant": {"kind": "exp-12"}})")), HasSubstr("teach.plant"))
        << "a name with a dot is no section";
    EXPECT_THAT(text(parse({"teach.plant.kind=adam-epsilon-zero"})), HasSubstr("adamw"));
    EXPECT_THAT(text(parse({"teach.plant.kind=adam-epsilon-zero", "optimizer.kind=adam",
                            "optimizer.weight_decay=0.1"})),
                HasSubstr("weight_decay 0"));
    EXPECT_THAT(parse({"teach.plant.kind=adam-epsilon-zero", "optimizer.kind=adam"}).errors,
                IsEmpty());
}

TEST(Teach, EveryFieldIsInTheCatalog) {
    int fields_of_teach = 0;
    for (const auto& field : fields()) fields_of_teach += field.path.starts_with("teach.") ? 1 : 0;
    EXPECT_EQ(fields_of_teach, 14);
}

TEST(Teach, NamesWhatIsBrokenWithoutWhatPlaysNoPart) {
    EXPECT_THAT(broken_on_purpose(parse({"teach.clip_before_unscale=true",
                                         "teach.norm_epsilon=1e-8", "teach.plant.step=9"})
                                      .config),
                ElementsAre("teach.clip_before_unscale=true"));
    EXPECT_THAT(broken_on_purpose(parse({"teach.norm=composed", "teach.norm_epsilon=1e-8",
                                         "teach.plant.kind=nan-pixel", "teach.plant.step=9"})
                                      .config),
                ElementsAre("teach.norm=composed", "teach.norm_epsilon=1e-08",
                            "teach.plant.kind=nan-pixel", "teach.plant.step=9"));
}

TEST(Teach, StandsInTheStartEventTheListAndThePage) {
    RunStarted started{};
    started.run = "3";
    started.config = parse({"teach.norm=composed"}).config;
    const auto event = nlohmann::json::parse(to_json_line(Event(started)));
    EXPECT_EQ(event.at("teach"), nlohmann::json::parse(R"(["teach.norm=composed"])"));
    started.config = parse({}).config;
    EXPECT_FALSE(nlohmann::json::parse(to_json_line(Event(started))).contains("teach"));

    RunSummary broken;
    broken.run = "3";
    broken.config = parse({"teach.norm=composed"}).config;
    RunSummary intact = broken;
    intact.config = parse({}).config;
    EXPECT_THAT(runs_table({broken, intact}), HasSubstr("broken on purpose"));
    EXPECT_THAT(runs_table({intact}), testing::Not(HasSubstr("broken on purpose")));
    EXPECT_THAT(run_page({broken, {}}), HasSubstr("teach.norm=composed"));
    EXPECT_EQ(nlohmann::json::parse(to_json_line(broken)).at("teach").at(0), "teach.norm=composed");
}

}  // namespace
}  // namespace engine
