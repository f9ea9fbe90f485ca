#include "data/csv/csv_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "io/zip/zip.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::HasSubstr;

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

std::int64_t skipped(const std::string& text, char delimiter = '\0') {
    return find_csv_start(text, true, delimiter).skipped_lines;
}

TEST(CsvFormat, FindsTheTableBelowTitlesAndComments) {
    EXPECT_EQ(skipped("a,b\n1,2\n3,4\n"), 0);
    EXPECT_EQ(skipped("sep=;\na;b\n1;2\n3;4\n"), 1);
    EXPECT_EQ(find_csv_start("sep=|\na;x|b\n1;x|2\n", true, '\0').delimiter, '|');
    EXPECT_EQ(find_csv_start("\"sep=;\"\r\na;b\r\n1;2\r\n3;4\r\n", true, '\0').skipped_lines, 1);
    EXPECT_EQ(skipped("# made by a tool, v2\n# SI units\na,b\n1,2\n3,4\n"), 2);
    EXPECT_EQ(skipped("sep=\t\na\tb\n1\t2\n3\t4\n"), 1);
    EXPECT_EQ(skipped("Report, 2020\nUnit: m\n\na,b,y\n1,2,u\n3,4,w\n"), 3);
    EXPECT_EQ(skipped("Sales, by region\na,b,y\n1,2,u\n3,4,w\n"), 1);
    EXPECT_EQ(skipped("% one\n\n// two\na,b\n1,2\n3,4\n"), 3);
    EXPECT_EQ(skipped("Report of sales\n\na,b,c\n1,2,3\n4,5,6\n"), 1 + 1);
    EXPECT_EQ(skipped("Report\r\nof 2020\r\na,b,c\r\n1,2,3\r\n4,5,6\r\n"), 2);
    EXPECT_EQ(skipped("Sales, by region\na,b,c,d\n1,2,3,x\n4,5,6,y\n"), 1);
    EXPECT_EQ(skipped("Report,,,\n,,,\na,b,c,d\n1,2,3,x\n4,5,6,y\n"), 2);
    EXPECT_EQ(skipped("Length 5\" pipe\na,b\n1,2\n3,4\n"), 1) << "no quotation";
    EXPECT_EQ(skipped("Station: Oslo\nUnit: m\n\n1;2;3\n4;5;6\n7;8;9\n"), 3);
}

TEST(CsvFormat, KeepsRowsThatLookLikeTitlesAndComments) {
    EXPECT_EQ(skipped("#name,age\nx,1\ny,2\n"), 0) << "a header";
    EXPECT_EQ(skipped("#ff0000,1\n#00ff00,2\n#0000ff,3\n"), 0) << "rows";
    EXPECT_EQ(skipped("# two colours, by hand\n#ff0000,1\n00ff00,2\n0000ff,3\n"), 1);
    EXPECT_EQ(skipped("a,b\n1,2,3\n4,5,6\n"), 0) << "a header that lacks a name";
    EXPECT_EQ(skipped("a,b\nx,y,\nz,w,\n"), 0) << "rows that end with a delimiter";
    EXPECT_EQ(skipped("a,b,c\n1,2\n3,4\n"), 0) << "numbers are no header";
    EXPECT_EQ(skipped("5,,\n6,7,8\n9,1,2\n"), 0) << "missing values";
    EXPECT_EQ(skipped("#\n# only comments\n"), 0);
    EXPECT_EQ(skipped(""), 0);
}

TEST(CsvFormat, FindsBlanksAsTheDelimiterWhereNothingElseFits) {
    EXPECT_EQ(find_csv_delimiter("a b  c\n1   2 3\n4 5\t6 \n", true), ' ');
    EXPECT_EQ(find_csv_delimiter(
                  "18.0   8   307.0 \"chevrolet malibu\"\n15.0   8   350.0\t\"buick\"\n", true),
              ' ');
    EXPECT_EQ(find_csv_delimiter("a b y\n0.1   0.2\tu\n0.3   0.4\tw\n", true), ' ');
    EXPECT_EQ(find_csv_delimiter("2020-01-05 12:30\t1\n2020-01-06 12:30\t2\n", true), '\t');
    EXPECT_EQ(find_csv_delimiter("a;b c\n1;2 3\n", true), ';');
    EXPECT_EQ(find_csv_delimiter("one two\nthree\nfour five six\n", true), '\0');
}

std::string start_error(const std::string& name, const std::string& bytes) {
    const TempFolder folder;
    const std::string file = folder.write(name, bytes);
    return test::data_error([&] { find_csv_start(std::filesystem::path(file), '\0'); });
}

TEST(CsvFormat, RefusesFilesOfOtherProgramsAndSaysHowToSaveThem) {
    EXPECT_THAT(start_error("t.parquet", "PAR1\x15\x04 and so on"),
                HasSubstr("t.parquet: a file in the format of Parquet, not a CSV file | Save it as "
                          "CSV, in Python with pandas: "
                          "pandas.read_parquet(\"t.parquet\").to_csv(\"t.csv\", index=False)"));
    EXPECT_THAT(start_error("t.feather", std::string("ARROW1\0\0 and", 12)),
                HasSubstr("pandas.read_feather("));
    EXPECT_THAT(start_error("t.csv", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\x01 old"),
                HasSubstr("save the sheet as CSV"));
    const TempFolder folder;
    const auto zip = [&](const char* name, std::initializer_list<const char*> entries) {
        ZipWriter writer(folder / name);
        for (const char* entry : entries) writer.add_text(entry, "<x/>");
        writer.commit();
        return test::data_error([&] { find_csv_start(folder / name, '\0'); });
    };
    EXPECT_THAT(zip("t.xlsx", {"[Content_Types].xml", "xl/workbook.xml"}),
                HasSubstr("t.xlsx: a file in the format of Excel"));
    EXPECT_THAT(zip("t.ods", {"mimetype", "content.xml"}), HasSubstr("OpenDocument"));
    EXPECT_TRUE(looks_like_csv(folder / "t.xlsx")) << "so that the reason is shown";
    const std::string names = folder.write("names.csv", "PAR1,ORC\n1,2\n3,4\n");
    EXPECT_EQ(find_csv_start(std::filesystem::path(names), '\0').delimiter, ',')
        << "names of columns";
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
