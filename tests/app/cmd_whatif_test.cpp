#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spirals.h"

namespace app {
namespace {

using testing::HasSubstr;

/// A run whose first steps are skipped, in a folder.
class WhatIf : public testing::Test {
protected:
    void SetUp() override {
        Program program(spirals(
            "train", {"--set", "precision.preset=amp-fp16", "--set", "scaler.init_scale=16777216",
                      "--set", "device=cpu", "--set", "epochs=4", "--set",
                      "instruments.histograms_every=10", "--out", run()}));
        program.finish();
        ASSERT_EQ(program.exit_code(), 0) << program.errors();
        skipped_ = events_of(program, "done").front().at("skipped").get<std::int64_t>();
        ASSERT_GT(skipped_, 0);
    }
    std::string run() const { return (folder_ / "run").string(); }
    std::vector<nlohmann::json> replayed(const std::vector<std::string>& more) {
        std::vector<std::string> args = {"whatif", run(), "--json"};
        args.insert(args.end(), more.begin(), more.end());
        Program program(args);
        program.finish();
        EXPECT_EQ(program.exit_code(), 0) << program.errors();
        return events_of(program, "what_if");
    }

    test_support::TempFolder folder_;
    std::int64_t skipped_ = 0;
};

TEST_F(WhatIf, TheRecordedPolicyComesFirstAndIsTheRun) {
    const auto policies = replayed({});
    ASSERT_GE(policies.size(), 5u);
    EXPECT_EQ(policies[0].at("policy"), "recorded");
    EXPECT_EQ(policies[0].at("skipped"), skipped_);
    EXPECT_EQ(policies[0].at("unknown"), 0);
    EXPECT_EQ(policies[0].at("parts_at"), 0);
    std::int64_t steps = 0;
    for (const auto& stair : policies[0].at("stairs")) steps += stair.at(1).get<std::int64_t>();
    EXPECT_EQ(steps, 80);
    EXPECT_GT(policies[0].at("floors"), 0) << "of the steps whose histograms were kept";
}

TEST_F(WhatIf, APolicyByNameAndOneBySettings) {
    const auto policies =
        replayed({"--policy", "static-1024", "--set", "scaler.init_scale=33554432"});
    ASSERT_EQ(policies.size(), 3u);
    EXPECT_EQ(policies[1].at("policy"), "scaler.init_scale=33554432");
    EXPECT_GE(policies[1].at("skipped").get<std::int64_t>(), skipped_)
        << "it begins above the scale that overflowed";
    EXPECT_EQ(policies[2].at("policy"), "static-1024");
    EXPECT_EQ(policies[2].at("skipped"), 0);
}

TEST_F(WhatIf, IsATableAndASentenceForPeople) {
    Program program({"whatif", run()});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(program.output().front(), testing::StartsWith("policy"));
    EXPECT_THAT(program.output_text(), HasSubstr("\nstatic-1024 "));
    EXPECT_THAT(program.output().back(), HasSubstr("skipped"));
}

TEST_F(WhatIf, RefusesAnUnknownPolicyASettingAndARun) {
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"whatif", run(), "--policy", "fast"},
          std::vector<std::string>{"whatif", run(), "--set", "scaler.growth_factor=1"},
          std::vector<std::string>{"whatif", run() + "-not"}}) {
        Program program(args);
        program.finish();
        EXPECT_EQ(program.exit_code(), 2) << args[2];
        EXPECT_THAT(program.errors(), testing::Not(testing::IsEmpty()));
    }
}

}  // namespace
}  // namespace app
