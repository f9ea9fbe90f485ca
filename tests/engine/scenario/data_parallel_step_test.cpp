#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ops/index/sparse.h"
#include "support/click_run.h"
#include "support/rank_steps.h"
#include "tensor/cast.h"

// A step that several ranks compute together is the step of one process.
namespace engine {
namespace {

using test::alone;
using test::gap;
using test::Gradients;
using test::norm_amplification;
using test::Numbers;
using test::on_ranks;
using test::order_bound;
using test::RankRun;
using test::Step;
using test::step_of;
using test::together;

void expect_first_step(const RunConfig& config, double terms, double layers) {
    const Step one = alone(config);
    for (const int ranks : {2, 4}) {
        SCOPED_TRACE(config.model.kind + " " + config.precision.preset + " on " +
                     std::to_string(ranks));
        const std::vector<Step> many = together(config, ranks);
        const double bound = order_bound(config, terms, layers);
        EXPECT_LE(gap(many[0].gradients, one.gradients), bound);
        EXPECT_NEAR(many[0].row.loss, one.row.loss, bound * one.row.loss);
        if (!std::isnan(one.row.accuracy)) {  // one sample may lie on the edge
            EXPECT_NEAR(many[0].row.accuracy, one.row.accuracy, 1.01 / 16);
        }
        EXPECT_EQ(many[0].row.samples, one.row.samples);
        EXPECT_EQ(many[0].row.loss_scale, one.row.loss_scale);
        EXPECT_GT(many[0].row.exchange_ms, 0);
        EXPECT_TRUE(std::isnan(one.row.exchange_ms));
        for (const Step& each : many) {
            EXPECT_EQ(each.gradients, many[0].gradients);
            EXPECT_EQ(each.weights, many[0].weights);
        }
    }
}

class DataParallelStep : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Precisions, DataParallelStep,
                         testing::Values("fp32", "amp-fp16", "amp-bf16"));

TEST_P(DataParallelStep, OfAnMlpIsThatOfOneProcess) {
    expect_first_step(test::small_run("mlp", GetParam()), 16, 3);
}

TEST_P(DataParallelStep, OfLeNetIsThatOfOneProcess) {
    expect_first_step(test::small_run("lenet", GetParam()), 16 * 24 * 24, 5);
}

TEST_P(DataParallelStep, OfAnLstmWithDropoutIsThatOfOneProcess) {
    RunConfig config = test::small_text_run(GetParam());
    config.model.options["layers"] = std::int64_t{2};
    config.model.options["dropout"] = 0.3;
    expect_first_step(config, 4 * 5, 2 * 5 + 2);
}

TEST_P(DataParallelStep, OfATransformerWithDropoutIsThatOfOneProcess) {
    RunConfig config = test::small_transformer_run(GetParam());
    config.model.options["dropout"] = 0.3;
    expect_first_step(config, 4 * 5, 2 * 6 + 2);
}

TEST_P(DataParallelStep, OfBertWithDropoutIsThatOfOneProcess) {
    RunConfig config = test::small_masked_run(GetParam());
    config.model.options["dropout"] = 0.3;
    expect_first_step(config, 4 * 12, 2 * 6 + 4);
}

TEST(DataParallelSteps, RecomputedBlocksGiveTheSameGradients) {
    RunConfig config = test::small_transformer_run("fp32");
    config.model.options["dropout"] = 0.3;
    const std::vector<Step> kept = together(config, 2, 3);
    config.recompute = Recompute::blocks;
    EXPECT_EQ(together(config, 2, 3)[0].gradients, kept[0].gradients);
}

TEST(DataParallelSteps, SparseGradientsOfTablesAreThoseOfOneProcess) {
    expect_first_step(test::small_click_run("fp32"), 16, 8);
    expect_first_step(test::small_click_run("fp32", "sgd"), 16, 8);
}

TEST(DataParallelSteps, PartsOfUnequalSizesCountByTheirRows) {
    RunConfig config = test::small_run("lenet", "fp32");
    config.batch_size = 7;
    const Step one = alone(config);
    for (const int ranks : {2, 3, 4}) {
        EXPECT_LE(gap(together(config, ranks)[0].gradients, one.gradients),
                  order_bound(config, 7 * 24 * 24, 5))
            << ranks;
    }
}

TEST(DataParallelSteps, ALastBatchWithFewerRowsThanRanksIsThatOfOneProcess) {
    RunConfig config = test::small_run("lenet", "fp32");
    config.dataset.train_limit = 18;  // 16 and 2
    const Step one = alone(config, 2);
    const std::vector<Step> many = together(config, 4, 2);
    EXPECT_EQ(many[0].row.samples, 18);
    // The weights of the second step differ by the rounding of the first.
    EXPECT_LE(gap(many[0].gradients, one.gradients), 2 * order_bound(config, 16 * 24 * 24, 5));
    EXPECT_NEAR(many[0].row.loss, one.row.loss, 1e-4);
    for (const Step& each : many) EXPECT_EQ(each.weights, many[0].weights);
}

TEST(DataParallelSteps, AccumulatedStepsAreThoseOfOneProcess) {
    for (const char* precision : {"fp32", "amp-fp16"}) {
        RunConfig config = test::small_run("lenet", precision);
        config.accumulate = 3;
        config.batch_size = 6;
        EXPECT_LE(gap(together(config, 4)[0].gradients, alone(config).gradients),
                  order_bound(config, 18 * 24 * 24, 5));
    }
}

TEST(DataParallelSteps, LaterStepsFollowOneProcess) {
    RunConfig config = test::small_run("lenet", "fp32");
    const Step one = alone(config, 10), many = together(config, 2, 10)[0];
    // Ten updates multiply the rounding of the first by no more than a hundred.
    EXPECT_LE(gap(many.weights, one.weights), 100 * order_bound(config, 16 * 24 * 24, 5));
    EXPECT_NEAR(many.row.loss, one.row.loss, 1e-4 * one.row.loss);
}

TEST(DataParallelSteps, TwoRunsOnAsManyRanksHaveTheSameBits) {
    const RunConfig config = test::small_run("lenet", "amp-fp16");
    const std::vector<Step> first = together(config, 4, 5), second = together(config, 4, 5);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(first[rank].weights, second[rank].weights);
        EXPECT_EQ(first[rank].row.loss, second[rank].row.loss);
    }
}

