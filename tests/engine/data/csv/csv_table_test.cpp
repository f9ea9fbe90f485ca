#include "data/csv/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "csv_tables.h"
#include "data/csv/csv_statistics.h"
#include "engine/base/error.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test::read_files;
using test::read_one_file;
using test::warning_text;
using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t megabytes = std::int64_t{64} << 20;

std::vector<std::string> names(const CsvTable& table) {
    std::vector<std::string> out;
    for (const auto& feature : table.features) out.push_back(feature.name);
    return out;
}

TEST(CsvTable, ReadsNumbersWordsAndATargetOfWords) {
    const CsvTable table = read_one_file("x,town,kind\n1,Oslo,b\n-2.5,Bern,a\n3,Oslo,b\n");
    EXPECT_EQ(table.rows, 3);
    EXPECT_THAT(names(table), ElementsAre("x", "town"));
    EXPECT_THAT(table.features[1].categories, ElementsAre("Bern", "Oslo"));
    EXPECT_EQ(table.features[1].offset, 1U);
    EXPECT_EQ(table.width, 3U);
    EXPECT_THAT(table.cells, ElementsAre(1, 1, -2.5F, 0, 3, 1));
    EXPECT_EQ(table.target, "kind");
    EXPECT_THAT(table.classes, ElementsAre("a", "b"));
    EXPECT_THAT(table.labels, ElementsAre(1, 0, 1));
    EXPECT_THAT(table.target_values, IsEmpty());
    EXPECT_EQ(warning_text(table), "");
}

TEST(CsvTable, AWholeTargetIsBothValuesAndClassesInOrderOfValue) {
    const CsvTable table = read_one_file("x,y\n1,10\n2,9\n3,-1\n4,10.0\n");
    EXPECT_THAT(table.target_values, ElementsAre(10, 9, -1, 10));
    EXPECT_THAT(table.classes, ElementsAre("-1", "9", "10"));
    EXPECT_THAT(table.labels, ElementsAre(2, 1, 0, 2));
}

TEST(CsvTable, AFractionOrTooManyValuesMakeATargetOfValuesOnly) {
    EXPECT_THAT(read_one_file("x,y\n1,1\n2,2.5\n").classes, IsEmpty());
    EXPECT_THAT(read_one_file("x,y\n1,1\n2,2.5\n").labels, IsEmpty());
    std::string text = "x,y\n";
    for (int i = 0; i < 1000; ++i) text += "1," + std::to_string(i) + "\n";
    EXPECT_EQ(read_one_file(text).classes.size(), 1000U);
    EXPECT_THAT(read_one_file(text + "1,1000\n").classes, IsEmpty());
}

TEST(CsvTable, TheOrderOfRowsDoesNotChangeCategoriesAndClasses) {
    const CsvTable a = read_one_file("t,y\nu,p\nv,q\nw,r\n");
    const CsvTable b = read_one_file("t,y\nw,r\nv,q\nu,p\n");
    EXPECT_EQ(a.features[0].categories, b.features[0].categories);
    EXPECT_EQ(a.classes, b.classes);
    EXPECT_THAT(b.cells, ElementsAre(2, 1, 0));
    EXPECT_THAT(b.labels, ElementsAre(2, 1, 0));
}

TEST(CsvTable, FindsOutWhetherThereIsAHeader) {
    EXPECT_THAT(names(read_one_file("a,b\n1,2\n3,4\n")), ElementsAre("a"));
    EXPECT_THAT(names(read_one_file("5,2\n3,4\n")), ElementsAre("column 1"));
    EXPECT_EQ(read_one_file("5,2\n3,4\n").rows, 2);
    // Only words: header names are distinct and do not occur below.
    EXPECT_THAT(names(read_one_file("a,b\nx,y\nz,y\n")), ElementsAre("a"));
    EXPECT_THAT(names(read_one_file("x,y\nx,z\n")), ElementsAre("column 1"));
    EXPECT_THAT(names(read_one_file("x,x\ny,z\n")), ElementsAre("column 1"));
    // One numeric column below is enough. A missing number does not count as a name.
    EXPECT_THAT(names(read_one_file("a,b,c\nx,y,1\nx,z,2\n")), ElementsAre("a", "b"));
    EXPECT_EQ(read_one_file("NA,x\n1,x\n2,y\n", {.missing = CsvMissing::drop}).rows, 2);
    EXPECT_EQ(read_one_file(",b\n0,x\n1,y\n", {.header = CsvHeader::present}).target, "b");
}

