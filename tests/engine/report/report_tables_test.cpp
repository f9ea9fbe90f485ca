#include "report/report_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/settings/catalog.h"

namespace engine {
namespace {

/// The cells of the row for this setting.
std::vector<std::string> cells_of(const ReportTable& table, const std::string& setting) {
    std::vector<std::string> out;
    for (const auto& row : table.rows) {
        if (row.front().str() != setting) continue;
        for (std::size_t i = 1; i < row.size(); ++i) out.push_back(row[i].str());
    }
    return out;
}

TEST(ReportTables, SayWhichSettingsFollowThePresetAndWhichOnesARunLacks) {
    std::vector<RunSummary> runs(2);
    for (RunSummary& run : runs) run.config = completed({});
    runs[0].config.precision.weights = WeightFormat::fp16;
    runs[0].config.precision.force["relu"] = ForcedType::fp16;
    const ReportTable table = difference_table(runs, {{"a", ""}, {"b", ""}});
    ASSERT_EQ(table.rows.size(), 3u);
    EXPECT_THAT(cells_of(table, find_field("precision.weights")->label),
                testing::ElementsAre(choice_title("precision.weights", "fp16"), "from the preset"));
    EXPECT_THAT(cells_of(table, "precision.force.relu"), testing::ElementsAre("fp16", "–"));
}

}  // namespace
}  // namespace engine