TEST(DataParallelSteps, AnOverflowOnOneRankSkipsTheStepOnAll) {
    RunConfig config = test::small_run("mlp", "amp-fp16");
    config.workers = 3;
    std::vector<std::vector<std::uint8_t>> skipped(3);
    std::vector<Numbers> weights(3);
    on_ranks(3, [&](const auto& line) {
        RankRun run(config, line);
        const auto rank = static_cast<std::size_t>(line->rank());
        for (int step = 0; step < 6; ++step) {
            std::vector<Batch>& batches = run.make();
            if (step == 3 && rank == 1) batches[0].fields[0].values<float>()[0] = 1e30f;
            const StepRecord row = run.step(batches).row;
            skipped[rank].push_back(row.found_inf);
            EXPECT_EQ(row.updates, step < 3 ? step + 1 : step) << rank << ' ' << step;
        }
        weights[rank] = run.weights();
    });
    for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_THAT(skipped[rank], testing::ElementsAre(0, 0, 0, 1, 0, 0)) << rank;
        EXPECT_EQ(weights[rank], weights[0]);
    }
}

RunConfig residual_run(const std::string& precision) {
    RunConfig config = test::small_run("resnet18", precision);
    config.batch_size = 8;
    return config;
}

TEST(DataParallelSteps, WithSynchronisedBatchNormResNetIsThatOfOneProcess) {
    RunConfig config = residual_run("fp32");
    config.sync_batch_norm = true;
    const Step one = alone(config);
    const std::vector<Step> many = together(config, 2);
    const double bound = norm_amplification * order_bound(config, 8 * 28 * 28, 18);
    EXPECT_LE(gap(many[0].gradients, one.gradients), bound);
    EXPECT_LE(gap(many[0].buffers, one.buffers), bound);
    for (const Step& each : many) EXPECT_EQ(each.buffers, many[0].buffers);
}

