#include "train/step/evaluation_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "needs_cuda.h"
#include "support/device_support.h"
#include "tensor/restore.h"

// Compares evaluations that are replayed with eager ones, bit for bit.
namespace engine {
namespace {

using test::cuda;
using test::small_run;
using test::TrainerFixture;
using testing::IsEmpty;

struct NamedRun {
    const char* name;
    RunConfig config;
};

std::vector<NamedRun> runs() {
    return {{"mlp, fp32", small_run("mlp", "fp32")},
            {"mlp, amp-bf16", small_run("mlp", "amp-bf16")},
            {"lenet, amp-fp16", small_run("lenet", "amp-fp16")},
            {"lenet, o2-fp16", small_run("lenet", "o2-fp16")},
            {"recurrent text", test::small_text_run("amp-fp16")},
            {"transformer", test::small_transformer_run("amp-bf16")}};
}

/// Evaluates batches [0, count) of the fixture's data.
MetricSums evaluated(TrainerFixture& fixture, std::int64_t count) {
    fixture.trainer.begin_evaluation();
    Batch batch;
    for (std::int64_t i = 0; i < count; ++i) {
        fixture.collator.make(batch, 0, i);
        fixture.trainer.evaluate(batch, *fixture.feed);
    }
    return fixture.trainer.take_evaluation();
}

void expect_same_sums(const MetricSums& found, const MetricSums& expected) {
    EXPECT_EQ(found.loss, expected.loss);
    EXPECT_EQ(found.weight, expected.weight);
    EXPECT_TRUE(std::ranges::equal(found.values, expected.values));
}

const EvaluationGraph& graph_of(const TrainerFixture& fixture) {
    return fixture.trainer.evaluation_graph();
}

TEST(EvaluationGraph, ReplaysWithTheBitsOfEagerBatchesWhileTheWeightsAreTrained) {
    HALFTONE_NEEDS_CUDA();
    for (const NamedRun& run : runs()) {
        SCOPED_TRACE(run.name);
        TrainerFixture eager(run.config, cuda), replayed(run.config, cuda);
        eager.trainer.set_recording(false);
        std::int64_t step = 0;
        for (const std::int64_t batches : {2, 3, 3}) {
            for (int i = 0; i < 3; ++i, ++step) {
                eager.step(step);
                replayed.step(step);
            }
            expect_same_sums(evaluated(replayed, batches), evaluated(eager, batches));
        }
        EXPECT_EQ(graph_of(replayed).replays(), 2 + 3 + 3 - 3);
        EXPECT_EQ(graph_of(replayed).captures(), 1);
        EXPECT_GT(graph_of(replayed).nodes(), 0);
        EXPECT_EQ(graph_of(eager).replays(), 0);
        EXPECT_THAT(replayed.trainer.take_warnings(), IsEmpty());
    }
}

TEST(EvaluationGraph, ComputesABatchOfAnotherSizeEagerlyAndGoesOn) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "amp-fp16");
    TrainerFixture eager(config, cuda), replayed(config, cuda);
    eager.trainer.set_recording(false);
    std::vector<MetricSums> sums;
    for (TrainerFixture* fixture : {&replayed, &eager}) {
        Batch batch;
        for (int i = 0; i < 7; ++i) {
            fixture->collator.make(batch, 0, i);
            if (i == 5) test::truncate(batch, 5);
            fixture->trainer.evaluate(batch, *fixture->feed);
        }
        sums.push_back(fixture->trainer.take_evaluation());
    }
    expect_same_sums(sums[0], sums[1]);
    EXPECT_EQ(graph_of(replayed).replays(), 7 - 3 - 1);
    EXPECT_EQ(graph_of(replayed).captures(), 1);
}

/// Puts a weight's values into other memory.
void move_weight(const Tensor& weight) {
    auto storage = std::make_shared<Storage>(weight.bytes(), weight.device());
    kernels::cuda::copy_on_device(storage->block.data(), weight.data(), weight.bytes(), {});
    storage->version = weight.version();
    weight.impl()->storage = std::move(storage);
}

/// Writes the weight without its 16-bit copy.
void write_weight(const Tensor& weight) {
    const std::vector<float> values(static_cast<std::size_t>(weight.numel()), 0.25F);
    weight.copy_from_host(values.data());
    weight.bump_version();
}

