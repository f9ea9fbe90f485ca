#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spirals.h"

namespace app {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// The default run at a learning rate of a million.
std::vector<std::string> diverging(const std::string& command,
                                   const std::vector<std::string>& more) {
    std::vector<std::string> args = {command, "--json", "--set", "optimizer.lr=1e6"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

TEST(Divergence, ARunThatDivergesExitsWith5AndSaysWhatToTry) {
    for (const auto& precision : std::vector<std::vector<std::string>>{
             {"--set", "precision.preset=fp32"},
             {"--set", "precision.preset=amp-bf16"},
             {"--set", "precision.preset=pure-fp16"},
             {"--set", "precision.preset=amp-fp16", "--set", "precision.scaler=static"}}) {
        Program program(diverging("train", precision));
        program.finish();
        EXPECT_EQ(program.exit_code(), 5) << precision[1];
        const auto done = events_of(program, "done");
        ASSERT_THAT(done, SizeIs(1)) << precision[1];
        EXPECT_EQ(done[0].at("reason"), "diverged");
        EXPECT_TRUE(done[0].contains("test_loss"));
        EXPECT_TRUE(done[0].contains("test_accuracy"));
        EXPECT_THAT(program.errors(), HasSubstr("The run diverged: the loss has not been finite"));
        EXPECT_THAT(program.errors(), HasSubstr("optimizer.lr"));
    }
}

TEST(Divergence, ARunThatGoesOnToItsPlannedEndHasDivergedAllTheSame) {
    auto args = spirals("train", {"--set", "optimizer.lr=1e30", "--set", "stop_on_nan=0", "--set",
                                  "max_steps=8"});
    args.erase(args.begin() + 1);  // --json
    Program program(args);
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(program.output(),
                Contains(testing::AllOf(HasSubstr("diverged at step "), HasSubstr(" (max_steps): "))));
    EXPECT_THAT(program.output(), testing::Not(Contains(HasSubstr("done ("))));
}

TEST(Divergence, AScaleThatCannotComeDownIsReported) {
    Program program({"train", "--json", "--set", "scaler.init_scale=1e38", "--set",
                     "scaler.backoff_factor=0.9999", "--set", "epochs=1"});
    program.finish();
    const auto warnings = events_of(program, "warning");
    ASSERT_THAT(warnings, SizeIs(1));
    EXPECT_THAT(warnings[0].at("message"), HasSubstr("No update was applied in epoch 1"));
}

/// A learning rate at which the network no longer learns, but overflows only in fp16.
std::vector<std::string> breaks_in_pure_fp16() {
    return {"--set", "optimizer.lr=10", "--set", "stop_on_nan=5", "--set", "threads=1"};
}

TEST(Divergence, InAComparisonTheOthersFinishAndItExitsWith0) {
    auto args = breaks_in_pure_fp16();
    args.insert(args.end(), {"--precision", "fp32,pure-fp16"});
    Program program(spirals("compare", args));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto done = events_of(program, "done");
    ASSERT_THAT(done, SizeIs(2));
    for (const auto& each : done)
        EXPECT_EQ(each.at("reason"), each.at("run") == "1" ? "epochs" : "diverged");
}

TEST(Divergence, TheTableOfAComparisonMarksIt) {
    auto args = spirals("compare", breaks_in_pure_fp16());
    args.erase(args.begin() + 1);  // --json
    args.insert(args.end(), {"--precision", "fp32,pure-fp16"});
    Program program(args);
    program.finish();
    EXPECT_THAT(program.output(), Contains(StartsWith("pure-fp16 (diverged) ")));
    EXPECT_THAT(program.output(), testing::Not(Contains(HasSubstr("loss nan"))))
        << "NaN, as everywhere";
}

TEST(Divergence, AComparisonOfWhichAllDivergeExitsWith5) {
    Program program(diverging("compare", {"--precision", "fp32,amp-bf16"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 5);
    EXPECT_THAT(events_of(program, "done"), SizeIs(2));
}

}  // namespace
}  // namespace app