// The generator's phase follows the discriminator's update, and each phase exchanges for itself.
TEST(DataParallelSteps, OfAnAdversarialPairIsThatOfOneProcess) {
    RunConfig config = test::small_run("dcgan", "fp32");
    config.model.options = {{"channels", std::int64_t{8}}};
    config.batch_size = 8;
    config.sync_batch_norm = true;
    const Step one = alone(config);
    const double bound = norm_amplification * order_bound(config, 8 * 28 * 28, 8);
    for (const int ranks : {2, 4}) {
        const std::vector<Step> many = together(config, ranks);
        EXPECT_EQ(many[0].gradients.size(), one.gradients.size());
        EXPECT_LE(gap(many[0].gradients, one.gradients), bound) << ranks;
        EXPECT_LE(gap(many[0].weights, one.weights), bound) << ranks;
        for (const Step& each : many) EXPECT_EQ(each.weights, many[0].weights);
    }
}

/// The parts of the batches of the ranks, each a batch of its own.
class Parts {
public:
    Parts(const RunConfig& config, Trainer& trainer, int ranks)
        : data_(open_dataset(config.dataset, config.seed).train) {
        LoaderOptions options = test::loader_options(config);
        options.ranks = ranks;
        for (options.rank = 0; options.rank < ranks; ++options.rank)
            collators_.push_back(
                std::make_unique<Collator>(data_, trainer.task().schema(true), options));
    }
    Batch of(std::size_t rank, std::int64_t step) const {
        Collator& collator = *collators_[rank];
        Batch batch;
        collator.make(batch, step / collator.batches_per_epoch(),
                      step % collator.batches_per_epoch());
        batch.share = {};
        return batch;
    }

private:
    DataPart data_;
    std::vector<std::unique_ptr<Collator>> collators_;
};

RunConfig part_of(RunConfig config, int ranks) {
    config.batch_size /= ranks;
    return config;
}

/// The last of `count` steps of one process that computes the parts of a batch one after the other.
Step by_parts(const RunConfig& config, int ranks, int count = 1) {
    RunConfig alone_config = part_of(config, ranks);
    alone_config.accumulate = ranks;
    RankRun run(alone_config);
    const Parts parts(config, run.trainer, ranks);
    const auto gradients = std::make_shared<Gradients>();
    StepRecord row;
    for (int step = 0; step < count; ++step) {
        if (step + 1 == count) run.trainer.attach(gradients);
        std::vector<Batch> batches;
        for (int rank = 0; rank < ranks; ++rank)
            batches.push_back(parts.of(static_cast<std::size_t>(rank), step));
        row = run.step(batches).row;
    }
    return {row, gradients->found, run.weights(), run.buffers()};
}

TEST(DataParallelSteps, WithLocalBatchNormResNetIsOneProcessThatAccumulatesTheParts) {
    const RunConfig config = residual_run("fp32");
    const Step one = by_parts(config, 2);
    const std::vector<Step> many = together(config, 2);
    const double bound = order_bound(config, 8 * 28 * 28, 18);
    EXPECT_LE(gap(many[0].gradients, one.gradients), bound);
    EXPECT_EQ(many[0].gradients, many[1].gradients);
    EXPECT_NE(many[0].buffers, many[1].buffers) << "each has its own until an evaluation";
}