TEST(CsvTable, ObeysWhatIsSaidOfTheHeader) {
    EXPECT_EQ(read_one_file("1,2\n3,4\n", {.header = CsvHeader::present}).rows, 1);
    EXPECT_THAT(names(read_one_file("1,2\n3,4\n", {.header = CsvHeader::present})),
                ElementsAre("1"));
    const CsvTable table = read_one_file("a,b\nx,y\nz,y\n", {.header = CsvHeader::absent});
    EXPECT_EQ(table.rows, 3);
    EXPECT_THAT(table.classes, ElementsAre("b", "y"));
}

TEST(CsvTable, TakesTheTargetByNameOrNumber) {
    EXPECT_EQ(read_one_file("a,b,c\n1,2,3\n", {.target = "b"}).target, "b");
    EXPECT_THAT(names(read_one_file("a,b,c\n1,2,3\n", {.target = "b"})), ElementsAre("a", "c"));
    EXPECT_THAT(read_one_file("5,6\n7,8\n", {.target = "1"}).classes, ElementsAre("5", "7"));
    EXPECT_EQ(read_one_file("5,6\n7,8\n", {.target = "column 1"}).target, "column 1");
}

TEST(CsvTable, UsesTheListedColumnsOnly) {
    const CsvTable table = read_one_file("a,id,c,y\n1,x1,3,4\n2,,,5\n",
                                         {.columns = {"c", "a"}, .missing = CsvMissing::drop});
    EXPECT_THAT(names(table), ElementsAre("a", "c"));  // in the order of the file
    EXPECT_THAT(table.cells, ElementsAre(1, 3));
    EXPECT_EQ(table.columns[1].role, CsvRole::unused);
    EXPECT_EQ(table.columns[3].role, CsvRole::target);
}

TEST(CsvTable, NumbersAreCategoriesWhereListed) {
    const CsvTable table =
        read_one_file("zip,y\n10,1.5\n9,2.5\n010,3.5\n", {.categorical = {"zip"}});
    EXPECT_THAT(table.features[0].categories, ElementsAre("010", "10", "9"));
    EXPECT_THAT(table.cells, ElementsAre(1, 2, 0));
    const CsvTable target = read_one_file("x,y\n1,10\n2,9\n", {.categorical = {"y"}});
    EXPECT_THAT(target.classes, ElementsAre("10", "9"));
    EXPECT_THAT(target.target_values, IsEmpty());
}

TEST(CsvTable, AFewNumbersAmongWordsAreWords) {
    EXPECT_THAT(read_one_file("a,b\nx,1\nz,2\n4,3\n").features[0].categories,
                ElementsAre("4", "x", "z"));
}

TEST(CsvTable, JoinsFilesOfTheSameHeader) {
    const CsvTable table = read_files({"a,b\n1,x\n", "a,b\n2,y\n3,x\n"});
    EXPECT_THAT(table.cells, ElementsAre(1, 2, 3));
    EXPECT_THAT(table.labels, ElementsAre(0, 1, 0));
    EXPECT_THAT(read_files({"5,2\n", "3,4\n"}).cells, ElementsAre(5, 3));
}

TEST(CsvTable, FindsAHeaderOfEmptyNamesAndOneThatStandsInTheTableAgain) {
    const CsvTable unnamed = read_one_file(",,kind\n1,2,b\n3,4,a\n");
    EXPECT_EQ(unnamed.rows, 2);
    EXPECT_EQ(unnamed.target, "kind");
    std::string text = "a,b\n";
    for (int i = 0; i < 20; ++i) text += std::to_string(i) + ",1\n";
    try {
        read_one_file(text + "a,b\n");
        ADD_FAILURE() << "taken";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("line 22, column \"a\": \"a\" among numbers"));
    }
    EXPECT_EQ(read_one_file("7,x\n8,y\n").rows, 2) << "a number is no name";
}

