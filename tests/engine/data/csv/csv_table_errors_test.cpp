#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/csv/csv_table.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::HasSubstr;

struct BadCsv {
    const char* name;
    std::string text;
    const char* sentence;  // part of "sentence | hint"
    CsvOptions options = {};
};

class BadCsvFile : public ::testing::TestWithParam<BadCsv> {};

TEST_P(BadCsvFile, IsRefusedWithOneSentence) {
    const TempFolder folder;
    const CsvSource source{.files = {folder.write("t.csv", GetParam().text)},
                           .options = GetParam().options,
                           .max_bytes = std::int64_t{64} << 20};
    const auto error = test::data_error([&] { read_csv_table(source); });
    EXPECT_THAT(error, HasSubstr(GetParam().sentence));
    EXPECT_THAT(error, HasSubstr(folder.str()));
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_LT(error.size(), folder.str().size() + 400) << error;
}

/// `text`, followed by `count` copies of `line` in which # is the number of the copy.
std::string with_rows(std::string text, int count, const std::string& line) {
    for (int i = 0; i < count; ++i) {
        for (const char c : line) text += c == '#' ? std::to_string(i) : std::string(1, c);
        text += '\n';
    }
    return text;
}

std::string wide(std::size_t columns, const std::string& last) {
    std::string text;
    for (std::size_t i = 1; i < columns; ++i) text += 'c' + std::to_string(i) + ',';
    return text + last;
}

const std::string long_word(1000, 'w');

