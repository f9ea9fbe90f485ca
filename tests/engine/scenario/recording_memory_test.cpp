#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "device_memory_support.h"

// A step whose capture runs out of memory: at its beginning, in the middle, at its very end.
namespace engine {
namespace {

using test::AccountedRun;
using test::cuda;
using test::DeviceMemory;
using test::small_run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using RecordingMemory = DeviceMemory;

/// The texts of the warnings.
std::vector<std::string> words_of(AccountedRun& run) {
    std::vector<std::string> words;
    for (const Message& message : run.trainer.take_warnings()) words.push_back(message.str());
    return words;
}

/// Clips, so that a step allocates memory between its gradient check and its update, or has a clip
/// coefficient.
RunConfig clipped_run(const std::string& model, const std::string& precision, ClipKind kind) {
    RunConfig config = small_run(model, precision);
    config.clip.kind = kind;
    config.clip.value = kind == ClipKind::norm ? 0.25 : 0.01;
    config.scaler.growth_interval = 2;
    return config;
}

struct SixSteps {
    std::vector<float> losses;
    std::vector<std::vector<double>> weights;
};

/// Six steps as those of eager steps, in which the capture before the fourth is refused memory
/// `times` times, after `allocations` that it gets. Whether it was captured nevertheless.
bool is_captured(const RunConfig& config, const SixSteps& eager, int allocations, int times) {
    AccountedRun run(config);
    for (int i = 0; i < 6; ++i) {
        if (i == 3) kernels::simt::refuse_memory(allocations, times);
        EXPECT_EQ(run.step(i).loss, eager.losses[static_cast<std::size_t>(i)]) << "step " << i;
    }
    kernels::simt::refuse_memory(0, 0);
    EXPECT_EQ(run.weights(), eager.weights);
    const bool captured = run.trainer.replayed_steps() > 0;
    const std::vector<std::string> words = words_of(run);
    if (captured)
        EXPECT_THAT(words, IsEmpty());
    else
        EXPECT_THAT(words, ElementsAre(HasSubstr("too little memory to capture the step")));
    EXPECT_EQ(run.trainer.replayed_steps(), captured ? 3 : 0);
    return captured;
}

// Out of memory at each of its allocations in turn.
TEST_F(RecordingMemory, ARecordingWithoutMemoryGoesBackToEagerStepsWithTheirNumbers) {
    for (const auto& [model, precision] :
         {std::pair{"mlp", "amp-fp16"}, std::pair{"lenet", "amp-bf16"}}) {
        SCOPED_TRACE(std::string(model) + " " + precision);
        const RunConfig config = clipped_run(
            model, precision, std::string(model) == "mlp" ? ClipKind::value : ClipKind::norm);
        AccountedRun run(config);
        run.trainer.set_recording(false);
        SixSteps eager;
        for (int i = 0; i < 6; ++i) eager.losses.push_back(run.step(i).loss);
        eager.weights = run.weights();
        const int step = std::string(model) == "mlp" ? 1 : 7;  // LeNet: not tested at all of them
        int refused = 0;
        for (bool captured = false; !captured; ++refused) {
            ASSERT_LT(refused, 500);
            SCOPED_TRACE("allocation " + std::to_string(refused * step));
            // Refused once, an allocation that finds freed memory to give back is tried again, and
            // the capture goes on: then it is refused twice.
            captured = is_captured(config, eager, refused * step, 1) &&
                       is_captured(config, eager, refused * step, 2);
            ASSERT_FALSE(HasFailure());
        }
        EXPECT_GT(refused, 4);
    }
}

TEST_F(RecordingMemory, WhereEagerStepsJustFitNothingIsRecorded) {
    const RunConfig config = small_run("lenet", "fp32");
    AccountedRun eager(config), run(config);
    eager.trainer.set_recording(false);
    for (int i = 0; i < 3; ++i) {
        (void)eager.step(i);
        (void)run.step(i);
    }
    release_cached_memory();
    const std::int64_t others = kernels::simt::device_bytes() - run.trainer.accounting()->total();
    const std::size_t before = set_memory_limit(
        static_cast<std::size_t>(others + run.trainer.accounting()->peak() + 64 * 1024), cuda);
    for (int i = 3; i < 6; ++i) EXPECT_EQ(run.step(i).step, i + 1);
    set_memory_limit(before, cuda);
    EXPECT_EQ(run.trainer.replayed_steps(), 0);
    EXPECT_EQ(run.trainer.take_warnings().size(), 1u);
    for (int i = 3; i < 6; ++i) (void)eager.step(i);
    EXPECT_EQ(run.weights(), eager.weights());
}

/// The memory of a captured step, without its graph.
struct Recording {
    int allocations = 0;
    std::int64_t bytes = 0;  // that the graph keeps
};
Recording recording_of(const RunConfig& config) {
    AccountedRun run(config);
    for (int i = 0; i < 3; ++i) (void)run.step(i);
    release_cached_memory();
    const std::int64_t before = kernels::cuda::call_counts().allocations;
    const std::int64_t bytes = kernels::simt::device_bytes();
    (void)run.step(3);
    EXPECT_EQ(run.trainer.replayed_steps(), 1);
    return {static_cast<int>(kernels::cuda::call_counts().allocations - before),
            kernels::simt::device_bytes() - bytes};
}

void expect_same_row(const StepRecord& expected, const StepRecord& row) {
    EXPECT_EQ(row.loss, expected.loss);
    EXPECT_EQ(row.loss_scale, expected.loss_scale);
    EXPECT_EQ(row.found_inf, expected.found_inf);
    EXPECT_EQ(row.growth_tracker, expected.growth_tracker);
    EXPECT_EQ(row.updates, expected.updates);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(row.grad_norm),
              std::bit_cast<std::uint32_t>(expected.grad_norm));
}

class LateOutOfMemory : public DeviceMemory,
                        public testing::WithParamInterface<std::pair<const char*, const char*>> {
protected:
    RunConfig config_ = clipped_run(GetParam().first, GetParam().second, ClipKind::norm);
};

// The whole step has been captured when its graph cannot be allocated, or cannot be instantiated on
// the device.
TEST_P(LateOutOfMemory, LeavesTheAccountingAndTheBitsOfARunThatNeverRecorded) {
    const Recording recording = recording_of(config_);
    for (const int of_graph : {0, 1}) {
        SCOPED_TRACE(of_graph);
        AccountedRun eager(config_), run(config_);
        eager.trainer.set_recording(false);
        for (int i = 0; i < 8; ++i) {
            SCOPED_TRACE(i);
            const StepRecord expected = eager.step(i);
            release_cached_memory();
            if (i == 3) kernels::simt::refuse_memory(recording.allocations + of_graph);
            expect_same_row(expected, run.step(i));
            release_cached_memory();
            const std::int64_t total = run.trainer.accounting()->total();
            EXPECT_EQ(total, eager.trainer.accounting()->total());
            EXPECT_EQ(2 * total - kernels::cuda::workspace_bytes(), kernels::simt::device_bytes());
        }
        EXPECT_EQ(run.weights(), eager.weights());
        EXPECT_EQ(run.trainer.replayed_steps(), 0);
        EXPECT_THAT(words_of(run), ElementsAre(HasSubstr("too little memory to capture the step")));
    }
}

TEST_P(LateOutOfMemory, GivesTheWholePoolBackBeforeTheStepThatGoesOn) {
    const Recording recording = recording_of(config_);
    AccountedRun run(config_);
    for (int i = 0; i < 3; ++i) (void)run.step(i);
    release_cached_memory();
    // Memory for the capture only: a second step would not fit.
    const std::size_t before = set_memory_limit(
        memory_in_use(cuda) + static_cast<std::size_t>(recording.bytes) +
            static_cast<std::size_t>(run.trainer.accounting()->bytes(MemoryUse::gradients)),
        cuda);
    kernels::simt::refuse_memory(recording.allocations);
    EXPECT_EQ(run.step(3).step, 4);
    set_memory_limit(before, cuda);
    EXPECT_EQ(run.trainer.replayed_steps(), 0);
    EXPECT_THAT(words_of(run), ElementsAre(HasSubstr("too little memory to capture the step")));
}

INSTANTIATE_TEST_SUITE_P(Runs, LateOutOfMemory,
                         testing::Values(std::pair{"mlp", "amp-fp16"}, std::pair{"mlp", "fp32"},
                                         std::pair{"lenet", "o2-fp16"}),
                         [](const auto& run) {
                             std::string name =
                                 std::string(run.param.first) + "_" + run.param.second;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace engine