TEST(CsvTable, WarnsOfAWordThatIsFarTooLong) {
    EXPECT_EQ(warning_text(read_one_file("x,y\n" + std::string(1000, 'a') + ",1\nb,2\nb,3\n")), "");
    EXPECT_THAT(warning_text(read_one_file("x,y\nb,1\n" + std::string(1001, 'a') + ",2\nb,3\n")),
                HasSubstr("line 3, column \"x\": a word of 1001 bytes"));
}

TEST(CsvTable, WarnsOfIdentifiers) {
    EXPECT_THAT(warning_text(read_one_file("id,y\na,1\nb,1\nc,1\n")),
                HasSubstr("column \"id\" has a different word in every row"));
    std::string ids = "id,y\n";
    for (int i = 0; i < 1000; ++i) ids += "r" + std::to_string(i) + ",1\n";
    EXPECT_EQ(read_one_file(ids).width, 1000U);
    EXPECT_THAT(warning_text(read_one_file(ids)), HasSubstr("column \"id\""));
}

TEST(CsvTable, ARowThatCountsTheColumnsIsTheHeader) {
    const CsvTable zero = read_one_file("0,1,2\n5.5,6,1\n7,8,0\n");
    EXPECT_EQ(zero.rows, 2);
    EXPECT_THAT(names(zero), ElementsAre("0", "1"));
    EXPECT_THAT(warning_text(zero), HasSubstr("the first row (0 to 2) is read as the names of the "
                                              "columns; set dataset.header to false"));
    EXPECT_EQ(read_one_file("1,2,3,4\n5,6,7,1\n7,8,9,0\n").rows, 2);
    EXPECT_EQ(read_one_file("\"0\",\"1\"\n5,6\n7,8\n").rows, 2);
    EXPECT_EQ(read_one_file(",0,1,2\n0,5,6,1\n1,7,8,0\n2,3,4,1\n").rows, 3) << "with an index";
    EXPECT_EQ(read_one_file("0;1;2;3\nx;y;z;w\nx;y;z;u\n").target, "3");
    EXPECT_EQ(read_one_file("0,1,2\n5,6,1\n", {.header = CsvHeader::absent}).rows, 2);
    // Others are data, and so are two small numbers that recur.
    EXPECT_EQ(read_one_file("2019,2020\n5,6\n7,8\n").rows, 3);
    EXPECT_EQ(read_one_file("0,2,1\n5,6,1\n7,8,0\n").rows, 3);
    const CsvTable both = read_one_file("0,1\n1,0\n0,0\n1,1\n");
    EXPECT_EQ(both.rows, 4);
    EXPECT_THAT(warning_text(both),
                HasSubstr("(0 to 1) is read as data; set dataset.header to true"));
}

