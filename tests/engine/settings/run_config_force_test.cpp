#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"
#include "error_lines.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ForcedTypes three = {{"fc:linear", ForcedType::bf16},
                           {"layer1.0.conv1", ForcedType::fp32},
                           {"relu", ForcedType::fp16}};

TEST(RunConfigForce, ReadsAnObjectAndKeysWithDots) {
    const auto file = parse_run_config(R"({"precision": {"force": {
        "layer1.0.conv1": "fp32", "fc:linear": "bf16", "relu": "fp16"}}})");
    EXPECT_THAT(error_lines(file), IsEmpty());
    EXPECT_EQ(file.config.precision.force, three);
    const auto sets = parse_run_config(
        "{}", {"precision.force.layer1.0.conv1=fp32", "precision.force.fc:linear=bf16",
               R"(precision.force.relu="fp16")"});
    EXPECT_THAT(error_lines(sets), IsEmpty());
    EXPECT_EQ(sets.config.precision.force, three);
    EXPECT_EQ(resolve(sets.config.precision).force, three);
}

TEST(RunConfigForce, AKeyRefinesAndAnObjectReplaces) {
    const std::string file = R"({"precision": {"force": {"conv1": "fp32", "fc1": "fp16"}}})";
    EXPECT_EQ(parse_run_config(file, {"precision.force.fc1=bf16"}).config.precision.force,
              (ForcedTypes{{"conv1", ForcedType::fp32}, {"fc1", ForcedType::bf16}}));
    EXPECT_EQ(
        parse_run_config(file, {R"(precision.force={"relu": "fp16"})"}).config.precision.force,
        (ForcedTypes{{"relu", ForcedType::fp16}}));
    EXPECT_THAT(parse_run_config(file, {"precision.force={}"}).config.precision.force, IsEmpty());
    EXPECT_THAT(parse_run_config(file, {"precision.force="}).config.precision.force, IsEmpty());
}

TEST(RunConfigForce, SurvivesJsonAndIsComparedKeyByKey) {
    RunConfig config = completed({});
    EXPECT_EQ(to_json(config).find("force"), std::string::npos) << "no key: as it was before";
    config.precision.force = three;
    EXPECT_EQ(parse_run_config(to_json(config)).config, config);
    RunConfig other = config;
    other.precision.force["relu"] = ForcedType::fp32;
    other.precision.force.erase("fc:linear");
    EXPECT_THAT(differing_fields(config, other),
                ElementsAre("precision.force.fc:linear", "precision.force.relu"));
    EXPECT_EQ(setting_text(config, "precision.force.relu"), "\"fp16\"");
}

TEST(RunConfigForce, RefusesAllThatIsWrongAtOnce) {
    EXPECT_THAT(
        error_lines(parse_run_config(R"({"precision": {"force": {
        "conv1": "fp64", "a:relu": 16, "conv1:conv9d": "fp16", "x:reshape": "fp16"}}})")),
        ElementsAre(HasSubstr("precision.force.a:relu: 16: use a text"),
                    HasSubstr("precision.force.conv1: fp64: use fp32, fp16, bf16, fp8-delayed"),
                    HasSubstr("precision.force.conv1:conv9d: fp16: conv9d is not an operation"),
                    HasSubstr("precision.force.x:reshape: fp16: reshape is not an operation")));
    EXPECT_THAT(error_lines(parse_run_config(R"({"precision": {"force": ["relu"]}})")),
                ElementsAre(HasSubstr("precision.force: [\"relu\"]: use an object")));
    EXPECT_THAT(error_lines(parse_run_config(R"({"precision": {"force": {"": "fp16"}}})")),
                ElementsAre(HasSubstr("precision.force.: fp16: name a module")));
}

}  // namespace
}  // namespace engine
