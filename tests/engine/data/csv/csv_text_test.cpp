#include "data/csv/csv_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace engine {
namespace {

TEST(CsvText, NumbersMayHaveASignSpacesAndAnExponent) {
    const std::pair<const char*, double> cases[] = {
        {"1", 1},   {" 2.5\t", 2.5}, {"+3", 3},        {"-.5", -0.5},
        {"4.", 4},  {"1e3", 1000},   {"-2E-2", -.02},  {"+.25", 0.25},
        {"007", 7}, {"1e-400", 0},   {"0.1e-999", 0.0}};
    for (const auto& [text, number] : cases) {
        const CsvValue value = parse_csv_value(text);
        EXPECT_EQ(value.content, CsvContent::number) << text;
        EXPECT_EQ(value.number, number) << text;
    }
}

TEST(CsvText, WordsAreNoNumbers) {
    for (const char* text : {"abc", "1.2.3", "+", "+-1", "--", "0x10", "12 34", "1_00", "e5", "n/a",
                             "1;5", "2020-01-05", "12:30", "1/2", "r17"}) {
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::word) << text;
    }
}

TEST(CsvText, TheListedWordsAndEveryNanAreMissing) {
    for (const char* text : {"", " ", "\t", "NA", "N/A", "NaN", "nan", " NaN ", "null", "NULL",
                             "None", "?", "-", "-nan", "NAN"}) {
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::missing) << text;
    }
}

TEST(CsvText, OtherWordsForMissingTakeThePlaceOfTheUsualOnes) {
    const std::vector<std::string> words{"-999", "n.a."};
    EXPECT_EQ(parse_csv_value("-999", words).content, CsvContent::missing);
    EXPECT_EQ(parse_csv_value(" n.a. ", words).content, CsvContent::missing);
    EXPECT_EQ(parse_csv_value("", words).content, CsvContent::missing);
    EXPECT_EQ(parse_csv_value("NaN", words).content, CsvContent::missing);
    EXPECT_EQ(parse_csv_value("-", words).content, CsvContent::word);
}

TEST(CsvText, KnowsWhichWholeNumbersADoubleDoesNotHold) {
    EXPECT_FALSE(parse_csv_value("9007199254740992").beyond_double);
    EXPECT_FALSE(parse_csv_value("0009007199254740992").beyond_double);
    EXPECT_TRUE(parse_csv_value("9007199254740993").beyond_double);
    EXPECT_TRUE(parse_csv_value("-12345678901234567890").beyond_double);
    EXPECT_TRUE(parse_csv_value("9,007,199,254,740,993").beyond_double);
    EXPECT_TRUE(parse_csv_value(std::string(50, '7')).beyond_double) << "out of range, too";
    EXPECT_FALSE(parse_csv_value("9007199254740993.5").beyond_double);
    EXPECT_FALSE(parse_csv_value("1e20").beyond_double);
}

TEST(CsvText, NumbersBeyondF32AreOutOfRange) {
    for (const char* text : {"inf", "-inf", "Infinity", "+inf", "1e39", "-1e39", "1e999"})
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::out_of_range) << text;
    EXPECT_EQ(parse_csv_value("3.4e38").content, CsvContent::number);
}

TEST(CsvText, TellsDecimalCommasFromWords) {
    for (const char* text : {"1,5", "-0,25", "1.234,5", "0,500", "1,23,456", "1,5 m", "1.234.567"})
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::decimal_comma) << text;
    for (const char* text : {"a,b", "1,", ",5"})
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::word) << text;
}

TEST(CsvText, ShortensAtCodePointsAndKeepsToOneLine) {
    EXPECT_EQ(shortened("abc"), "abc");
    EXPECT_EQ(shortened(std::string(40, 'x')), std::string(40, 'x'));
    EXPECT_EQ(shortened(std::string(41, 'x')), std::string(40, 'x') + "…");
    EXPECT_EQ(shortened("日本語", 2), "日本…");
    EXPECT_EQ(shortened("a\r\nb"), "a  b");
}

TEST(CsvText, ListsNames) {
    EXPECT_EQ(listed({"a", "b"}, 2), "a, b");
    EXPECT_EQ(listed({"a", "b", "c"}, 2), "a, b, …");
}

}  // namespace
}  // namespace engine
