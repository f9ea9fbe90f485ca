#include <gmock/gmock.h>

#include <cmath>

#include "kept_runs.h"

namespace app {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

/// A run whose first steps are skipped: the loss scale starts too high.
class Skips : public KeptRuns {
protected:
    void SetUp() override {
        train({"--set", "max_steps=6", "--set", "precision.preset=amp-fp16", "--set",
               "scaler.init_scale=16777216", "--set", "device=cpu"});
    }
};

TEST_F(Skips, AreListedWithTheirScales) {
    const auto list = object({"skips", "1", "--json"});
    EXPECT_EQ(list.at("steps"), 6);
    const auto& skips = list.at("skips");
    ASSERT_GE(skips.size(), 2U);
    for (std::size_t i = 0; i < skips.size(); ++i) {
        EXPECT_EQ(skips[i].at("step"), i + 1);
        EXPECT_EQ(skips[i].at("loss_scale").get<double>(),
                  std::ldexp(1.0, 24 - static_cast<int>(i)));
    }
    const auto page = lines({"skips", "1"});
    ASSERT_EQ(page.size(), skips.size() + 1);
    EXPECT_THAT(page[0], StartsWith("step 1  scale 2²⁴  loss "));
    EXPECT_THAT(page.back(), HasSubstr(" of 6 steps"));
}

TEST_F(Skips, OneIsExplained) {
    const auto report = object({"skips", "1", "1", "--json"});
    EXPECT_EQ(report.at("cause"), "scale_too_large");
    EXPECT_EQ(report.at("first").at("stage"), "backward");
    EXPECT_EQ(report.at("ladder").at(0).at("passes"), false);
    EXPECT_LT(report.at("passing_scale").get<double>(), 0x1p24);
    const auto page = lines({"skips", "1", "1"});
    EXPECT_THAT(page, Contains("Benign: the scale was too large."));
    EXPECT_THAT(page, Contains("First non-finite tensor"));
}

TEST_F(Skips, OneIsTriedAtAnotherScaleInFp32AndWithoutASample) {
    const auto passes = [&](const std::vector<std::string>& change) {
        std::vector<std::string> args{"skips", "1", "1", "--json"};
        args.insert(args.end(), change.begin(), change.end());
        return object(args).at("passes").get<bool>();
    };
    EXPECT_TRUE(passes({"--scale", "2^10"}));
    EXPECT_TRUE(passes({"--scale", "2¹⁰"})) << "as the list writes it";
    EXPECT_TRUE(passes({"--scale", "1024"}));
    EXPECT_FALSE(passes({"--scale", "2^24"}));
    EXPECT_TRUE(passes({"--fp32"}));
    const auto samples = object({"skips", "1", "1", "--json"}).at("samples");
    EXPECT_FALSE(passes({"--without", std::to_string(samples.at(0).at("sample").get<int>())}));
}

TEST_F(Skips, RefusesWhatTheRunLacks) {
    expect_refused({"skips", "1", "99"}, 3, "Run 1 has no step 99: it has 6 steps.");
    expect_refused({"skips", "1", "--fp32"}, 2, "need a STEP");
    expect_refused({"skips", "1", "1", "--scale", "abc"}, 2, "--scale: abc: use a number above 0");
    expect_refused({"skips", "1", "1", "--scale", "0"}, 2, "--scale: 0: use a number above 0");
    expect_refused({"skips", "2"}, 2, "2: neither a run of the history nor a run's folder");
}

}  // namespace
}  // namespace app
