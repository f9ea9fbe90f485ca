#include <gmock/gmock.h>

#include "kept_runs.h"

namespace app {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class TwinCommand : public KeptRuns {
protected:
    /// The summary, which is the last line.
    nlohmann::json twin(const std::vector<std::string>& more) {
        std::vector<std::string> settings = {"--set", "max_steps=12", "--set", "device=cpu"};
        settings.insert(settings.end(), more.begin(), more.end());
        const auto output = lines(spirals("twin", settings));
        return output.empty() ? nlohmann::json() : nlohmann::json::parse(output.back());
    }
};

TEST_F(TwinCommand, EndsWithTheGapsOfItsLayers) {
    const auto found = twin({});
    EXPECT_EQ(found.at("event"), "twin");
    EXPECT_EQ(found.at("reference"), "1");
    EXPECT_EQ(found.at("run"), "2");
    EXPECT_EQ(found.at("steps"), 12);
    EXPECT_EQ(found.at("identical"), false);
    EXPECT_EQ(found.at("first_difference").at("step"), 1);
    ASSERT_THAT(found.at("layers"), SizeIs(3));
    for (const auto& layer : found.at("layers")) {
        // Products of FP16 numbers: a rounding of 2^-11 a factor, and some that cancel.
        EXPECT_GT(layer.at("rounding").get<double>(), 1e-5) << layer;
        EXPECT_LT(layer.at("rounding").get<double>(), 0.05) << layer;
    }
    // The verdict follows the rule of `compare`, in the same words.
    const auto& verdict = found.at("verdict");
    EXPECT_THAT(verdict.at("headline").get<std::string>(),
                AnyOf("No measurable difference.", HasSubstr("parted at step"),
                      HasSubstr("has the lower loss")));
    EXPECT_THAT(verdict.at("details").get<std::string>(), HasSubstr("(1 seed)"));
    EXPECT_FALSE(found.contains("judged_from"));
    const auto runs = lines({"runs", "--json"});
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_THAT(runs[0], HasSubstr("amp-fp16"));
    EXPECT_THAT(runs[1], HasSubstr("fp32"));
}

TEST_F(TwinCommand, OfOnePrecisionWithItselfIsIdentical) {
    const auto found = twin({"--precision", "amp-bf16,amp-bf16"});
    EXPECT_EQ(found.at("identical"), true);
    EXPECT_FALSE(found.contains("first_difference"));
    EXPECT_THAT(lines({"twin", "--run", "2"}), Contains("Bitwise identical over 12 steps."));
}

TEST_F(TwinCommand, IsShownAgainFromTheFolderOfItsSecondRun) {
    const auto found = twin({});
    EXPECT_EQ(object({"twin", "--run", "2", "--json"}), found);
    const auto table = lines({"twin", "--run", "2"});
    EXPECT_THAT(table, Contains("Run 2 against run 1, gradients by layer after 12 steps"));
    EXPECT_THAT(table, Contains(StartsWith("fc1 ")));
    expect_refused({"twin", "--run", "1"}, 3, "Run 1 is not the second run of a twin.");
}

TEST_F(TwinCommand, NeedsTwoPrecisions) {
    expect_refused({"twin", "--precision", "fp32"}, 2, "two names of precisions");
    expect_refused({"twin", "--precision", "fp32,fp17"}, 2, "fp17");
}

}  // namespace
}  // namespace app