TEST(EvaluationGraph, IsCapturedAnewWhenAWeightMovesOrItsLowCopyIsOld) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "amp-fp16");
    for (const auto& change : {move_weight, write_weight}) {
        TrainerFixture eager(config, cuda), replayed(config, cuda);
        eager.trainer.set_recording(false);
        expect_same_sums(evaluated(replayed, 5), evaluated(eager, 5));
        for (TrainerFixture* fixture : {&replayed, &eager})
            change(fixture->trainer.model().parameters()[2].tensor);
        expect_same_sums(evaluated(replayed, 5), evaluated(eager, 5));
        EXPECT_EQ(graph_of(replayed).captures(), 2);
        EXPECT_EQ(graph_of(replayed).replays(), 2 + 5);
    }
}

TEST(EvaluationGraph, ReadsWeightsThatWereRestored) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = small_run("lenet", "amp-fp16");
    TrainerFixture fixture(config, cuda);
    const TrainingState start = fixture.trainer.saved_state();
    const MetricSums before = evaluated(fixture, 5);
    for (int i = 0; i < 5; ++i) fixture.step(i);
    EXPECT_NE(evaluated(fixture, 5).loss, before.loss);
    load_state(fixture.trainer.model(), start.weights);
    expect_same_sums(evaluated(fixture, 5), before);
    EXPECT_GT(graph_of(fixture).replays(), 5);
}

TEST(EvaluationGraph, KeepsThePicturesOfAReplayedFirstBatch) {
    HALFTONE_NEEDS_CUDA();
    RunConfig config = small_run("autoencoder", "amp-fp16");
    config.batch_size = 2;
    TrainerFixture eager(config, cuda), replayed(config, cuda);
    eager.trainer.set_recording(false);
    for (int pass = 0; pass < 2; ++pass) {
        std::vector<PictureBands> pictures;
        for (TrainerFixture* fixture : {&replayed, &eager}) {
            (void)evaluated(*fixture, 4);
            pictures.push_back(fixture->trainer.take_pictures());
        }
        ASSERT_EQ(pictures[0].bands.size(), 2U);
        for (std::size_t band = 0; band < 2; ++band)
            EXPECT_EQ(pictures[0].bands[band].values(), pictures[1].bands[band].values());
    }
    EXPECT_EQ(graph_of(replayed).replays(), 4 + 4 - 3);
}

TEST(EvaluationGraph, ThrowsAValueThatAReplayedBatchRefuses) {
    HALFTONE_NEEDS_CUDA();
    TrainerFixture fixture(small_run("mlp", "fp32"), cuda);
    const MetricSums expected = evaluated(fixture, 4);
    ASSERT_EQ(graph_of(fixture).replays(), 1);
    Batch batch;
    fixture.collator.make(batch, 0, 0);
    test::labels_of(batch)[3] = 7;  // there are two classes
    fixture.trainer.evaluate(batch, *fixture.feed);
    EXPECT_THROW((void)fixture.trainer.take_evaluation(), Error);
    expect_same_sums(evaluated(fixture, 4), expected);
}

TEST(EvaluationGraph, TakesItsMemoryFromTheCapturedStepAndGivesAllBack) {
    HALFTONE_NEEDS_CUDA();
    const std::size_t before = memory_in_use(cuda);
    {
        TrainerFixture fixture(small_run("lenet", "amp-fp16"), cuda);
        for (int i = 0; i < 4; ++i) fixture.step(i);
        ASSERT_GT(fixture.trainer.graph_nodes(), 0);
        (void)evaluated(fixture, 3);
        const std::int64_t eager = fixture.trainer.accounting()->total();
        (void)evaluated(fixture, 3);
        EXPECT_EQ(graph_of(fixture).replays(), 3);
        // The static input: pictures in 16 bits, labels, and a size class above each.
        const std::int64_t input = 16 * (28 * 28 * 2 + 8);
        EXPECT_LE(fixture.trainer.accounting()->total() - eager, 2 * input);
    }
    EXPECT_EQ(memory_in_use(cuda), before);
}

TEST(EvaluationGraph, CapturesNothingOnACpu) {
    TrainerFixture fixture(small_run("mlp", "fp32"), Device{});
    (void)evaluated(fixture, 5);
    EXPECT_EQ(graph_of(fixture).captures(), 0);
}

}  // namespace
}  // namespace engine
