#include "data/csv/csv_text.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace engine {
namespace {

TEST(CsvNumber, ReadsUnitsCurrenciesAndPercent) {
    const std::tuple<const char*, double, const char*> cases[] = {
        {"45 %", 45, "%"},
        {"12.5%", 12.5, "%"},
        {"-3 km", -3, "km"},
        {"20 \xC2\xB0"
         "C",
         20,
         "\xC2\xB0"
         "C"},
        {"5 kg/m2", 5, "kg/m2"},
        {"$1200", 1200, "$"},
        {"-$5", -5, "$"},
        {"$-5", -5, "$"},
        {"US$ 7.5", 7.5, "US$"},
        {"EUR 12", 12, "EUR"},
        {"12 EUR", 12, "EUR"},
        {"5\xE2\x82\xAC", 5, "\xE2\x82\xAC"},
        {"\xE2\x82\xAC 5", 5, "\xE2\x82\xAC"},
        {"\xC2\xA3"
         "3",
         3, "\xC2\xA3"},
        {"Rs. 40", 40, "Rs."},
        {"1.5e3 Pa", 1500, "Pa"},
        {"CHF 1'200", 1200, "CHF"},
        {".5 m", 0.5, "m"},
        {"7\xC2\xA0\xE5\x85\x83", 7, "\xE5\x85\x83"},
        {"5\"", 5, "\""}};
    for (const auto& [text, number, unit] : cases) {
        const CsvValue value = parse_written_number(text);
        EXPECT_EQ(value.content, CsvContent::number) << text;
        EXPECT_EQ(value.number, number) << text;
        EXPECT_EQ(value.unit, unit) << text;
        EXPECT_FALSE(value.plain) << text;
    }
}

TEST(CsvNumber, ReadsGroupsOfDigits) {
    const std::pair<const char*, double> cases[] = {{"1,200", 1200},
                                                    {"1,234,567.5", 1234567.5},
                                                    {"12 345", 12345},
                                                    {"1\xC2\xA0"
                                                     "200",
                                                     1200},
                                                    {"1\xE2\x80\xAF"
                                                     "200",
                                                     1200},
                                                    {"1'200", 1200},
                                                    {"1\xE2\x80\x99"
                                                     "200",
                                                     1200},
                                                    {"1_000_000", 1000000},
                                                    {"-1 200.25", -1200.25}};
    for (const auto& [text, number] : cases) {
        const CsvValue value = parse_written_number(text);
        EXPECT_EQ(value.content, CsvContent::number) << text;
        EXPECT_EQ(value.number, number) << text;
    }
    EXPECT_TRUE(parse_written_number("1,200").ambiguous) << "or 1.2";
    EXPECT_FALSE(parse_written_number("1,200,000").ambiguous);
    EXPECT_FALSE(parse_written_number("1,200.5").ambiguous);
    EXPECT_FALSE(parse_written_number("1 200").ambiguous);
    for (const char* text : {"1 20", "030 123 456", "1234 567", "1'20", "555-123"})
        EXPECT_EQ(parse_written_number(text).content, CsvContent::word) << text;
}

TEST(CsvNumber, ReadsOtherMinusSignsAndParentheses) {
    EXPECT_EQ(parse_written_number("\xE2\x88\x92"
                                   "3.5")
                  .number,
              -3.5);
    EXPECT_EQ(parse_written_number("\xE2\x80\x93"
                                   "3.5 %")
                  .number,
              -3.5);
    EXPECT_EQ(parse_written_number("(1.2)").number, -1.2);
    EXPECT_EQ(parse_written_number("($1,200)").number, -1200);
    EXPECT_EQ(parse_written_number("\xC2\xA0"
                                   "5")
                  .number,
              5);
    for (const char* text : {"\xE2\x88\x92", "(-1)", "()", "(a)", "\xE2\x88\x92-1"})
        EXPECT_EQ(parse_written_number(text).content, CsvContent::word) << text;
}

TEST(CsvNumber, IdentifiersAndWordsAreNoNumbers) {
    for (const char* text : {"r17", "INV001", "A-5", "#12", "Q1", "$", "USD", "$x", "0x1f", "1.2.3",
                             "10.0.0.1", "12345678 and a very long remark on it"})
        EXPECT_EQ(parse_written_number(text).content, CsvContent::word) << text;
    EXPECT_EQ(parse_written_number("1e39 km").content, CsvContent::out_of_range);
}

}  // namespace
}  // namespace engine
