#include "report/report_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/report/report.h"
#include "support/long_run.h"
#include "support/peak_memory.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::SizeIs;

constexpr std::int64_t skips = 8'000, mebibyte = 1 << 20;

class ReportEventsTest : public testing::Test {
protected:
    const test_support::TempFolder dir_;
    RunStore store_{dir_ / "runs"};
};

TEST_F(ReportEventsTest, ShowsTheFirstOfALongRunAndCountsTheOthers) {
    const auto run = test::long_run(store_, skips);
    const ReportedEvents events(run.folder);
    EXPECT_THAT(events.skipped(), SizeIs(skips));
    const ReportTable skipped = skip_table("run", events);
    EXPECT_THAT(skipped.rows, SizeIs(1 + 60));
    EXPECT_EQ(skipped.rows[1][0].str(), "301");
    EXPECT_EQ(skipped.note.str(), "7940 more are not listed.");
    const ReportTable problems = problem_table("run", events);
    EXPECT_THAT(problems.rows, SizeIs(1 + 200));
    EXPECT_EQ(problems.note.str(), "100 more are not listed.");
    const Metric accuracy = classification_metrics().front();
    const ReportTable epochs = epoch_table({{"a", accuracy, &events}, {"b", {}, &events}});
    EXPECT_THAT(epochs.rows, SizeIs(1 + 200)) << "of all runs";
    EXPECT_EQ(epochs.note.str(), "400 more are not listed.");
    EXPECT_EQ(epochs.rows[2][1].str(), "2");
    EXPECT_EQ(epochs.rows[2][5].str(), "0.5");
    for (const std::size_t nth : {std::size_t{0}, std::size_t{1}}) {
        EXPECT_EQ(epochs.rows[100 * nth + 50][1].str(), "50");
        EXPECT_EQ(epochs.rows[100 * nth + 51][1].str(), "251");
        EXPECT_EQ(epochs.rows[100 * nth + 100][1].str(), "300") << "the result of the run";
    }
}

TEST_F(ReportEventsTest, OfALongRunTakeLittleMemory) {
    const auto run = test::long_run(store_, skips);
    const test::PeakMemory memory;
    if (!memory.known()) GTEST_SKIP() << "the system does not tell a process its peak";
    const ReportedEvents events(run.folder);
    EXPECT_LT(memory.grown(), 5 * mebibyte) << "all of them at once take about 9 MiB";
    EXPECT_THAT(events.skips().first, SizeIs(60));
}

TEST_F(ReportEventsTest, OfARunWithoutEventsIsEmpty) {
    const ReportedEvents events(dir_ / "absent");
    EXPECT_THAT(skip_table("run", events).rows, SizeIs(0));
    EXPECT_THAT(problem_table("run", events).rows, SizeIs(0));
    const Metric accuracy = classification_metrics().front();
    EXPECT_THAT(epoch_table({{"run", accuracy, &events}}).rows, SizeIs(0));
}

}  // namespace
}  // namespace engine
