#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "engine/base/error.h"
#include "engine/train/data_parallel.h"
#include "resume_support.h"
#include "simt/nccl.h"
#include "support/click_run.h"
#include "support/rank_steps.h"

// A step that two GPUs compute together is the step of two ranks on the CPU.
namespace engine {
namespace {

using test::gap;
using test::norm_amplification;
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
    if (!config.sync_batch_norm) return;
    EXPECT_LE(gap(gpu[0].buffers, cpu.buffers), bound);
    EXPECT_EQ(gpu[0].buffers, gpu[1].buffers);
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

// The gradients of the network's weights, which are sent, are parts of one block.
TEST(DataParallelOnGpus, AStepOfARecurrentNetworkIsThatOfCpus) {
    RunConfig config = test::small_text_run("fp32");
    config.model.options["layers"] = std::int64_t{2};
    expect_step_of_cpus(config, order_bound(config, 4 * 5, 2 * 5 + 2), 2);
}

// Both networks of the pair have batch norms, and each phase a pass forward and back.
TEST(DataParallelOnGpus, AStepWithSynchronisedBatchNormIsThatOfCpus) {
    for (const char* precision : {"fp32", "amp-bf16"}) {
        RunConfig config = test::small_run("dcgan", precision);
        config.model.options = {{"channels", std::int64_t{8}}};
        config.batch_size = 8;
        const std::vector<Step> local = on_gpus(config);
        EXPECT_NE(local[0].buffers, local[1].buffers) << "each has those of its part";
        config.sync_batch_norm = true;
        expect_step_of_cpus(config, norm_amplification * order_bound(config, 8 * 28 * 28, 8));
    }
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

/// The line of a rank that is lost after one of its broadcasts, and so does not take part in the
/// step that rank 0 has asked for. The others learn it later, as they do of a process that was
/// killed.
class LostLine final : public Communicator {
public:
    LostLine(std::shared_ptr<Communicator> line, int broadcasts)
        : line_(std::move(line)), left_(broadcasts) {}
    int rank() const override { return line_->rank(); }
    int size() const override { return line_->size(); }
    int local_rank() const override { return line_->local_rank(); }
    void broadcast(kernels::Array data) override {
        line_->broadcast(data);
        if (left_-- == 0) throw std::runtime_error("lost");
    }
    void sum(kernels::Array data) override { line_->sum(data); }
    void gather(kernels::Array all, kernels::ConstArray part,
                std::span<const std::int64_t> counts) override {
        line_->gather(all, part, counts);
    }
    void barrier() override { line_->barrier(); }
    std::unique_ptr<Communicator> line() override { return line_->line(); }
    void abort(const std::string& sentence) noexcept override {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        line_->abort(sentence);
    }
    void when_lost(std::function<void(const Message&)> act) override {
        line_->when_lost(std::move(act));
    }

private:
    std::shared_ptr<Communicator> line_;
    int left_;
};

TEST_F(DataParallelRunOnGpus, ALostRankEndsTheRunWithItsSentenceAndTheRowsOfAllFinishedSteps) {
    RunConfig config = test::small_run("mlp", "fp32");
    config.workers = 2;
    config.max_steps = 40;
    config.dataset.test_limit = 19;
    config.device = "cuda";
    const auto run = [&](int broadcasts) {
        test::Ended out;
        test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
            SessionOptions options;
            options.communicator = line;
            if (line->rank() == 0) {
                out = train(config, options);
                return;
            }
            options.communicator = std::make_shared<LostLine>(line, broadcasts);
            try {
                follow_run(config, options);
            } catch (const std::exception&) {
                EXPECT_LT(broadcasts, 1000);
            }
        });
        return out;
    };
    const test::Ended whole = run(1000), cut = run(30);
    ASSERT_EQ(whole.all<RunDone>()[0].reason, DoneReason::max_steps);
    ASSERT_EQ(cut.all<RunFailed>().size(), 1U);
    EXPECT_EQ(cut.all<RunFailed>()[0].message.str(), "Rank 1: lost");
    EXPECT_EQ(cut.all<RunFailed>()[0].code, ErrorCode::training);
    ASSERT_GT(cut.record.size(), 10);
    ASSERT_LT(cut.record.size(), 30);
    for (std::int64_t i = 0; i < cut.record.size(); ++i)
        EXPECT_EQ(cut.record.row(i).loss, whole.record.row(i).loss) << i;
    // The step in which it was lost has no row, and the one before it has.
    EXPECT_EQ(cut.all<RunDone>()[0].steps, cut.record.size());
}

}  // namespace
}  // namespace engine