TEST(CsvTable, YearsAboveNumbersOfAnotherScaleAreTheHeader) {
    const CsvTable table = read_one_file("2019,2020,2021,kind\n5,6.5,7,a\n7,8,9,b\n6,7,8,a\n");
    EXPECT_EQ(table.rows, 3);
    EXPECT_THAT(names(table), ElementsAre("2019", "2020", "2021"));
    EXPECT_THAT(warning_text(table), HasSubstr("the first row (2019 to 2021) is read as the names "
                                               "of the columns; set dataset.header to false"));
    EXPECT_EQ(read_one_file("2019,2020,2021,kind\n5,6.5,7,a\n7,8,9,b\n",
                            {.header = CsvHeader::absent})
                  .rows,
              3);
    const CsvTable towns = read_one_file(
        "town,1990,2000,2010\nOslo,450000,500000,600000\nBern,110000,120000,130000\nLyon,9e5,9e5,1e6\n");
    EXPECT_THAT(names(towns), ElementsAre("town", "1990", "2000"));
    // Told, and read as data: years among years, other numbers far from theirs.
    for (const std::string text :
         {"2019,2020,2021\n2018,2020,2022\n2017,2021,2023\n",
          "10,20,30\n0.5,0.25,0.125\n0.75,0.5,0.25\n0.5,0.25,0.125\n"}) {
        const CsvTable data = read_one_file(text);
        EXPECT_EQ(data.rows, std::ranges::count(text, '\n')) << text;
        EXPECT_THAT(warning_text(data), HasSubstr("is read as data; set dataset.header to true"));
    }
    // A row like any other, and years that do not follow each other.
    for (const std::string text :
         {"5,6,7\n4,9,8\n7,7,2\n", "2019,2020,2022\n5,6,7\n7,8,9\n",
          "2021,2020,2019\n5,6,7\n7,8,9\n", "2019,5,2021\n5,6,7\n7,8,9\n"}) {
        const CsvTable data = read_one_file(text);
        EXPECT_EQ(data.rows, 3) << text;
        EXPECT_THAT(warning_text(data), Not(HasSubstr("the first row"))) << text;
    }
}

TEST(CsvTable, LeavesOutAnUnnamedColumnThatCountsTheRows) {
    const CsvTable table = read_one_file(",x,y\n0,5,1\n1,6,0\n2,5,1\n");
    EXPECT_THAT(names(table), ElementsAre("x"));
    EXPECT_THAT(warning_text(table),
                HasSubstr("columns without a name that count the rows are left "
                          "out: 1; list them in dataset.columns"));
    EXPECT_THAT(names(read_one_file("Unnamed: 0,x,y\n1,5,1\n2,6,0\n3,5,1\n")), ElementsAre("x"));
    EXPECT_THAT(names(read_one_file("1,5,a\n2,6,b\n3,5,a\n", {.header = CsvHeader::absent})),
                ElementsAre("column 2"));
    EXPECT_THAT(names(read_one_file("7,1,5,a\n9,2,6,b\n8,3,5,a\n")).size(), 3U) << "not the first";
    EXPECT_THAT(names(read_one_file("id,x,y\n0,5,1\n1,6,0\n2,5,1\n")), ElementsAre("id", "x"));
    EXPECT_THAT(names(read_one_file(",x,y\n3,5,1\n4,6,0\n5,5,1\n")).size(), 2U);
    EXPECT_THAT(names(read_one_file(",x,y\n0,5,1\n2,6,0\n3,5,1\n")).size(), 2U);
    EXPECT_THAT(names(read_one_file(",y\n0,1.5\n1,0.5\n2,1.5\n")), ElementsAre("column 1"))
        << "nothing else would be left";
    EXPECT_THAT(names(read_one_file(",x,y\n0,5,1\n1,6,0\n2,5,1\n", {.columns = {"column 1"}})),
                ElementsAre("column 1"));
    EXPECT_THAT(names(read_files({",x,y\n0,5,1\n1,6,0\n", ",x,y\n2,5,1\n"})), ElementsAre("x"));
}

TEST(CsvTable, ReadsRowsThatEndWithADelimiter) {
    for (const char* text :
         {"a,b,\n5,x,\n6,y,\n", "a,b\n5,x,\n6,y,\n", "a,b,\n5,x\n6,y\n", "a;b;;\n5;x;;\n6;y;;\n",
          "a\tb\t\n5\tx\t\n6\ty\t\n", "a,b\n5,x,\n6,y\n", "a,b, \n5,x, \n6,y, \n"}) {
        const CsvTable table = read_one_file(text);
        EXPECT_THAT(names(table), ElementsAre("a")) << text;
        EXPECT_THAT(table.cells, ElementsAre(5, 6)) << text;
        EXPECT_EQ(table.target, "b") << text;
    }
    EXPECT_EQ(read_one_file("5,x,\n6,y,\n").target, "column 2") << "without a header";
    EXPECT_THAT(warning_text(read_one_file("a,b,\n5,x,\n6,y,\n")),
                HasSubstr("columns without a name and a value are left out: 3"));
}

