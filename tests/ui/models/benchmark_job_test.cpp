#include "models/benchmark_job.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

engine::RunConfig mlp() {
    engine::RunConfig config = engine::speedup_settings().front();
    config.device = "cpu";
    config.threads = 1;
    return config;
}

TEST(MeasureAll, MeasuresEachSettingInEachPrecision) {
    BenchmarkTask::Link link;
    const BenchmarkOrder order{{mlp()}, {"amp-bf16", "amp-fp16"}, {}};
    EXPECT_EQ(link.progress().share(order), 0);
    measureAll(order, link);
    const BenchmarkProgress found = link.progress();
    ASSERT_EQ(found.measured.size(), 1u);
    const auto& [rows, machine, problem] = found.measured.front();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].precision, "amp-fp16");
    EXPECT_GT(rows[1].speed_up, 0);
    EXPECT_FALSE(machine.isEmpty());
    EXPECT_TRUE(problem.empty());
    EXPECT_GT(found.share(order), 0.5);
}

TEST(MeasureAll, EndsOnceStopped) {
    BenchmarkTask::Link link;
    link.stop();
    measureAll({{mlp(), mlp(), mlp()}, {"amp-bf16", "amp-fp16"}, {}}, link);
    EXPECT_TRUE(link.progress().measured.empty());
}

TEST(MeasureAll, GoesOnAfterSettingsThatCannotBeMeasured) {
    engine::RunConfig missing = mlp();
    missing.dataset.kind = "csv";
    missing.dataset.path = {"/nowhere/table.csv"};
    BenchmarkTask::Link link;
    measureAll({{missing, mlp()}, {"amp-bf16"}, {}}, link);
    const auto found = link.progress().measured;
    ASSERT_EQ(found.size(), 2u);
    EXPECT_FALSE(found[0].problem.empty());
    EXPECT_TRUE(found[0].rows.empty());
    EXPECT_EQ(found[1].rows.size(), 1u);
}

}  // namespace
}  // namespace ui
