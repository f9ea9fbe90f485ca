#include "data/csv/csv_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float gap = std::numeric_limits<float>::quiet_NaN();
using RowIndices = std::vector<std::int64_t>;

/// A table with a number and one of two words in each row.
CsvTable mixed_table(std::vector<float> cells) {
    CsvTable table;
    table.rows = static_cast<std::int64_t>(cells.size() / 2);
    table.features = {{.name = "x"}, {.name = "word", .categories = {"a", "b"}, .offset = 1}};
    table.width = 3;
    table.cells = std::move(cells);
    return table;
}

TEST(CsvStatistics, GapsTakeTheTrainingMeanAndTheMostFrequentTrainingCategory) {
    CsvTable table = mixed_table({1, 1, 3, 1, 5, 0, gap, gap, 100, 0, 100, 0, gap, gap});
    fill_missing_cells(table, RowIndices{0, 1, 2, 3}, "t.csv");
    EXPECT_THAT(table.cells, ElementsAre(1, 1, 3, 1, 5, 0, 3, 1, 100, 0, 100, 0, 3, 1));
}

TEST(CsvStatistics, AmongEquallyFrequentCategoriesTheFirstFillsTheGaps) {
    CsvTable table = mixed_table({1, 1, 1, 0, 1, gap});
    fill_missing_cells(table, RowIndices{0, 1, 2}, "t.csv");
    EXPECT_EQ(table.cells.back(), 0);
}

TEST(CsvStatistics, AColumnWithoutAValueInTheTrainingRowsIsRefused) {
    CsvTable table = mixed_table({1, 1, 3, gap, 5, gap});
    EXPECT_THAT(test::data_error([&] {
                    fill_missing_cells(table, RowIndices{1, 2}, "t.csv");
                }),
                HasSubstr("t.csv: column \"word\" has no value in the training rows"));
}

TEST(CsvStatistics, MeasuresTheTrainingRowsAlone) {
    const CsvTable table = mixed_table({1, 1, 1000, 1, 3, 0, 8, 1});
    const Normalization found = feature_statistics(table, RowIndices{0, 2, 3});
    EXPECT_THAT(found.mean, ElementsAre(4, 0, 0));
    EXPECT_THAT(found.deviation, ElementsAre(std::sqrt(26.0F / 3), 1, 1));
}

TEST(CsvStatistics, MeasuresLargeNumbersThatDifferLittle) {
    // A sum of squares in f32 would lose the difference.
    const CsvTable table = mixed_table({1000000, 0, 1000001, 0, 1000002, 0});
    const Normalization found = feature_statistics(table, RowIndices{0, 1, 2});
    EXPECT_EQ(found.mean[0], 1000001);
    EXPECT_EQ(found.deviation[0], std::sqrt(2.0F / 3));
}

TEST(CsvStatistics, AColumnThatNeverChangesHasDeviationOne) {
    // The sum of 0.1 is inexact, so the mean is not exactly 0.1.
    std::vector<float> cells;
    for (int i = 0; i < 30; ++i) cells.insert(cells.end(), {0.1F, 1});
    const CsvTable table = mixed_table(cells);
    RowIndices all(30);
    std::iota(all.begin(), all.end(), 0);
    const Normalization found = feature_statistics(table, all);
    EXPECT_EQ(found.mean[0], 0.1F);
    EXPECT_EQ(found.deviation[0], 1);
}

std::string training_warning_text(const CsvTable& table, const RowIndices& train) {
    std::string out;
    for (const auto& warning : training_warnings(table, train)) out += warning.str() + '\n';
    return out;
}

TEST(CsvStatistics, WarnsOfFeaturesThatNeverChange) {
    CsvTable table = mixed_table({7, 1, 7, 1, 8, 0});
    table.target_values = {1, 2, 3.5F};
    EXPECT_EQ(training_warning_text(table, {0, 1}),
              "feature columns that never change in the training rows: 2 (x, word)\n");
    EXPECT_EQ(training_warning_text(table, {0, 1, 2}), "");
    table.features.assign(7, {.name = "x"});
    table.cells.assign(21, 1);
    EXPECT_EQ(training_warning_text(table, {0, 1}),
              "feature columns that never change in the training rows: 7 (x, x, x, x, x, …)\n");
}

TEST(CsvStatistics, WarnsOfTargetsThatTeachNothing) {
    CsvTable table = mixed_table({7, 1, 8, 0, 9, 1});
    table.target_values = {0.5F, 0.5F, 1.5F};
    EXPECT_EQ(training_warning_text(table, {0, 1}),
              "the target never changes in the training rows\n");
    // Whole numbers can be classes too. A class that no training row has is reported by its own
    // warning.
    table.target_values = {1, 2, 3};
    table.classes = {"1", "2", "3"};
    table.labels = {0, 1, 2};
    EXPECT_EQ(training_warning_text(table, {0, 1}), "");
    table.target_values = {};
    table.classes = {"p"};
    table.labels = {0, 0, 0};
    EXPECT_EQ(training_warning_text(table, {0, 1}), "the target has a single class: p\n");
    table.classes = {"p", "q", "r"};
    table.labels = {0, 2, 1};
    EXPECT_EQ(training_warning_text(table, {0, 1}), "classes without a training row: 1 of 3 (q)\n");
}

}  // namespace
}  // namespace engine