TEST(CsvTable, SkipsWhatStandsAboveTheTable) {
    const CsvTable table = read_files({"Report\n# by a tool\na,b\n5,x\n6,y\n", "a,b\n7,x\n"});
    EXPECT_THAT(table.cells, ElementsAre(5, 6, 7));
    EXPECT_THAT(warning_text(table), HasSubstr("0.csv: lines above the table are skipped: 2"));
    EXPECT_THAT(read_one_file("sep=;\na;b\n5;x\n6;y\n").cells, ElementsAre(5, 6));
    EXPECT_THAT(read_one_file("\xEF\xBB\xBF"
                              "sep=,\r\na,b\r\n5,x\r\n6,y\r\n")
                    .cells,
                ElementsAre(5, 6));
}

TEST(CsvTable, ReadsColumnsThatBlanksSeparate) {
    const CsvTable table = read_one_file("  5  1.5   \"one car\"\n 10\t2.5 \"two\"  \n 7 3 x\n");
    EXPECT_THAT(table.cells, ElementsAre(5, 1.5F, 10, 2.5F, 7, 3));
    EXPECT_THAT(table.classes, ElementsAre("one car", "two", "x"));
    EXPECT_THAT(warning_text(table), HasSubstr("blanks separate the columns"));
}

TEST(CsvTable, WholeNumbersBeyondADoubleAreCategories) {
    const CsvTable table = read_one_file("id,y\n9007199254740993,1\n9007199254740992,2\n5,3\n");
    EXPECT_THAT(table.features[0].categories,
                ElementsAre("5", "9007199254740992", "9007199254740993"));
    EXPECT_THAT(warning_text(table),
                HasSubstr("whole numbers beyond 2^53 are read as words: \"id\" "
                          "(9007199254740993)"));
    EXPECT_THAT(
        read_one_file("x,y\n1,12345678901234567890\n2,12345678901234567891\n").classes.size(), 2U);
    EXPECT_FALSE(read_one_file("x,y\n9007199254740992,1\n5,2\n").features[0].categorical());
    EXPECT_FALSE(read_one_file("x,y\n9007199254740993,1\n5.5,2\n").features[0].categorical());
    EXPECT_FALSE(read_one_file("x,y\n1e20,1\n5,2\n").features[0].categorical());
    EXPECT_TRUE(read_one_file("x,y\n-9007199254740993,1\n5,2\n").features[0].categorical());
    EXPECT_TRUE(
        read_one_file("x,y\n" + std::string(50, '7') + ",1\n5,2\n").features[0].categorical());
}

TEST(CsvTable, LeavesOutColumns) {
    EXPECT_THAT(names(read_one_file("id,x,y\n1,2,3\n4,5,6\n", {.without = {"id"}})),
                ElementsAre("x"));
    EXPECT_THAT(
        names(read_one_file("id,x,y\n1,2,3\n4,5,6\n", {.columns = {"id", "x"}, .without = {"id"}})),
        ElementsAre("x"));
    EXPECT_THAT(names(read_one_file("7,2,3\n4,5,6\n", {.without = {"1"}})),
                ElementsAre("column 2"));
    EXPECT_THAT(test::data_error([] { read_one_file("x,y\n1,2\n", {.without = {"z"}}); }),
                HasSubstr("there is no column \"z\", which dataset.without names"));
    EXPECT_THAT(test::data_error([] { read_one_file("x,y\n1,2\n", {.without = {"x"}}); }),
                HasSubstr("leave no feature beside the target \"y\""));
}

