#include "models/benchmark_job.h"

#include <gtest/gtest.h>

#include <QTest>
#include <QThreadPool>

namespace ui {
namespace {

struct BenchmarkJobTest : testing::Test {
    BenchmarkJobTest() {
        QObject::connect(&job, &BenchmarkJob::measured, &job,
                         [this](const engine::RunConfig& settings,
                                const std::vector<engine::Speedup>& rows, const QString& machine) {
                             measured.push_back(settings);
                             all.insert(all.end(), rows.begin(), rows.end());
                             EXPECT_FALSE(machine.isEmpty());
                         });
        QObject::connect(&job, &BenchmarkJob::failed, &job,
                         [this](const engine::RunConfig&, const engine::Message&) { ++failures; });
    }
    ~BenchmarkJobTest() override {
        job.stop();
        QThreadPool::globalInstance()->waitForDone();
    }
    static engine::RunConfig mlp() {
        engine::RunConfig config = engine::speedup_settings().front();
        config.device = "cpu";
        config.threads = 1;
        return config;
    }
    bool ends() {
        return QTest::qWaitFor([this] { return !job.running(); }, 60'000);
    }

    BenchmarkJob job;
    std::vector<engine::RunConfig> measured;
    std::vector<engine::Speedup> all;
    int failures = 0;
};

TEST_F(BenchmarkJobTest, MeasuresEachSettingInEachPrecision) {
    job.start({{mlp()}, {"amp-bf16", "amp-fp16"}, {}});
    EXPECT_TRUE(job.running());
    EXPECT_TRUE(all.empty()) << "nothing was measured on the GUI thread";
    ASSERT_TRUE(ends());
    EXPECT_EQ(measured, std::vector{mlp()});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].precision, "amp-fp16");
    EXPECT_GT(all[1].speed_up, 0);
    EXPECT_GT(job.share(), 0.5);
    EXPECT_FALSE(job.stopped());
}

TEST_F(BenchmarkJobTest, StoppingEndsItAfterTheBlockInProgress) {
    job.start({{mlp(), mlp(), mlp()}, {"amp-bf16", "amp-fp16"}, {}});
    job.stop();
    EXPECT_TRUE(job.stopping());
    ASSERT_TRUE(ends());
    EXPECT_LE(all.size(), 1u);
    EXPECT_TRUE(job.stopped());
}

TEST_F(BenchmarkJobTest, GoesOnAfterSettingsThatCannotBeMeasured) {
    engine::RunConfig missing = mlp();
    missing.dataset.kind = "csv";
    missing.dataset.path = {"/nowhere/table.csv"};
    job.start({{missing, mlp()}, {"amp-bf16"}, {}});
    ASSERT_TRUE(ends());
    EXPECT_EQ(failures, 1);
    EXPECT_EQ(measured, std::vector{mlp()});
}

}  // namespace
}  // namespace ui
