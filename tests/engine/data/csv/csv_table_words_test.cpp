// Fields that count as a number, as a word or as missing.
#include "data/csv/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "csv_tables.h"
#include "data/csv/csv_statistics.h"

namespace engine {
namespace {

using test::read_one_file;
using test::warning_text;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

TEST(CsvTableWords, DropsRowsWithMissingValues) {
    const CsvTable table = read_one_file("a,b,c\n1,x,5\n,x,6\n2,only here,\n3,?,7\n4,y,8\n",
                                         {.missing = CsvMissing::drop});
    EXPECT_THAT(table.cells, ElementsAre(1, 0, 4, 1));
    EXPECT_THAT(table.target_values, ElementsAre(5, 8));
    EXPECT_THAT(table.features[1].categories, ElementsAre("x", "y"));  // of the rows that remain
    EXPECT_THAT(warning_text(table), HasSubstr("left out because a value is missing: 3 of 5"));
}

TEST(CsvTableWords, KeepsMissingFeaturesToBeFilledAndDropsRowsWithoutATarget) {
    const CsvTable table =
        read_one_file("a,b,c\n1,NA,5\n-,x,6\n2,x,\n", {.missing = CsvMissing::mean});
    ASSERT_EQ(table.rows, 2);
    EXPECT_TRUE(std::isnan(table.cells[1]));
    EXPECT_TRUE(std::isnan(table.cells[2]));
    EXPECT_THAT(warning_text(table), HasSubstr("left out because a value is missing: 1 of 3"));
}

TEST(CsvTableWords, ReadsNumbersWithAUnitAsNumbers) {
    const std::pair<const char*, std::vector<float>> cases[] = {
        {"p,y\n45 %,1\n3.5%,2\n10 %,3\n", {45, 3.5F, 10}},
        {"p,y\n\"$1,200\",1\n$5,2\n$7,3\n", {1200, 5, 7}},
        {"p;y\n1 200 \xE2\x82\xAC;1\n50 \xE2\x82\xAC;2\n", {1200, 50}},
        {"p,y\n\"1,500\",1\n250,2\n\"1,234,567\",3\n", {1500, 250, 1234567}},
        {"p,y\n1\xC2\xA0"
         "500,1\n250,2\n",
         {1500, 250}},
        {"p,y\n\xE2\x88\x92"
         "1.5,1\n2.5,2\n",
         {-1.5F, 2.5F}},
        {"p,y\n3 km,1\n4.5 km,2\n?,3\n6 km,4\n", {3, 4.5F, 4.5F, 6}},
        {"p,y\n1'200,1\n5,2\n", {1200, 5}},
        {"p,y\n(5),1\n6,2\n", {-5, 6}}};
    for (const auto& [text, numbers] : cases) {
        CsvTable table = read_one_file(text, {.missing = CsvMissing::mean});
        std::vector<std::int64_t> rows(static_cast<std::size_t>(table.rows));
        std::iota(rows.begin(), rows.end(), 0);
        fill_missing_cells(table, rows, "t.csv");
        EXPECT_THAT(table.cells, ElementsAreArray(numbers)) << text;
        EXPECT_THAT(warning_text(table), HasSubstr("are read as plain numbers: \"p\" (")) << text;
    }
    const CsvTable target = read_one_file("x,price\n1,$5.50\n2,$6\n3,$7\n");
    EXPECT_THAT(target.target_values, ElementsAre(5.5F, 6, 7));
    EXPECT_THAT(warning_text(target), HasSubstr("\"price\" ($5.50 → 5.5)"));
}

TEST(CsvTableWords, AMixtureOfUnitsStaysWords) {
    for (const char* text :
         {"p,y\n3 km,1\n4 mi,2\n5 km,3\n",
          "p,y\n$3,1\n\xE2\x82\xAC"
          "4,2\n",
          "p,y\n3 %,1\n4,2\n5 %,3\n", "p,y\n3 km,1\n4 KM,2\n", "p,y\n1 h,1\n5 min,2\n9 s,3\n"}) {
        const CsvTable table = read_one_file(text);
        EXPECT_TRUE(table.features[0].categorical()) << text;
        EXPECT_THAT(warning_text(table),
                    HasSubstr("numbers with different units are read as words: "
                              "\"p\" ("))
            << text;
    }
}

TEST(CsvTableWords, ACommaThatMayBeADecimalOneIsRefused) {
    EXPECT_THAT(test::data_error([] { read_one_file("x;y\n1,234;2\n2,500;3\n"); }),
                HasSubstr("\"1,234\" is a number with a comma"));
    EXPECT_EQ(read_one_file("x;y\n1,234;2\n2,500,000;3\n").cells[0], 1234) << "certain";
    EXPECT_THAT(test::data_error([] { read_one_file("x,y\n\"1,234\",2\n\"2,5\",3\n"); }),
                HasSubstr("\"2,5\" is a number with a comma"));
    EXPECT_THAT(test::data_error([] { read_one_file("x;y\n1,5;2\n2,25;3\nn.a.;4\n"); }),
                HasSubstr("\"1,5\" is a number with a comma"));
}

TEST(CsvTableWords, OtherWordsAmongNumbersCountAsMissing) {
    for (const char* word : {"n.a.", "missing", "--", "unknown", "#N/A", "."}) {
        const std::string text =
            "x,y\n5,1\n" + std::string(word) + ",2\n7,3\n" + word + ",4\n8,5\n";
        const CsvTable table = read_one_file(text, {.missing = CsvMissing::drop});
        EXPECT_THAT(table.cells, ElementsAre(5, 7, 8)) << word;
        EXPECT_THAT(warning_text(table), HasSubstr("no numbers count as missing: \"x\": 2 (" +
                                                   std::string(word) + " (2))"));
        EXPECT_THAT(test::data_error([&] { read_one_file(text); }),
                    HasSubstr("line 3, column \"x\": \"" + std::string(word) + "\" among numbers"));
        EXPECT_TRUE(read_one_file(text, {.categorical = {"x"}}).features[0].categorical());
    }
    const CsvTable target =
        read_one_file("x,y\n5,1.5\n6,n.a.\n7,3\n", {.missing = CsvMissing::mean});
    EXPECT_THAT(target.target_values, ElementsAre(1.5F, 3));
    // As many words as numbers are words.
    EXPECT_TRUE(read_one_file("x,y\n5,1\na,2\n").features[0].categorical());
}

TEST(CsvTableWords, WordsForMissingAreClassesInTheTargetAndInListedColumns) {
    const CsvTable signs = read_one_file("x,y\n1,+\n2,-\n3,+\n4,-\n");
    EXPECT_THAT(signs.classes, ElementsAre("+", "-"));
    EXPECT_THAT(signs.labels, ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(warning_text(signs), HasSubstr("read as categories: \"y\": - (2); to count them as "
                                               "missing, list them in dataset.missing_words"));
    EXPECT_THAT(read_one_file("x,y\n1,None\n2,mild\n3,None\n").classes,
                ElementsAre("None", "mild"));
    EXPECT_THAT(read_one_file("x,y\n1,NA\n2,EU\n3,NA\n").classes, ElementsAre("EU", "NA"));
    EXPECT_THAT(read_one_file("x,y\n1,null\n2,one\n3,?\n").classes,
                ElementsAre("?", "null", "one"));
    EXPECT_THAT(read_one_file("x,y\n1,None\n2,NA\n3,NA\n").classes, ElementsAre("NA", "None"));
    EXPECT_THAT(
        read_one_file("g,y\nNA,1\nEU,2\n-,3\n", {.categorical = {"g"}}).features[0].categories,
        ElementsAre("-", "EU", "NA"));
    // The empty field and words that are asked for stay missing.
    EXPECT_EQ(read_one_file("x,y\n1,a\n2,\n3,-\n", {.missing = CsvMissing::drop}).rows, 2);
    const CsvTable asked = read_one_file("x,y\n1,a\n2,-\n3,b\n",
                                         {.missing = CsvMissing::drop, .missing_words = {"-"}});
    EXPECT_THAT(asked.classes, ElementsAre("a", "b"));
    // Elsewhere they are missing, which is told.
    const CsvTable feature =
        read_one_file("g,y\nNA,1\nEU,2\nUS,3\n", {.missing = CsvMissing::drop});
    EXPECT_EQ(feature.rows, 2);
    EXPECT_THAT(warning_text(feature),
                HasSubstr("words count as missing values: \"g\": NA (1); list"));
    EXPECT_THAT(test::data_error([] { read_one_file("g,y\nNA,1\nEU,2\n"); }),
                HasSubstr("list the column in dataset.categorical if NA is a category"));
}

TEST(CsvTableWords, TakesOtherWordsForMissing) {
    const CsvOptions options{.missing = CsvMissing::drop, .missing_words = {"-999", "n.a."}};
    EXPECT_THAT(read_one_file("x,y\n5,1\n-999,2\n6,3\nn.a.,4\n7,5\n", options).cells,
                ElementsAre(5, 6, 7));
    EXPECT_THAT(read_one_file("g,y\na,1\nNA,2\nn.a.,3\n", options).features[0].categories,
                ElementsAre("NA", "a"));
}

}  // namespace
}  // namespace engine
