#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace app {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<json> answers(const std::vector<std::string>& args) {
    Program program(args);
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    std::vector<json> out;
    for (const auto& line : program.output()) out.push_back(json::parse(line));
    return out;
}

TEST(Numbers, SaysWhatEachFormatStores) {
    const auto all = answers({"numbers", "0.1", "--json"});
    ASSERT_EQ(all.size(), 12u);
    EXPECT_EQ(all[2].at("format"), "fp16");
    EXPECT_EQ(all[2].at("bits"), "0x2e66");
    EXPECT_EQ(all[2].at("value"), "0.0999755859375");
    EXPECT_EQ(all[2].at("below"), "0.09991455078125");
    EXPECT_EQ(all[2].at("gap"), 0x1p-14);
    EXPECT_EQ(all[4].at("value"), "0.1015625");
}

TEST(Numbers, ReadsValuesFromAFileAndBitsInTheChosenFormat) {
    test_support::TempFolder folder;
    std::ofstream(folder / "values.txt") << "0x38\n\n-2^-3\n500\n";
    const auto all = answers(
        {"numbers", "--file", (folder / "values.txt").string(), "--format", "fp8-e4m3", "--json"});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].at("value"), "1");
    EXPECT_EQ(all[1].at("value"), "-0.125");
    EXPECT_EQ(all[2].at("value"), "nan");
    EXPECT_TRUE(all[2].at("relative_error").is_null());
}

TEST(Numbers, AddsMultipliesAndSums) {
    const auto sum = answers({"numbers", "0.001", "--sum", "10000", "--format", "fp16", "--json"});
    EXPECT_EQ(sum.at(0).at("sum"), "4");
    EXPECT_EQ(sum.at(0).at("stalls_after"), 3070);
    const auto wide = answers({"numbers", "0.001", "--sum", "10000", "--accumulator", "fp32",
                               "--format", "fp8-e4m3", "--json"});
    EXPECT_EQ(wide.at(0).at("sum"), "19.53125");
    EXPECT_TRUE(wide.at(0).at("stalls_after").is_null());
    EXPECT_EQ(answers({"numbers", "65504", "--add", "16", "--format", "fp16", "--json"})
                  .at(0)
                  .at("value"),
              "inf");
    EXPECT_EQ(answers({"numbers", "1.5", "--add", "-0x1p+1", "--format", "fp16", "--json"})
                  .at(0)
                  .at("value"),
              "-0.5");
    EXPECT_EQ(answers({"numbers", "-0.5", "--multiply", "2^-24", "--format", "fp16", "--json"})
                  .at(0)
                  .at("value"),
              "-0");
}

TEST(Numbers, SaturatesAndShowsARoundedScale) {
    const auto saturated =
        answers({"numbers", "500", "--format", "fp8-e4m3", "--saturate", "--json"});
    EXPECT_EQ(saturated.at(0).at("bits"), "0x7e");
    const auto scale = answers({"numbers", "3.1", "--format", "e8m0", "--json"}).at(0);
    EXPECT_EQ(scale.at("floor").at("value"), "2");
    EXPECT_EQ(scale.at("rceil").at("value"), "4");
    EXPECT_EQ(scale.at("even").at("bits"), "0x81");
}

TEST(Numbers, CountsTheNeighboursOfNumbersRoundedAtRandom) {
    const auto all =
        answers({"numbers", "2.25", "--round", "stochastic", "--draws", "4000", "--json"});
    ASSERT_EQ(all.size(), 6u);
    const auto& fp4 = all.back();
    EXPECT_EQ(fp4.at("format"), "fp4-e2m1");
    EXPECT_EQ(fp4.at("low").at("value"), "2");
    EXPECT_EQ(fp4.at("high").at("value"), "3");
    EXPECT_EQ(fp4.at("high").at("chance"), 0.25);
    EXPECT_NEAR(fp4.at("high").at("share"), 0.25, 0.03);
}

TEST(Numbers, RoundsBlocksThatShareAScale) {
    const auto block = answers({"numbers", "0.5", "-1", "100", "--block", "mxfp4", "--json"}).at(0);
    EXPECT_EQ(block.at("scale_bits"), "0x84");
    EXPECT_EQ(block.at("scale"), "32");
    EXPECT_EQ(block.at("zeroed"), 2);
    EXPECT_EQ(block.at("elements").at(2).at("value"), "96");
    EXPECT_EQ(block.at("elements").at(2).at("error"), -4);
    const auto floor =
        answers({"numbers", "500", "--block", "mxfp8", "--mx-scale", "floor", "--json"});
    EXPECT_EQ(floor.at(0).at("saturated"), 1);
    const auto two = answers({"numbers", "1", "--block", "nvfp4", "--amax", "6", "--json"}).at(0);
    EXPECT_EQ(two.at("tensor_scale"), 448);
    Program program({"numbers", "0.5", "1", "--block", "nvfp4"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0);
    EXPECT_THAT(program.output().at(1), HasSubstr("zeroed 0"));
}

TEST(Numbers, RefusesWhatItCannotReadInOneSentence) {
    const auto refused = [](const std::vector<std::string>& args, const char* sentence,
                            int exit_code = 2) {
        Program program(args);
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << sentence;
        EXPECT_THAT(program.errors(), HasSubstr(sentence));
    };
    refused({"numbers", "abc"}, "is not a number");
    refused({"numbers", "1", "--format", "fp4"}, "fp4 is not a format");
    refused({"numbers", "1", "--sum", "5", "--accumulator", "tf32"},
            "TF32 cannot be the accumulator");
    refused({"numbers", "1", "--sum", "10000001"}, "--sum");
    refused({"numbers", "1", "--add", "1", "--format", "e8m0"}, "holds scales alone", 2);
    refused({"numbers", "1", "--block", "mxfp6"}, "mxfp6 is not a value of --block");
    refused({"numbers", "1", "--block", "mxfp8", "--amax", "-1"}, "The largest magnitude");
    refused({"numbers", "1", "--round", "up"}, "up is not a way to round");
    refused({"numbers", "1", "--draws", "5"}, "--draws needs --round stochastic");
    refused({"numbers", "1", "--amax", "5"}, "need --block");
    refused({"numbers", "1", "--block", "nvfp4", "--mx-scale", "floor"}, "--mx-scale needs --block mxfp8 or mxfp4");
    refused({"numbers", "1", "--round", "stochastic", "--saturate"}, "--saturate needs --round nearest");
    refused({"numbers", "1", "--add", "2", "--saturate"}, "--saturate");
    refused({"numbers"}, "give a value");
    refused({"numbers", "--file", "/nowhere/values"}, "cannot be read", 3);
    const test_support::TempFolder folder;
    refused({"numbers", "--file", folder.write("values", "0.1\nabc\n")}, "is not a number", 3);
}

}  // namespace
}  // namespace app