// In 16 bits each part's gradients are rounded by themselves before they are added up, on both
// sides: that, and not the exchange, is what distinguishes ranks from a process that takes the
// whole batch at once.
TEST_P(DataParallelStep, FiftyStepsHaveTheBitsOfOneProcessThatAccumulatesTheParts) {
    for (const RunConfig& config :
         {test::small_run("mlp", GetParam()), test::small_run("lenet", GetParam()),
          test::small_transformer_run(GetParam())}) {
        SCOPED_TRACE(config.model.kind);
        const Step one = by_parts(config, 2, 50);
        const Step two = together(config, 2, 50)[0];
        EXPECT_EQ(two.row.loss, one.row.loss);
        EXPECT_EQ(two.row.loss_scale, one.row.loss_scale);
        EXPECT_EQ(two.weights, one.weights);
    }
}

/// Replaces the gradients by their mean with those of another part.
class MeanWith final : public StepObserver {
public:
    explicit MeanWith(const Gradients& other) : other_(other) {}
    void before_update(const StepView& step) override {
        std::size_t index = 0;
        for (const Parameter& parameter : step.model.parameters()) {
            // A step may have left it in 16 bits (LowGradients).
            const Tensor mean = to(parameter.tensor.grad().detach(), DType::f32);
            auto* const own = mean.data_as<float>();
            const std::vector<double>& other = other_.found.at(index++);
            for (std::size_t i = 0; i < other.size(); ++i)
                own[i] = (own[i] + static_cast<float>(other[i])) * 0.5f;
            parameter.tensor.set_grad(mean);
        }
    }

private:
    const Gradients& other_;
};

void copy_weights(const Model& from, const Model& to) {
    const auto sources = from.parameters(), targets = to.parameters();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        std::memcpy(targets[i].tensor.data(), sources[i].tensor.data(), sources[i].tensor.bytes());
        targets[i].tensor.bump_version();
    }
}

// An LSTM's state goes from one micro-batch to the next, so here two processes compute the parts.
TEST_P(DataParallelStep, FiftyStepsOfAnLstmHaveTheBitsOfItsPartsComputedApart) {
    RunConfig config = test::small_text_run(GetParam());
    config.scaler.growth_interval = 1000;
    const Step two = together(config, 2, 50)[0];
    // A loss that is not weighted, with half the scale, has the gradients of the weighted one.
    config.scaler.init_scale /= 2;
    RankRun first(part_of(config, 2)), second(part_of(config, 2));
    const Parts parts(config, first.trainer, 2);
    const auto others = std::make_shared<Gradients>();
    second.trainer.attach(others);
    first.trainer.attach(std::make_shared<MeanWith>(*others));
    for (int step = 0; step < 50; ++step) {
        std::vector<Batch> batches{parts.of(1, step)};
        second.step(batches);
        batches = {parts.of(0, step)};
        first.step(batches);
        copy_weights(first.trainer.model(), second.trainer.model());
    }
    EXPECT_EQ(first.weights(), two.weights);
}

// X15: masters equal on all ranks, and the model is the masters in f16.
TEST(DataParallelSteps, X15_AnO2ModelIsItsMastersRoundedOnEveryRank) {
    RunConfig config = test::small_run("mlp", "o2-fp16");
    config.workers = 2;
    std::vector<TrainingState> states(2);
    std::vector<Numbers> weights(2);
    on_ranks(2, [&](const auto& line) {
        RankRun run(config, line);
        for (int step = 0; step < 500; ++step) run.step();
        const auto rank = static_cast<std::size_t>(line->rank());
        states[rank] = run.trainer.saved_state();
        weights[rank] = run.weights();
    });
    EXPECT_EQ(weights[0], weights[1]);
    int masters = 0;
    for (const auto& [name, value] : states[0].optimizer) {
        EXPECT_EQ(value.values(), states[1].optimizer.at(name).values()) << name;
        if (!name.ends_with(".master")) continue;
        ++masters;
        const Tensor weight = states[0].weights.at(name.substr(0, name.size() - 7));
        EXPECT_EQ(weight.values(), to(value, DType::f16).values()) << name;
    }
    EXPECT_GT(masters, 0);
}

}  // namespace
}  // namespace engine
