#include "data/csv_text.h"

#include <gtest/gtest.h>

#include <string>

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
    for (const char* text : {"abc", "1.2.3", "1e", "+", "+-1", "--", "0x10", "12 34", "1_000", "e5",
                             "3 m", "n/a", "1;5"}) {
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::word) << text;
    }
}

TEST(CsvText, TheListedWordsAndEveryNanAreMissing) {
    for (const char* text : {"", " ", "\t", "NA", "N/A", "NaN", "nan", " NaN ", "null", "NULL",
                             "None", "?", "-", "-nan", "NAN"}) {
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::missing) << text;
    }
}

TEST(CsvText, NumbersBeyondF32AreOutOfRange) {
    for (const char* text : {"inf", "-inf", "Infinity", "+inf", "1e39", "-1e39", "1e999"})
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::out_of_range) << text;
    EXPECT_EQ(parse_csv_value("3.4e38").content, CsvContent::number);
}

TEST(CsvText, TellsDecimalCommasFromWords) {
    for (const char* text : {"1,5", "-0,25", "1,234.5", "1.234,5"})
        EXPECT_EQ(parse_csv_value(text).content, CsvContent::decimal_comma) << text;
    for (const char* text : {"a,b", "1,", ",5", "1,5 m"})
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
