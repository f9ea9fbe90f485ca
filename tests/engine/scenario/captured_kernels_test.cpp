#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda_device.h"
#include "needs_cuda.h"
#include "simt/libraries.h"
#include "simt/work_counts.h"
#include "support/click_run.h"
#include "support/device_support.h"
#include "support/few_pictures.h"

// The kernels, copies and fills of captured steps: what a graph launches and moves, since the
// simulated device has no times. Each test prints its table, so that a change can be compared with
// the state before it.
namespace engine {
namespace {

using kernels::simt::WorkCount;
using kernels::simt::WorkCounts;
using test::FewPictures;
using test::TrainerFixture;

constexpr std::int64_t batch = 2, steps = 8;  // more than come before the first replay

RunConfig resnet(const FewPictures& pictures, const std::string& precision) {
    RunConfig config = test::small_run("lenet", precision);
    test::use_narrow_resnet(config, pictures);
    return config;
}

/// The work of one replayed step, with the preparation of its batch, which is outside of the graph.
struct CapturedWork {
    WorkCounts counts;
    std::int64_t nodes = 0;

    std::int64_t runs(const std::string& name) const {
        const auto found = counts.find(name);
        return found == counts.end() ? 0 : found->second.runs;
    }
};

CapturedWork work_of_replay(const RunConfig& config) {
    TrainerFixture fixture(config, test::cuda);
    while (fixture.trainer.replayed_steps() == 0) fixture.step(fixture.trainer.steps());
    kernels::simt::start_counting();
    fixture.step(fixture.trainer.steps());
    return {kernels::simt::stop_counting(), fixture.trainer.graph_nodes()};
}

std::int64_t bytes_of(const WorkCount& count) { return count.bytes_read + count.bytes_written; }

void print(const char* title, const CapturedWork& work) {
    std::vector<std::pair<std::string, WorkCount>> rows(work.counts.begin(), work.counts.end());
    std::ranges::stable_sort(
        rows, [](const auto& a, const auto& b) { return bytes_of(a.second) > bytes_of(b.second); });
    WorkCount all;
    std::printf("%s: %d nodes\n%-32s %5s %12s %12s\n", title, static_cast<int>(work.nodes), "name",
                "runs", "KB read", "KB written");
    const auto row = [](const std::string& name, const WorkCount& count) {
        std::printf("%-32s %5d %12.1f %12.1f\n", name.c_str(), static_cast<int>(count.runs),
                    static_cast<double>(count.bytes_read) * 1e-3,
                    static_cast<double>(count.bytes_written) * 1e-3);
    };
    for (const auto& [name, count] : rows) {
        row(name, count);
        all.runs += count.runs;
        all.bytes_read += count.bytes_read;
        all.bytes_written += count.bytes_written;
    }
    row("all", all);
    std::fflush(stdout);
}

TEST(CapturedKernels, OfResNet18InAmpFp16) {
    HALFTONE_NEEDS_CUDA();
    const FewPictures pictures(steps * batch);
    RunConfig config = resnet(pictures, "amp-fp16");
    config.scaler.init_scale = 128;  // no step is skipped, so the update reads and writes
    const CapturedWork work = work_of_replay(config);
    print("ResNet-18 of an eighth of the channels, CIFAR stem, amp-fp16, batch 2", work);
    EXPECT_EQ(work.runs("cudnnBackendExecute"), 20 + 19 + 20)
        << "forward, data gradients of all convolutions but the first, weight gradients";
    EXPECT_LE(work.nodes, 162);
    EXPECT_LE(work.runs("binary"), 5) << "batch norm adds the gradients of 8 joins itself";
    EXPECT_EQ(work.runs("copy_strided"), 2)
        << "weights and their gradients lie as cuDNN takes them, but those of the first "
           "convolution, whose three channels it takes as eight";
    EXPECT_LE(work.runs("cast"), 1) << "the input comes in autocast's type";
    EXPECT_LE(work.runs("abs_max"), 3) << "others take the largest gradient along";
}

/// Nodes of a step whose products have the library's epilogues, less than without them; with them
/// at most so many. The batches differ by one row, since a shape that has a plan is not planned
/// again.
std::int64_t nodes_that_epilogues_save(const char* title, RunConfig config,
                                       std::int64_t max_nodes) {
    config.scaler.init_scale = 128;
    const CapturedWork with = work_of_replay(config);
    print(title, with);
    EXPECT_LE(with.nodes, max_nodes);
    ++config.batch_size;
    kernels::simt::configure(
        kernels::simt::LibrarySettings{.relu_epilogue = false, .sums_epilogue = false});
    const CapturedWork without = work_of_replay(config);
    kernels::simt::configure(kernels::simt::LibrarySettings{});
    std::printf("without relu and sums in the products: %d nodes\n",
                static_cast<int>(without.nodes));
    return without.nodes - with.nodes;
}

TEST(CapturedKernels, OfTheMlpInAmpFp16) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = test::small_run("mlp", "amp-fp16");
    EXPECT_EQ(nodes_that_epilogues_save("MLP on spirals, amp-fp16", config, 23), 2 + 3)
        << "relu of two layers, the bias gradients of three";
}

TEST(CapturedKernels, AreFollowedByOneMarkAndNoCopy) {
    HALFTONE_NEEDS_CUDA();
    const CapturedWork work = work_of_replay(test::small_run("mlp", "amp-fp16"));
    EXPECT_EQ(work.runs("mark"), 3 + 1) << "the feed's pinned buffer, copies and place; the step";
    EXPECT_EQ(work.runs("copy"), 2 + 1)
        << "of features and labels to the device, and of labels into their place; no figures";
}

TEST(CapturedKernels, OfATransformerInAmpFp16) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig config = test::small_transformer_run("amp-fp16");
    EXPECT_EQ(nodes_that_epilogues_save("transformer-lm of two blocks, amp-fp16", config, 109), 8)
        << "the bias gradients of four layers a block";
}

