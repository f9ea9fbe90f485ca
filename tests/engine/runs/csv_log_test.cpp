#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "engine/runs/run_store.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class CsvLogTest : public testing::Test {
protected:
    std::vector<RunSummary> imported(const std::string& text) {
        std::ofstream(dir_ / "log.csv") << text;
        std::vector<RunSummary> out;
        for (const auto& made : store_.import_runs(dir_ / "log.csv"))
            out.push_back(*store_.find(made.run));
        return out;
    }
    template <typename T>
    std::vector<T> column(const RunSummary& run, T StepRecord::*member) {
        std::vector<T> out;
        const StepRecordReader record = StepRecordReader::open(run.folder);
        for (std::int64_t i = 0; i < record.size(); ++i) out.push_back(record.row(i).*member);
        return out;
    }

    test_support::TempFolder dir_;
    RunStore store_{dir_ / "runs"};
};

TEST_F(CsvLogTest, AHistoryOfWandbHasItsStepsAndItsValidation) {
    const auto runs = imported(
        ",_step,_timestamp,train/loss,lr,train/acc,val_loss,val_acc,note\n"
        "0,0,1000.5,2.0,0.1,0.25,,,begin\n"
        "1,1,1001.5,1.5,0.1,0.5,,,\n"
        "2,2,1002.5,NaN,0.05,0.5,1.75,0.75,\n");
    ASSERT_THAT(runs, SizeIs(1));
    const RunSummary& run = runs.front();
    EXPECT_EQ(run.title, "log");
    EXPECT_EQ(run.origin->program, "CSV");
    EXPECT_EQ(run.steps, 3);
    EXPECT_EQ(run.wall_s, 2);
    const auto losses = column(run, &StepRecord::loss);
    EXPECT_EQ(losses[1], 1.5F);
    EXPECT_TRUE(std::isnan(losses[2]));
    EXPECT_THAT(column(run, &StepRecord::accuracy), ElementsAre(0.25F, 0.5F, 0.5F));
    EXPECT_THAT(column(run, &StepRecord::lr), ElementsAre(0.1F, 0.1F, 0.05F));
    EXPECT_THAT(column(run, &StepRecord::loss_scale), ElementsAre(1.F, 1.F, 1.F));
    const auto epochs = store_.events(
        run.run, [](const Event& event) { return std::holds_alternative<EpochDone>(event); });
    ASSERT_THAT(epochs, SizeIs(1));
    EXPECT_EQ(std::get<EpochDone>(epochs.front()).validation.of("accuracy"), 0.75);
    EXPECT_EQ(std::get<EpochDone>(epochs.front()).step, 3);
}

TEST_F(CsvLogTest, AnExportedChartIsARunForEachOfItsRuns) {
    const auto runs = imported(
        "\"Step\",\"warm - loss\",\"warm - loss__MIN\",\"warm - loss__MAX\",\"cold - loss\","
        "\"cold - loss__MIN\",\"cold - loss__MAX\"\n"
        "\"10\",\"2\",\"2\",\"2\",\"3\",\"3\",\"3\"\n"
        "\"20\",\"1\",\"1\",\"1\",\"\",\"\",\"\"\n"
        "\"30\",\"0.5\",\"0.5\",\"0.5\",\"1\",\"1\",\"1\"\n");
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_EQ(runs[0].title, "warm");
    EXPECT_THAT(column(runs[0], &StepRecord::loss), ElementsAre(2.F, 1.F, 0.5F));
    EXPECT_THAT(column(runs[0], &StepRecord::step), ElementsAre(1, 2, 3));
    EXPECT_THAT(column(runs[0], &StepRecord::samples), ElementsAre(10, 20, 30))
        << "the steps of the log, some of which it leaves out";
    EXPECT_EQ(runs[0].unit, "logged steps");
    EXPECT_EQ(runs[1].title, "cold");
    EXPECT_THAT(column(runs[1], &StepRecord::samples), ElementsAre(10, 30));
}

TEST_F(CsvLogTest, AFigureBetweenTwoRowsBelongsToTheNext) {
    const auto runs = imported(
        "step,loss,learning_rate,loss_scale,found_inf,speed\n"
        "1,,0.5,,,\n2,4,,1024,1,7\n3,,0.25,,,\n4,2,,512,0,8\n");
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_THAT(column(runs[0], &StepRecord::lr), ElementsAre(0.5F, 0.25F));
    EXPECT_THAT(column(runs[0], &StepRecord::loss_scale), ElementsAre(1024.F, 512.F));
    EXPECT_THAT(column(runs[0], &StepRecord::metric_1), ElementsAre(7.F, 8.F));
    EXPECT_EQ(runs[0].metrics.front().key, "speed");
    EXPECT_EQ(runs[0].skipped, 1);
    EXPECT_EQ(runs[0].config.precision.preset, "amp-fp16") << "it has a loss scale";
}

TEST_F(CsvLogTest, WithoutStepsTheEpochsCount) {
    const auto runs =
        imported("epoch,accuracy,loss,val_accuracy,val_loss\n0,0.5,2,0.25,2.5\n1,0.75,1,0.5,1.5\n");
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_THAT(column(runs[0], &StepRecord::epoch), ElementsAre(0, 1));
    EXPECT_THAT(column(runs[0], &StepRecord::accuracy), ElementsAre(0.5F, 0.75F));
    EXPECT_THAT(column(runs[0], &StepRecord::samples), ElementsAre(0, 0)) << "every step is there";
}

TEST_F(CsvLogTest, ATableWithoutFiguresIsRefusedAndNothingStays) {
    EXPECT_THROW(imported("name,town\nann,rome\nbob,oslo\n"), Error);
    EXPECT_TRUE(store_.list().empty());
}

}  // namespace
}  // namespace engine
