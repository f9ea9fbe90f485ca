#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/data_parallel.h"
#include "resume_support.h"
#include "simt/nccl.h"
#include "support/click_run.h"
#include "support/rank_steps.h"

// A step that two GPUs compute together is the step of two ranks on the CPU.
namespace engine {
namespace {

using test::gap;
using test::Numbers;
using test::on_two_gpus;
using test::order_bound;
using test::RankRun;
using test::Step;

std::vector<Step> on_gpus(RunConfig config, int count = 1) {
    config.workers = 2;
    std::vector<Step> out(2);
    on_two_gpus([&](const auto& line, const Device& device) {
        RankRun run(config, line, device);
        for (int i = 1; i < count; ++i) run.step();
        out[static_cast<std::size_t>(device.index)] = test::step_of(run);
    });
    return out;
}

void expect_step_of_cpus(const RunConfig& config, double bound, int count = 1) {
    SCOPED_TRACE(config.model.kind + " " + config.precision.preset);
    const Step cpu = test::together(config, 2, count)[0];
    const std::vector<Step> gpu = on_gpus(config, count);
    EXPECT_LE(gap(gpu[0].gradients, cpu.gradients), bound);
    EXPECT_LE(gap(gpu[0].weights, cpu.weights), bound);
    EXPECT_NEAR(gpu[0].row.loss, cpu.row.loss, bound * cpu.row.loss);
    EXPECT_EQ(gpu[0].row.samples, cpu.row.samples);
    EXPECT_GT(gpu[0].row.exchange_ms, 0);
    EXPECT_EQ(gpu[0].gradients, gpu[1].gradients);
    EXPECT_EQ(gpu[0].weights, gpu[1].weights);
    EXPECT_EQ(gpu[0].row.loss, gpu[1].row.loss);
}

TEST(DataParallelOnGpus, AStepOfAnMlpIsThatOfCpus) {
    for (const char* precision : {"fp32", "amp-fp16", "amp-bf16"}) {
        const RunConfig config = test::small_run("mlp", precision);
        expect_step_of_cpus(config, order_bound(config, 16, 3));
    }
}

TEST(DataParallelOnGpus, DropoutIsThatOfCpus) {
    RunConfig config = test::small_text_run("fp32");
    config.model.options["layers"] = std::int64_t{2};
    config.model.options["dropout"] = 0.3;
    expect_step_of_cpus(config, order_bound(config, 4 * 5, 2 * 5 + 2), 2);
}

TEST(DataParallelOnGpus, SparseGradientsAreThoseOfCpus) {
    const RunConfig config = test::small_click_run("fp32");
    expect_step_of_cpus(config, order_bound(config, 16, 8));
}

TEST(DataParallelOnGpus, AnOverflowOnOneGpuSkipsTheStepOnBoth) {
    RunConfig config = test::small_run("mlp", "amp-fp16");
    config.workers = 2;
    std::vector<std::vector<std::uint8_t>> skipped(2);
    std::vector<Numbers> weights(2);
    on_two_gpus([&](const auto& line, const Device& device) {
        RankRun run(config, line, device);
        const auto rank = static_cast<std::size_t>(device.index);
        for (int step = 0; step < 5; ++step) {
            std::vector<Batch>& batches = run.make();
            if (step == 3 && rank == 1) batches[0].fields[0].values<float>()[0] = 1e30f;
            const StepRecord row = run.step(batches).row;
            skipped[rank].push_back(row.found_inf);
        }
        weights[rank] = run.weights();
        EXPECT_EQ(run.trainer.replayed_steps(), 0) << "an exchange is not captured";
    });
    for (const auto& each : skipped) EXPECT_THAT(each, testing::ElementsAre(0, 0, 0, 1, 0));
    EXPECT_EQ(weights[0], weights[1]);
}

/// A whole run: rank 0 has the session.
class DataParallelRunOnGpus : public test::ResumedRuns {};

TEST_F(DataParallelRunOnGpus, TrainsAndEvaluatesLikeCpus) {
    RunConfig config = test::small_run("mlp", "fp32");
    config.dataset.train_limit = 60;
    config.dataset.test_limit = 19;
    config.epochs = 2;
    config.workers = 2;
    const auto run_on = [&](const std::string& device) {
        config.device = device;
        test::Ended out;
        test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
            SessionOptions options;
            options.communicator = line;
            if (line->rank() == 0)
                out = train(config, options);
            else
                follow_run(config, options);
        });
        return out;
    };
    const test::Ended cpu = run_on("cpu");
    kernels::simt::take_nccl_calls();
    const test::Ended gpu = run_on("cuda");
    EXPECT_FALSE(kernels::simt::take_nccl_calls().empty());
    ASSERT_EQ(gpu.all<RunDone>().size(), 1U);
    EXPECT_EQ(gpu.all<RunStarted>()[0].device, "cuda:0");
    ASSERT_EQ(gpu.record.size(), cpu.record.size());
    for (std::int64_t i = 0; i < cpu.record.size(); ++i) {
        const StepRecord row = gpu.record.row(i), other = cpu.record.row(i);
        EXPECT_NEAR(row.loss, other.loss, 1e-4 * other.loss) << i;
        EXPECT_GE(row.exchange_ms, 0) << i;
    }
    const auto wanted = cpu.all<EpochDone>(), found = gpu.all<EpochDone>();
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(found[i].test.loss, wanted[i].test.loss, 1e-4 * wanted[i].test.loss);
}

}  // namespace
}  // namespace engine