/// LSTM language model of two layers.
RunConfig lstm_settings(const std::string& precision) {
    RunConfig config = test::small_text_run(precision);
    config.model.options["layers"] = std::int64_t{2};
    config.scaler.init_scale = 128;
    return config;
}

TEST(CapturedKernels, OfAnLstmCopyNoWeightAndNoGradient) {
    HALFTONE_NEEDS_CUDA();
    const std::vector<std::pair<std::string, std::int64_t>> runs{
        {"fp32", 1}, {"amp-fp16", 1}, {"amp-fp16", 3}, {"o2-fp16", 1}};
    for (const auto& [precision, batches] : runs) {
        RunConfig config = lstm_settings(precision);
        config.accumulate = batches;
        const CapturedWork work = work_of_replay(config);
        print(("LSTM of two layers, " + precision + ", " + std::to_string(batches) +
               " batches a step")
                  .c_str(),
              work);
        EXPECT_EQ(work.runs("cudnnRNNForward"), batches);
        EXPECT_EQ(work.runs("cudnnRNNBackwardWeights"), batches);
        EXPECT_EQ(work.runs("copy"), 4 * batches)
            << "of batches and states; with weights and gradients 16 more a batch";
    }
}

/// DLRM with the tables and layers of the benchmarks, all of them small: the nodes are the same.
RunConfig dlrm(const std::string& precision) {
    RunConfig config = test::small_click_run(precision, "sgd");
    config.dataset.options = {{"tables", std::int64_t{26}}, {"table_rows", std::int64_t{40}}};
    config.model.options = {{"bottom", std::vector<std::int64_t>{16}},
                            {"top", std::vector<std::int64_t>{16}},
                            {"embedding", std::int64_t{8}}};
    config.scaler.init_scale = 128;
    return config;
}

/// Losses of some steps, the last of them captured on a GPU.
std::vector<float> losses_of(const RunConfig& config, const Device& device) {
    TrainerFixture fixture(config, device);
    std::vector<float> losses;
    for (std::int64_t i = 0; i < steps; ++i) losses.push_back(fixture.step(i).row.loss);
    EXPECT_EQ(fixture.trainer.replayed_steps() > 0, device.kind == Device::Kind::cuda);
    return losses;
}

