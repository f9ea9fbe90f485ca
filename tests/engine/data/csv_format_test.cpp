#include "data/csv_format.h"

#include <gtest/gtest.h>

#include <string>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;

TEST(CsvFormat, FindsEachDelimiter) {
    for (const char delimiter : {',', ';', '\t', '|'}) {
        std::string text = "a,b;c|d\te\n1,2;3|4\t5\n";
        for (char& c : text) {
            if (std::string(",;|\t").find(c) != std::string::npos) c = delimiter;
        }
        EXPECT_EQ(find_csv_delimiter(text, true), delimiter);
    }
}

TEST(CsvFormat, DelimitersInQuotesDoNotCount) {
    EXPECT_EQ(find_csv_delimiter("a,\"x;y;z\"\nb,\"p;q;r \"\"s;\"\"\"\n", true), ',');
    EXPECT_EQ(find_csv_delimiter("\"a\n;\",b\n\"c;;\",d\n", true), ',');
}

TEST(CsvFormat, PrefersSemicolonsWhereCommasAreDecimal) {
    EXPECT_EQ(find_csv_delimiter("1,5;2,5\n3,5;4,5\n", true), ';');
    EXPECT_EQ(find_csv_delimiter("a;b\n1,5;2\n3,5;4\n", true), ';');
}

TEST(CsvFormat, TheEvenerDelimiterWins) {
    EXPECT_EQ(find_csv_delimiter("a,b|c\nd,e\nf|g,h\n", true), ',');
}

TEST(CsvFormat, FindsNoneWhereMostRowsDiffer) {
    EXPECT_EQ(find_csv_delimiter("abc\ndef\n", true), '\0');
    EXPECT_EQ(find_csv_delimiter("a,b\nc\nd\n", true), '\0');
    EXPECT_EQ(find_csv_delimiter("", true), '\0');
}

TEST(CsvFormat, ARowThatTheSampleCutsOffDoesNotCount) {
    EXPECT_EQ(find_csv_delimiter("a;b,c\nd;e\nf,g,h;", false), ';');
    EXPECT_EQ(find_csv_delimiter("a;b", false), ';');  // unless it is the only one
}

TEST(CsvFormat, SamplesTheUnpackedTextWithoutItsByteOrderMark) {
    const TempFolder folder;
    const std::string text = "\xEF\xBB\xBFsome,text";
    EXPECT_EQ(csv_sample(folder.write("a.csv.xz", test::xz({text.begin(), text.end()})), 7),
              "some");
}

bool looks(const std::string& name, const std::string& text) {
    const TempFolder folder;
    return looks_like_csv(folder.write(name, text));
}

TEST(CsvFormat, RecognisesTables) {
    EXPECT_TRUE(looks("a.csv", "a,b\n1,2\n"));
    EXPECT_TRUE(looks("A.CSV", "a;b\r\n1;2\r\n"));
    EXPECT_TRUE(looks("a.tsv", "a\tb\n1\t2"));
    EXPECT_TRUE(looks("iris.data", "5.1,3.5,setosa\n4.9,3.0,setosa\n\n"));
    EXPECT_TRUE(looks("a.txt", "a|b\n1|2\n3|4\n5|6\nx\n"));  // 4 of 5 rows
    EXPECT_TRUE(looks("a.csv", "a,b\n1,2\nremark\nremark, with, commas\n"));
    EXPECT_TRUE(looks("wide.csv", "a,b\n" + std::string(100000, '1') + ",2\n3,4\n"));
    std::string large = "a,b\n";
    for (int i = 0; i < 40000; ++i) large += "é,1\n";  // the sample ends within a character
    EXPECT_TRUE(looks("large.txt", large));
}

TEST(CsvFormat, RecognisesPackedTables) {
    const std::string text = "a,b\n1,2\n";
    const test::Bytes bytes(text.begin(), text.end());
    const TempFolder folder;
    EXPECT_TRUE(looks_like_csv(folder.write("a.csv.gz", test::gzip(bytes))));
    EXPECT_TRUE(looks_like_csv(folder.write("a.data.xz", test::xz(bytes))));
    test::Bytes cut = test::gzip(bytes);
    cut.resize(cut.size() / 2);
    EXPECT_FALSE(looks_like_csv(folder.write("cut.csv.gz", cut)));
}

TEST(CsvFormat, DoesNotTakeOtherFilesForTables) {
    EXPECT_FALSE(looks("a.bin", "a,b\n1,2\n"));
    EXPECT_FALSE(looks("a.json", "{\"a\": 1,\n\"b\": 2,\n}"));
    EXPECT_FALSE(looks("a.csv", ""));
    EXPECT_FALSE(looks("a.csv", "a,b\n"));
    EXPECT_FALSE(looks("a.csv", "one\ntwo\nthree\n"));
    EXPECT_FALSE(looks("a.csv", std::string("a,b\n1,\0\n", 8)));
    EXPECT_FALSE(looks("a.csv", "a,b\n\xFF\xFE,2\n"));
    EXPECT_FALSE(looks("prose.txt",
                       "Well, said he,\nthis is prose.\nIt has, now and then,\n"
                       "a comma, or two, or three,\nand often none.\n"));
    EXPECT_FALSE(looks("a.txt", "a|b\n1|2\n3|4\nx\ny\n"));  // 3 of 5 rows
    EXPECT_FALSE(looks_like_csv("/no/such/file.csv"));
}

}  // namespace
}  // namespace engine
