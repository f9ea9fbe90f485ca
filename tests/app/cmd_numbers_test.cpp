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
    ASSERT_EQ(all.size(), 6u);
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
    refused({"numbers"}, "give a value");
    refused({"numbers", "--file", "/nowhere/values"}, "cannot be read", 3);
    const test_support::TempFolder folder;
    refused({"numbers", "--file", folder.write("values", "0.1\nabc\n")}, "is not a number", 3);
}

}  // namespace
}  // namespace app
