#include "data/csv/csv_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "data/csv/csv_table.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CsvTable read_table(const std::string& text, const CsvOptions& options = {}) {
    const TempFolder folder;
    return read_csv_table(
        {.files = {folder.write("a.csv", text)}, .options = options, .max_bytes = 1 << 30});
}

TEST(CsvPreview, DescribesNumericColumnsOverAllRows) {
    // The table leaves out the row without a target; the preview does not.
    const auto column =
        read_table("a,y\n0,1\n1,1\n9.9,1\n20,\n,1\n", {.missing = CsvMissing::mean}).columns[0];
    EXPECT_EQ(column.name, "a");
    EXPECT_EQ(column.role, CsvRole::feature);
    EXPECT_FALSE(column.categorical);
    EXPECT_EQ(column.missing, 1);
    EXPECT_EQ(column.lowest, 0);
    EXPECT_EQ(column.highest, 20);
    EXPECT_DOUBLE_EQ(column.mean, 30.9 / 4);
    EXPECT_DOUBLE_EQ(column.deviation, std::sqrt(499.01 / 4 - 30.9 / 4 * (30.9 / 4)));
    EXPECT_THAT(column.histogram,
                ElementsAre(1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
    EXPECT_THAT(column.categories, IsEmpty());
}

TEST(CsvPreview, AConstantColumnFillsTheFirstBin) {
    const auto column = read_table("a,y\n5,1\n5,2\n").columns[0];
    EXPECT_EQ(column.histogram[0], 2);
    EXPECT_EQ(column.deviation, 0);
}

TEST(CsvPreview, CountsCategoriesTheMostFrequentFirst) {
    const auto columns = read_table("a,b,y\nx,s,1\nz,t,1\ny,,1\nz,s,1\n",
                                    {.columns = {"a"}, .missing = CsvMissing::drop})
                             .columns;
    ASSERT_EQ(columns[0].categories.size(), 3U);
    EXPECT_EQ(columns[0].categories[0].word, "z");
    EXPECT_EQ(columns[0].categories[0].count, 2);
    EXPECT_EQ(columns[0].categories[1].word, "x");  // equally frequent words keep their order
    EXPECT_EQ(columns[0].different, 3);
    EXPECT_FALSE(columns[0].more_different);
    EXPECT_EQ(columns[1].role, CsvRole::unused);
    EXPECT_EQ(columns[1].missing, 1);
    EXPECT_EQ(columns[1].categories[0].word, "s");
}

TEST(CsvPreview, StopsCountingWordsThatNeverRecur) {
    std::string text = "id,a,y\n";
    for (int i = 0; i < 3000; ++i) text += "r" + std::to_string(i) + ",1,2\n";
    const auto column = read_table(text, {.columns = {"a"}}).columns[0];
    EXPECT_EQ(column.different, 1000);
    EXPECT_TRUE(column.more_different);
    EXPECT_EQ(column.categories.size(), 20U);
}

TEST(CsvPreview, ShowsTheFirstRowsAsText) {
    std::string text = "a,y\n 1.50 ,\"x\ny\"\n";
    for (int i = 0; i < 100; ++i) text += "2," + std::string(100, 'z') + "\n";
    const auto rows = read_table(text).first_rows;
    EXPECT_EQ(rows.size(), max_first_rows);
    EXPECT_THAT(rows[0], ElementsAre("1.50", "x y"));
    EXPECT_EQ(rows[1][1], std::string(80, 'z') + "…");
    EXPECT_THAT(read_table("5,2\n3,4\n").first_rows,
                ElementsAre(ElementsAre("5", "2"), ElementsAre("3", "4")));
}

}  // namespace
}  // namespace engine
