#include "data/csv/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Fields = std::vector<std::string>;
using NumberedRows = std::vector<std::pair<std::int64_t, Fields>>;  // line and fields

NumberedRows read_file(const std::string& file, char delimiter = ',') {
    NumberedRows rows;
    read_csv_rows(file, delimiter, {}, [&](const CsvRow& row) {
        rows.push_back({row.line, {row.fields.begin(), row.fields.end()}});
        return true;
    });
    return rows;
}

NumberedRows read_text(const std::string& text, char delimiter = ',') {
    const TempFolder folder;
    return read_file(folder.write("a.csv", text), delimiter);
}

TEST(CsvReader, ReadsQuotedFieldsWithNewlinesDelimitersAndDoubledQuotes) {
    EXPECT_THAT(
        read_text("a,\"b, c\nd\",\"say \"\"hi\"\"\"\n1,2,3\n"),
        ElementsAre(Pair(1, Fields{"a", "b, c\nd", "say \"hi\""}), Pair(3, Fields{"1", "2", "3"})));
}

TEST(CsvReader, CountsLinesAsATextEditorDoes) {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        const auto text = "a,b" + end + end + "\"1" + end + end + "\",2" + end + "  " + end + "3,4";
        EXPECT_THAT(read_text(text),
                    ElementsAre(Pair(1, Fields{"a", "b"}), Pair(3, Fields{"1" + end + end, "2"}),
                                Pair(7, Fields{"3", "4"})));
    }
}

TEST(CsvReader, CountsLinesAcrossTheBlocksThatItReads) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "12345,\"6\"\r\n";  // 1.2 MB
    const NumberedRows rows = read_text(text);
    ASSERT_EQ(rows.size(), 100000U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].first, static_cast<std::int64_t>(i + 1));
        ASSERT_EQ(rows[i].second, (Fields{"12345", "6"}));
    }
}

TEST(CsvReader, SkipsAByteOrderMarkAndBlankLines) {
    EXPECT_THAT(read_text("\xEF\xBB\xBF\"a\",b\n\n \n1,2\n\n\n"),
                ElementsAre(Pair(1, Fields{"a", "b"}), Pair(4, Fields{"1", "2"})));
}

TEST(CsvReader, ALineOfTabsIsARowWhereTabsSeparate) {
    EXPECT_THAT(
        read_text("a\tb\n\t\n1\t2\n", '\t'),
        ElementsAre(Pair(1, Fields{"a", "b"}), Pair(2, Fields{"", ""}), Pair(3, Fields{"1", "2"})));
}

TEST(CsvReader, StripsSpacesAroundUnquotedFieldsOnly) {
    EXPECT_THAT(read_text(" a , \" b \" ,\n"), ElementsAre(Pair(1, Fields{"a", " b ", ""})));
}

TEST(CsvReader, ReadsPackedFiles) {
    const TempFolder folder;
    const std::string text = "a,b\n1,2\n";
    const test::Bytes bytes(text.begin(), text.end());
    const NumberedRows expected = read_text(text);
    EXPECT_EQ(read_file(folder.write("a.csv.gz", test::gzip(bytes))), expected);
    EXPECT_EQ(read_file(folder.write("a.csv.xz", test::xz(bytes))), expected);
}

TEST(CsvReader, EndsWhenTheVisitorHasSeenEnough) {
    const TempFolder folder;
    int rows = 0;
    read_csv_rows(folder.write("a.csv", "1,2\n3,4\n\"never closed"), ',', {},
                  [&](const CsvRow&) { return ++rows < 2; });
    EXPECT_EQ(rows, 2);
}

TEST(CsvReader, EndsSoonAfterAStopWasRequested) {
    const TempFolder folder;
    std::stop_source source;
    source.request_stop();
    const auto file = folder.write("a.csv", "1,2\n");
    EXPECT_THROW(
        read_csv_rows(file, ',', {.stop = source.get_token()}, [](const CsvRow&) { return true; }),
        ReadingStopped);
}

TEST(CsvReader, AllowsTenThousandColumnsAndRefusesMore) {
    const std::string row(max_csv_columns - 1, ',');
    EXPECT_EQ(read_text(row + "\n")[0].second.size(), max_csv_columns);
    EXPECT_THAT(test::data_error([&] { read_text("a\n" + row + ",\n"); }),
                HasSubstr("a.csv, line 2: more than 10000 columns"));
}

TEST(CsvReader, RefusesAMillionColumnsBeforeTheEndOfTheRow) {
    // Text beyond the limit is not parsed; otherwise its quotation mark would be an error.
    EXPECT_THAT(test::data_error([&] { read_text(std::string(1000000, ',') + "a\"b"); }),
                HasSubstr("more than 10000 columns"));
}

TEST(CsvReader, RefusesARowOfMoreThanSixteenMebibytes) {
    const std::string field(max_csv_row / 2, 'x');
    EXPECT_THAT(test::data_error([&] { read_text("1,2\n" + field + "," + field + ",y\n"); }),
                HasSubstr("line 2: the row that begins here is longer than 16 MiB"));
    EXPECT_THAT(test::data_error([&] { read_text("1,2\n3,\"" + field + field + field); }),
                HasSubstr("line 2: the row that begins here is longer than 16 MiB"));
}

}  // namespace
}  // namespace engine