TEST(CapturedKernels, OfDlrmHaveTheBitsOfAnOpForEachTable) {
    HALFTONE_NEEDS_CUDA();
    const RunConfig together = test::small_click_run("fp32");
    RunConfig one_by_one = together;
    // A forced type, though it is the type anyway, has each operation computed by itself.
    one_by_one.precision.force["bot_l.0"] = ForcedType::fp32;
    const std::vector<float> expected = losses_of(one_by_one, Device{});
    EXPECT_EQ(losses_of(together, Device{}), expected);
    const std::vector<float> on_device = losses_of(one_by_one, test::cuda);
    EXPECT_EQ(losses_of(together, test::cuda), on_device);
}

TEST(CapturedKernels, OfDlrmTakeAllTablesTogether) {
    HALFTONE_NEEDS_CUDA();
    const std::pair<const char*, std::int64_t> runs[] = {{"fp32", 53}, {"amp-fp16", 65}};
    for (const auto& [precision, max_nodes] : runs) {
        const CapturedWork work = work_of_replay(dlrm(precision));
        print(("DLRM with 26 tables, " + std::string(precision)).c_str(), work);
        EXPECT_LE(work.nodes, max_nodes) << "and one more where a batch has over 256 rows";
        for (const char* name : {"embedding_bag", "split_bags", "sort_tables", "coalesce_tables",
                                 "fetch_rows", "put_rows"})
            EXPECT_EQ(work.runs(name), 1) << name;
    }
}

/// The host's launches for one batch of an evaluation.
std::int64_t launches_of_evaluation(TrainerFixture& fixture, const Batch& input) {
    const std::int64_t before = kernels::cuda::call_counts().launches;
    fixture.trainer.evaluate(input, *fixture.feed);
    return kernels::cuda::call_counts().launches - before;
}

TEST(CapturedKernels, OfAnEvaluationOfAnLstmCopyNoWeight) {
    HALFTONE_NEEDS_CUDA();
    for (const char* precision : {"fp32", "amp-fp16"}) {
        TrainerFixture fixture(lstm_settings(precision), test::cuda);
        Batch input;
        fixture.collator.make(input, 0, 0);
        while (fixture.trainer.evaluation_graph().replays() == 0)
            fixture.trainer.evaluate(input, *fixture.feed);
        (void)fixture.trainer.take_evaluation();
        kernels::simt::start_counting();
        fixture.trainer.evaluate(input, *fixture.feed);
        (void)fixture.trainer.take_evaluation();
        const CapturedWork work{kernels::simt::stop_counting(),
                                fixture.trainer.evaluation_graph().nodes()};
        print(("Evaluation of an LSTM of two layers, " + std::string(precision)).c_str(), work);
        EXPECT_EQ(work.runs("cudnnRNNForward"), 1);
        EXPECT_EQ(work.runs("copy"), 6) << "of the batch, states and sums; with weights 8 more";
    }
}

TEST(CapturedKernels, OfAnEvaluationOfResNet18InAmpFp16) {
    HALFTONE_NEEDS_CUDA();
    const FewPictures pictures(steps * batch);
    TrainerFixture fixture(resnet(pictures, "amp-fp16"), test::cuda);
    Batch input;
    fixture.collator.make(input, 0, 0);
    (void)launches_of_evaluation(fixture, input);  // makes the plans
    (void)fixture.trainer.take_evaluation();
    const std::int64_t eager = launches_of_evaluation(fixture, input);
    const MetricSums expected = fixture.trainer.take_evaluation();
    while (fixture.trainer.evaluation_graph().replays() == 0)
        fixture.trainer.evaluate(input, *fixture.feed);
    (void)fixture.trainer.take_evaluation();
    kernels::simt::start_counting();
    EXPECT_EQ(launches_of_evaluation(fixture, input), 2) << "the batch is made, and the graph";
    EXPECT_EQ(fixture.trainer.take_evaluation().loss, expected.loss);
    const CapturedWork work{kernels::simt::stop_counting(),
                            fixture.trainer.evaluation_graph().nodes()};
    print("Evaluation of ResNet-18 of an eighth of the channels, CIFAR stem, amp-fp16", work);
    std::printf("launches of an eager batch: %d\n", static_cast<int>(eager));
    EXPECT_EQ(work.runs("cudnnBackendExecute"), 20);
}

}  // namespace
}  // namespace engine