INSTANTIATE_TEST_SUITE_P(
    Structure, BadCsvFile,
    ::testing::Values(
        BadCsv{"Empty", "", "t.csv: the file is empty"},
        BadCsv{"BlankLinesOnly", "\n\n  \n", "t.csv: contains no rows"},
        BadCsv{"ByteOrderMarkOnly", "\xEF\xBB\xBF", "t.csv: contains no rows"},
        BadCsv{"HeaderOnly", "a,b\n", "t.csv: no rows below the header"},
        BadCsv{"HeaderOnlyAsSaid",
               "1,2\n",
               "no rows below the header",
               {.header = CsvHeader::present}},
        BadCsv{"RowTooShort", "a,b,c\n1,2,3\n4,5\n",
               "t.csv, line 3: 2 fields where the first row has 3"},
        BadCsv{"RowTooLong", "a,b\n1,2\n\n3,4,5\n",
               "t.csv, line 4: 3 fields where the first row has 2"},
        BadCsv{"RowTooShortAfterAMultilineField", "a,b\n\"x\n\n\",2\n3\n", "line 5: 1 field"},
        BadCsv{"UnquotedDelimiter", "a,b\nSmith, John,1\n", "line 2: 3 fields"},
        BadCsv{"ShortRowOfAColumnWithValues", "a,b,\n1,2,3\n1,2\n",
               "line 3: 2 fields where the first row has 3"},
        BadCsv{"OneColumn", "a\n1\n2\n", "t.csv: only one column was found"},
        BadCsv{"AnotherDelimiterThanSaid",
               "a,b\n1,2\n",
               "only one column was found",
               {.delimiter = ';'}},
        BadCsv{"QuoteNeverClosed", "a,b\n1,2\n3,\"x\n4,5\n",
               "line 3: the quotation mark opened here is never closed"},
        BadCsv{"QuoteNeverClosedInTheHeader", "\"a,b\n1,2\n",
               "line 1: the quotation mark opened here is never closed"},
        BadCsv{"QuoteInsideAField", "a,b\n5\" pipe,2\n",
               "line 2: a quotation mark is out of place"},
        BadCsv{"TextAfterAQuote", "a,b\n1,2\n\"x\"y,2\n",
               "line 3: a quotation mark is out of place"},
        BadCsv{"NulByte", std::string("a,b\n1,2\n3,\0\n", 13), "line 3: contains a NUL byte"},
        BadCsv{"Utf16",
               std::string("\xFF\xFE"
                           "a\0,\0b\0",
                           8),
               "line 1: begins with the byte order mark of UTF-16"},
        BadCsv{"Latin1", "a,b\n1,2\n3,Z\xFCrich\n", "line 3: not valid UTF-8"},
        BadCsv{"CutWithinACharacter", "a,b\n1,\xE6\x97", "line 2: not valid UTF-8"},
        BadCsv{"Utf8CutByTheEndOfTheLine", "a,b\n1,\xE6\n3,4\n", "line 2: not valid UTF-8"},
        BadCsv{"TwoColumnsOfOneName", "a,b,a\n1,2,3\n", "line 1: two columns are named \"a\""},
        BadCsv{"TooManyColumns", wide(10001, "y\n"), "line 1: more than 10000 columns"},
        BadCsv{"RowTooLarge", "a,b\n1,\"" + std::string(max_csv_row * 2, 'x'),
               "line 2: the row that begins here is longer than 16 MiB"}),
    [](const auto& bad) { return std::string(bad.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Columns, BadCsvFile,
    ::testing::Values(
        BadCsv{
            "NoSuchTarget",
            "a,b\n1,2\n",
            "t.csv: there is no column \"c\", which dataset.target names | The columns are: a, b.",
            {.target = "c"}},
        BadCsv{"NearestNames",
               wide(20, "price\n") + wide(20, "1\n"),
               "dataset.target names | The nearest names are: price, ",
               {.target = "prise"}},
        BadCsv{"TargetByNumberDespiteAHeader",
               "a,b\n1,2\n",
               "there is no column \"1\"",
               {.target = "1"}},
        BadCsv{"TargetBeyondTheColumns",
               "5,2\n3,4\n",
               "there is no column \"3\", which dataset.target names | The table has no header: "
               "give the number of a column, from 1 to 2.",
               {.target = "3"}},
        BadCsv{
            "LongTargetName", "a,b\n1,2\n", "wwww…\", which dataset.target", {.target = long_word}},
        BadCsv{"NoSuchFeature",
               "a,b\n1,2\n",
               "\"x\", which dataset.columns names",
               {.columns = {"a", "x"}}},
        BadCsv{"NoSuchCategorical",
               "a,b\n1,2\n",
               "\"x\", which dataset.categorical names",
               {.categorical = {"x"}}},
        BadCsv{"NoFeatureLeft",
               "a,b\n1,2\n",
               "dataset.columns and dataset.without leave no feature beside the target \"b\"",
               {.columns = {"b"}}},
        BadCsv{"ColumnWithoutValues",
               "a,b,c\n1,,3\n2,NA,4\n",
               "t.csv: every value of column \"b\" is missing",
               {.missing = CsvMissing::mean}},
        BadCsv{"TargetWithoutValues", "a,b\n1,\n2,\n",
               "every value of column \"b\" is missing | Set dataset.target"},
        BadCsv{"TooManyCategories", with_rows("id,y\n", 1001, "r#,1"),
               "line 1002, column \"id\": more than 1000 different words | Leave the column out"},
        BadCsv{"TooManyClasses", with_rows("x,id\n", 1001, "1,r#"),
               "line 1002, column \"id\": the target has more than 1000 classes"},
        BadCsv{"TooManyFeatures",
               with_rows(wide(102, "y\n"), 1000,
                         [] {
                             std::string line;
                             for (int i = 1; i < 102; ++i) line += "r#,";
                             return line + "1";
                         }()),
               "more than 100000 features after one-hot encoding"}),
    [](const auto& bad) { return std::string(bad.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Values, BadCsvFile,
    ::testing::Values(
        BadCsv{"WordAmongNumbers", with_rows("x,y\n", 20, "#,1") + "oops,2\n",
               "line 22, column \"x\": \"oops\" among numbers | Correct the value; or set "
               "dataset.missing"},
        BadCsv{"LongWordAmongNumbers", with_rows("x,y\n", 20, "#,1") + long_word + ",2\n",
               "wwww…\" among numbers"},
        BadCsv{"WordAmongNumbersOfTheTarget", with_rows("x,y\n", 20, "1,#.5") + "1,1.2.3\n",
               "line 22, column \"y\": \"1.2.3\" among numbers"},
        BadCsv{"WordAmongNumbersByNumber",
               "abc,1\n" + with_rows("", 20, "#,1"),
               "line 1, column 1: \"abc\" among numbers | Set dataset.header to true",
               {.header = CsvHeader::absent}},
        BadCsv{"Infinite", "x,y\n1,2\n-inf,3\n",
               "line 3, column \"x\": -inf is infinite or too large for a 32-bit float"},
        BadCsv{"TooLargeForAFloat", "x,y\n1,2\n1,1e39\n", "line 3, column \"y\": 1e39 is infinite"},
        BadCsv{"DecimalCommas", "x;y\n1,5;2\n2,5;3\n",
               "line 2, column \"x\": \"1,5\" is a number with a comma"},
        BadCsv{"PointsBetweenGroups", "x;y\n500;2\n1.234.567;3\n",
               "line 3, column \"x\": \"1.234.567\" is a number with a comma"},
        BadCsv{"Missing", "a,b,c\n1,2,3\n1,,3\n,2,3\n",
               "line 3, column \"b\": the value is missing, as in 1 of 3 rows | Set "
               "dataset.missing to"},
        BadCsv{"MissingWord", "a,b\nx,1\n?,2\n", "line 3, column \"a\": the value is missing"},
        BadCsv{"MissingTarget", "a,b\n1,2\n1,null\n", "line 3, column \"b\": the value is missing"},
        BadCsv{"MissingByNumber", "7,2\n3,4\n5,\n", "line 3, column 2: the value is missing"},
        BadCsv{"RowOfDelimiters", "a,b\n1,2\n,\n", "line 3, column \"a\": the value is missing"},
        BadCsv{"NothingLeft",
               "a,b\n1,\n,2\n",
               "no row is left: each of the 2 rows lacks a value",
               {.missing = CsvMissing::drop}}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST(CsvTable, NamesTheFileThatDoesNotFitTheOthers) {
    const TempFolder folder;
    const auto error = [&](const std::string& second) {
        const CsvSource source{
            .files = {folder.write("1.csv", "a,b\n1,2\n"), folder.write("2.csv", second)},
            .max_bytes = 1 << 20};
        return test::data_error([&] { read_csv_table(source); });
    };
    EXPECT_THAT(error("a,c\n1,2\n"),
                HasSubstr("2.csv, line 1: the header has \"c\" where that of " +
                          (folder / "1.csv").string() + " has \"b\""));
    EXPECT_THAT(error("a,b,c\n1,2,3\n"), HasSubstr("2.csv, line 1: 3 fields where"));
    EXPECT_THAT(error("a,b\n1,\n"), HasSubstr("2.csv, line 2, column \"b\": the value is missing"));
    EXPECT_THAT(error(" "), HasSubstr("2.csv: contains no rows"));
}

TEST(CsvTable, RefusesAPackThatIsCutShort) {
    const TempFolder folder;
    const std::string text = with_rows("a,b\n", 5000, "#,1");
    test::Bytes pack = test::gzip({text.begin(), text.end()});
    pack.resize(pack.size() / 2);
    const CsvSource source{.files = {folder.write("t.csv.gz", pack)}, .max_bytes = 1 << 20};
    EXPECT_THAT(test::data_error([&] { read_csv_table(source); }),
                HasSubstr("t.csv.gz: cut short"));
}

}  // namespace
}  // namespace engine
