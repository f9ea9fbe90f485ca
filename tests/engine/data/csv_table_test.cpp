#include "data/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/error.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t megabytes = std::int64_t{64} << 20;

CsvTable read_files(const std::vector<std::string>& texts, const CsvOptions& options = {}) {
    const TempFolder folder;
    CsvSource source{.options = options, .most_bytes = megabytes};
    for (const auto& text : texts)
        source.files.push_back(folder.write(std::to_string(source.files.size()) + ".csv", text));
    return read_csv_table(source);
}

CsvTable read_one_file(const std::string& text, const CsvOptions& options = {}) {
    return read_files({text}, options);
}

std::vector<std::string> names(const CsvTable& table) {
    std::vector<std::string> out;
    for (const auto& feature : table.features) out.push_back(feature.name);
    return out;
}

std::string warning_text(const CsvTable& table) {
    std::string out;
    for (const auto& warning : table.warnings) out += warning.str() + '\n';
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
    EXPECT_THAT(names(read_one_file("1,2\n3,4\n")), ElementsAre("column 1"));
    EXPECT_EQ(read_one_file("1,2\n3,4\n").rows, 2);
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
    EXPECT_THAT(read_one_file("a,b\nx,1\n3,2\n4,3\n").features[0].categories,
                ElementsAre("3", "4", "x"));
}

TEST(CsvTable, JoinsFilesOfTheSameHeader) {
    const CsvTable table = read_files({"a,b\n1,x\n", "a,b\n2,y\n3,x\n"});
    EXPECT_THAT(table.cells, ElementsAre(1, 2, 3));
    EXPECT_THAT(table.labels, ElementsAre(0, 1, 0));
    EXPECT_THAT(read_files({"1,2\n", "3,4\n"}).cells, ElementsAre(1, 3));
}

TEST(CsvTable, DropsRowsWithMissingValues) {
    const CsvTable table = read_one_file("a,b,c\n1,x,5\n,x,6\n2,only here,\n3,?,7\n4,y,8\n",
                                         {.missing = CsvMissing::drop});
    EXPECT_THAT(table.cells, ElementsAre(1, 0, 4, 1));
    EXPECT_THAT(table.target_values, ElementsAre(5, 8));
    EXPECT_THAT(table.features[1].categories, ElementsAre("x", "y"));  // of the rows that remain
    EXPECT_THAT(warning_text(table), HasSubstr("left out because a value is missing: 3 of 5"));
}

TEST(CsvTable, KeepsMissingFeaturesToBeFilledAndDropsRowsWithoutATarget) {
    const CsvTable table =
        read_one_file("a,b,c\n1,NA,5\n-,x,6\n2,x,\n", {.missing = CsvMissing::mean});
    ASSERT_EQ(table.rows, 2);
    EXPECT_TRUE(std::isnan(table.cells[1]));
    EXPECT_TRUE(std::isnan(table.cells[2]));
    EXPECT_THAT(warning_text(table), HasSubstr("left out because a value is missing: 1 of 3"));
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
    CsvSource source{.files = {folder.write("a.csv", text)}, .most_bytes = 100 * (4 + 24) - 1};
    EXPECT_THAT(test::data_error([&] { read_csv_table(source); }),
                HasSubstr("a.csv: 100 rows of 1 features take more than the 0 MiB"));
    ++source.most_bytes;
    EXPECT_EQ(read_csv_table(source).rows, 100);
    source.most_bytes = 100;
    EXPECT_THAT(test::data_error([&] { read_csv_table(source); }), HasSubstr("holds more than"));
}

TEST(CsvTable, RefusesWordsThatWouldNotFit) {
    const TempFolder folder;
    std::string text = "a,y\n";
    for (int i = 0; i < 30; ++i) text += std::to_string(i) + std::string(1000, 'w') + ",2\n";
    const CsvSource source{.files = {folder.write("a.csv", text)}, .most_bytes = 40000};
    EXPECT_THAT(test::data_error([&] { read_csv_table(source); }),
                HasSubstr("line 11, column \"a\": the words of the table take more than"));
}

TEST(CsvTable, EndsSoonAfterAStopWasRequested) {
    const TempFolder folder;
    std::stop_source stop;
    stop.request_stop();
    const CsvSource source{.files = {folder.write("a.csv", "a,b\n1,2\n")},
                           .most_bytes = megabytes,
                           .stop = stop.get_token()};
    EXPECT_THROW(read_csv_table(source), ReadingStopped);
}

}  // namespace
}  // namespace engine