TEST(CsvTable, TellsOfWordsThatLookLikeNumbersOrDates) {
    const auto told = [](const std::string& before, const std::string& after, int different = 30) {
        std::string text = "d,y\n";
        for (int i = 0; i < 30; ++i)
            text += before + std::to_string(10 + i % different) + after + ",1\n";
        return warning_text(read_one_file(text));
    };
    for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
             {"2020-01-", ""}, {"", ":30"}, {"0x1f", ""}, {"'", ".5'"}, {"<", ""}, {"1/", ""}}) {
        EXPECT_THAT(told(before, after), HasSubstr("words that look like numbers or dates"))
            << before;
    }
    EXPECT_THAT(told("", "-99", 4), Not(HasSubstr("look like"))) << "few codes";
    EXPECT_THAT(told("person ", ""), Not(HasSubstr("look like")));
}

TEST(CsvTable, ReadsOddButValidFiles) {
    EXPECT_EQ(read_one_file("a,b\n1,2").rows, 1);            // no newline at the end
    EXPECT_EQ(read_one_file("a,b\n1,2\n\n\n \n").rows, 1);   // blank lines at the end
    EXPECT_EQ(read_one_file("a,b\r\n1,2\r\n").cells[0], 1);  // CRLF
    EXPECT_EQ(read_one_file("\xEF\xBB\xBF"
                            "a,b\n1,2\n")
                  .features[0]
                  .name,
              "a");                                                          // byte order mark
    EXPECT_THAT(read_one_file("a,b\n\"1\",\"2\"\n").cells, ElementsAre(1));  // quoted numbers
    EXPECT_THAT(read_one_file("a,b\n 1 ,\" 2 \"\n").target_values, ElementsAre(2));  // spaces
    EXPECT_EQ(read_one_file("a,b\n7,x\n7,y\n").width, 1U);                           // constant
    EXPECT_EQ(read_one_file("a,b\n7,x\n8,x\n").classes.size(), 1U);                  // one class
    EXPECT_EQ(read_one_file("größe,b\n7,x\n8,x\n").features[0].name, "größe");
    EXPECT_EQ(read_one_file("a;b\n1.5;2\n").target, "b");
    EXPECT_EQ(read_one_file("a,b\n\"x\ny\",1\n\"x\ny\",2\n").features[0].categories[0], "x\ny");
    EXPECT_EQ(read_one_file("a,b\n\"\"\"q\"\"\",1\n").features[0].categories[0], "\"q\"");
    const std::string word(1000000, 'w');
    EXPECT_EQ(read_one_file("a,b\n" + word + ",1\nv,2\n").features[0].categories[1], word);
}

TEST(CsvTable, RefusesATableThatWouldNotFitBeforeItAllocatesIt) {
    const TempFolder folder;
    std::string text = "a,b\n";
    for (int i = 0; i < 100; ++i) text += "1,2\n";
    CsvSource source{.files = {folder.write("a.csv", text)}, .max_bytes = 100 * (4 + 24) - 1};
    EXPECT_THAT(test::data_error([&] { read_csv_table(source); }),
                HasSubstr("a.csv: 100 rows of 1 feature take more than the 0 MiB"));
    ++source.max_bytes;
    EXPECT_EQ(read_csv_table(source).rows, 100);
    source.max_bytes = 100;
    EXPECT_THAT(test::data_error([&] { read_csv_table(source); }), HasSubstr("holds more than"));
}

TEST(CsvTable, RefusesWordsThatWouldNotFit) {
    const TempFolder folder;
    std::string text = "a,y\n";
    for (int i = 0; i < 30; ++i) text += std::to_string(i) + std::string(1000, 'w') + ",2\n";
    const CsvSource source{.files = {folder.write("a.csv", text)}, .max_bytes = 40000};
    EXPECT_THAT(test::data_error([&] { read_csv_table(source); }),
                HasSubstr("line 11, column \"a\": the words of the table take more than"));
}

TEST(CsvTable, EndsSoonAfterAStopWasRequested) {
    const TempFolder folder;
    std::stop_source stop;
    stop.request_stop();
    const CsvSource source{.files = {folder.write("a.csv", "a,b\n1,2\n")},
                           .max_bytes = megabytes,
                           .stop = stop.get_token()};
    EXPECT_THROW(read_csv_table(source), ReadingStopped);
}

}  // namespace
}  // namespace engine
