#include "train/run/run_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <csignal>

#include "engine/runs/checkpoint.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

SavedRun run_at(std::int64_t step, std::int64_t numbers = 8) {
    SavedRun saved;
    saved.run = "7";
    saved.training.weights["w"] = Tensor::zeros({numbers}, DType::f32, Device{});
    saved.training.counts = {{"steps", static_cast<double>(step)},
                             {"updates", static_cast<double>(step)},
                             {"samples", 0}};
    saved.progress = {{"epoch", 0}, {"batch", 0}};
    return saved;
}

/// Simulates a full disk: while it lives, no file of this process may exceed this size.
class FileLimit {
public:
    explicit FileLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(CheckpointWriter, WritesInOrderAndKeepsTheNewest) {
    const test_support::TempFolder folder;
    CheckpointWriter writer(folder.path(), 2);
    for (const std::int64_t step : {1, 2, 3, 4}) writer.submit(run_at(step));
    writer.wait();
    EXPECT_TRUE(writer.is_idle());
    const auto results = writer.take_results();
    ASSERT_THAT(results, SizeIs(4));
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(results[i].step, static_cast<std::int64_t>(i) + 1);
        EXPECT_FALSE(results[i].failure);
    }
    EXPECT_THAT(writer.take_results(), SizeIs(0));
    EXPECT_THAT(list_checkpoints(folder.path()), SizeIs(2));
}

TEST(CheckpointWriter, WritesWhatWasSubmittedBeforeItEnds) {
    const test_support::TempFolder folder;
    { CheckpointWriter(folder.path(), 3).submit(run_at(5)); }
    EXPECT_EQ(find_checkpoint(folder.path(), "last").step, 5);
}

TEST(CheckpointWriter, OnAFullDiskSaysTheSizesAndLeavesTheLastOneWhole) {
    const test_support::TempFolder folder;
    CheckpointWriter writer(folder.path(), 3);
    writer.submit(run_at(1));
    writer.wait();
    {
        const FileLimit full(100'000);
        writer.submit(run_at(2, 1'000'000));
        writer.wait();
    }
    writer.submit(run_at(3));
    writer.wait();
    const auto results = writer.take_results();
    ASSERT_THAT(results, SizeIs(3));
    ASSERT_TRUE(results[1].failure);
    EXPECT_THAT(results[1].failure->str(), HasSubstr("step 2 (4.00 MB)"));
    EXPECT_FALSE(results[2].failure) << "the next one is tried";
    EXPECT_EQ(read_saved_run(find_checkpoint(folder.path(), "1").folder).step(), 1);
    EXPECT_THAT(list_checkpoints(folder.path()), SizeIs(2));
}

}  // namespace
}  // namespace engine
