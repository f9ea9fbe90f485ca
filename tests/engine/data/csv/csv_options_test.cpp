#include "data/csv/csv_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CsvOptions read_options(const Options& options) {
    DatasetConfig config;
    config.options = options;
    return read_csv_options(config);
}

TEST(CsvOptions, DefaultsAreThoseOfTheSpecs) {
    const CsvOptions options = read_options({});
    EXPECT_EQ(options.target, "");
    EXPECT_THAT(options.columns, IsEmpty());
    EXPECT_EQ(options.delimiter, '\0');
    EXPECT_EQ(options.header, CsvHeader::automatic);
    EXPECT_THAT(options.categorical, IsEmpty());
    EXPECT_EQ(options.missing, CsvMissing::refuse);
    EXPECT_TRUE(options.standardize);
    EXPECT_EQ(options.test_share, 0.2);
    for (const auto& spec : csv_option_specs()) {
        EXPECT_TRUE(check_option(spec, spec.default_value).empty()) << spec.name;
        EXPECT_FALSE(spec.label.empty() || spec.help.empty()) << spec.name;
    }
}

TEST(CsvOptions, ReadsEachOption) {
    const CsvOptions options = read_options({{"target", std::string("y")},
                                             {"columns", std::vector<std::string>{"a", "b"}},
                                             {"delimiter", std::string("semicolon")},
                                             {"header", std::string("false")},
                                             {"categorical", std::string("a")},
                                             {"missing", std::string("mean")},
                                             {"standardize", false},
                                             {"test_share", 0.5}});
    EXPECT_EQ(options.target, "y");
    EXPECT_THAT(options.columns, ElementsAre("a", "b"));
    EXPECT_EQ(options.delimiter, ';');
    EXPECT_EQ(options.header, CsvHeader::absent);
    EXPECT_THAT(options.categorical, ElementsAre("a"));
    EXPECT_EQ(options.missing, CsvMissing::mean);
    EXPECT_FALSE(options.standardize);
    EXPECT_EQ(options.test_share, 0.5);
}

TEST(CsvOptions, TakesTrueAndFalseForTheHeaderAndNumbersForColumns) {
    EXPECT_EQ(read_options({{"header", true}}).header, CsvHeader::present);
    EXPECT_EQ(read_options({{"header", false}}).header, CsvHeader::absent);
    EXPECT_EQ(read_options({{"target", std::int64_t{3}}}).target, "3");
    EXPECT_THAT(read_options({{"columns", std::vector<std::int64_t>{1, 2}}}).columns,
                ElementsAre("1", "2"));
    EXPECT_EQ(read_options({{"test_share", std::int64_t{0}}}).test_share, 0);
}

TEST(CsvOptions, RefusesAWordThatIsNoChoice) {
    try {
        read_options({{"missing", std::string("median")}});
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(),
                    HasSubstr("missing: median: use one of refuse, drop, mean"));
    }
}

TEST(CsvOptions, TheTestShareIsBelowOne) {
    const OptionSpec& spec = *find_option(csv_option_specs(), "test_share");
    EXPECT_TRUE(check_option(spec, 0.0).empty());
    EXPECT_TRUE(check_option(spec, 0.99).empty());
    EXPECT_FALSE(check_option(spec, 1.0).empty());
    EXPECT_FALSE(check_option(spec, -0.1).empty());
}

}  // namespace
}  // namespace engine
