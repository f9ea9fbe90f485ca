#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spirals.h"

namespace app {
namespace {

using testing::HasSubstr;
using testing::Not;

class Scales : public testing::Test {
protected:
    void train(const std::string& preset, const std::string& every = "5") {
        Program program(spirals("train", {"--set", "max_steps=12", "--set",
                                          "precision.preset=" + preset, "--set",
                                          "instruments.quantization_every=" + every}),
                        {home_.str(), {}});
        program.finish();
        ASSERT_EQ(program.exit_code(), 0) << program.errors();
        quantization_ = events_of(program, "quantization");
    }
    std::string run(const std::vector<std::string>& more, int exit_code = 0) {
        std::vector<std::string> args = {"scales"};
        args.insert(args.end(), more.begin(), more.end());
        Program program(args, {home_.str(), {}});
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << program.errors();
        return exit_code == 0 ? program.output_text() : program.errors();
    }

    test_support::TempFolder home_;
    std::vector<nlohmann::json> quantization_;
};

TEST_F(Scales, ShowsOperandsOfASampledStep) {
    train("mxfp8");
    ASSERT_EQ(quantization_.size(), 1u);
    EXPECT_EQ(quantization_[0]["recipe"], "mxfp8");
    EXPECT_EQ(quantization_[0]["settings"]["block"], "32");
    EXPECT_EQ(quantization_[0]["kept"], 1);
    const auto& product = quantization_[0]["products"].at(0);
    EXPECT_EQ(product["fprop"], "e4m3 x e4m3");
    EXPECT_EQ(product["engine"], "emulated");

    const std::string last = run({"1"});
    EXPECT_THAT(last, HasSubstr("step 10; emulated"));
    const std::string slot = product["module"].get<std::string>() + ".g";
    EXPECT_THAT(last, HasSubstr(slot));
    EXPECT_THAT(run({"1", "7"}), HasSubstr("step 5; step 7 was not sampled"));
    EXPECT_THAT(run({"1", "1"}), HasSubstr("step 1;")) << "the first is sampled";
    const std::string csv = run({"1", "--slot", slot, "--csv", "--sort", "zeroed"});
    EXPECT_THAT(csv, HasSubstr("tensor,sums over,format,step,amax,scale,block_scale_min,"));
    EXPECT_THAT(csv, HasSubstr("\n" + slot + ",rows,e4m3,10,"));
    EXPECT_THAT(csv, Not(HasSubstr(".x,")));
    EXPECT_THAT(run({"1", "--slot", "fc9.g"}, 2), HasSubstr("the run has no such operand"));
    EXPECT_THAT(run({"1", "--sort", "size"}, 2), HasSubstr("use name, zeroed, saturated or error"));
}

TEST_F(Scales, OfARunWithoutARecipeAreRefused) {
    train("amp-bf16");
    EXPECT_TRUE(quantization_.empty());
    EXPECT_THAT(run({"1"}, 2), HasSubstr("The run has no record of casts."));
}

TEST_F(Scales, OfARunThatSampledNothingAreRefused) {
    train("fp8-current", "0");
    EXPECT_EQ(quantization_.size(), 1u);
    EXPECT_THAT(run({"1"}, 2), HasSubstr("instruments.quantization_every"));
}

}  // namespace
}  // namespace app
