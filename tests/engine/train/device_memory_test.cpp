#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/library_scratch.h"
#include "core/memory.h"
#include "device_support.h"
#include "engine/error.h"
#include "kernels/cuda_libraries.h"
#include "kernels/recurrent_network.h"
#include "ops/conv2d.h"
#include "ops/matmul.h"
#include "simt/device.h"
#include "simt/libraries.h"

// The books and the memory of a device, where it can be counted and is soon exhausted.
namespace engine {
namespace {

using test::cuda;
using test::small_run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t mib = std::int64_t{1} << 20;

/// Nothing of the device is taken before a test nor after it.
class DeviceMemory : public testing::Test {
protected:
    DeviceMemory() { give_all_back(); }
    ~DeviceMemory() override {
        kernels::simt::configure(kernels::simt::DeviceSettings{});
        kernels::simt::configure(kernels::simt::LibrarySettings{});
        give_all_back();
    }
    static void give_all_back() {
        kernels::cuda::release_workspaces();
        release_cached_memory();
        EXPECT_EQ(kernels::simt::device_bytes(), 0);
    }
};

/// A trainer and its feed, all in the trainer's books.
struct BookedRun {
    explicit BookedRun(const RunConfig& config)
        : data(open_dataset(config.dataset, config.seed).train),
          trainer(config, cuda, data->shape(), data->classes(), 100),
          maker(data, {.batch_size = config.batch_size, .seed = config.seed}) {
        const BooksScope books(trainer.books());
        feed = make_feed(cuda, data, {.batch_size = config.batch_size, .seed = config.seed});
    }
    StepRecord step(std::int64_t index, std::size_t size = 16) {
        maker.make(batch[0], 0, index);
        batch[0].labels.resize(size);
        batch[0].indices.resize(size);
        return trainer.step(batch, *feed).row;
    }
    std::vector<std::vector<double>> weights() {
        std::vector<std::vector<double>> out;
        for (const auto& parameter : trainer.model().parameters())
            out.push_back(parameter.tensor.values());
        return out;
    }

    std::shared_ptr<const Dataset> data;
    Trainer trainer;
    BatchMaker maker;
    std::unique_ptr<BatchFeed> feed;
    std::vector<Batch> batch = std::vector<Batch>(1);
};

TEST_F(DeviceMemory, TheBooksAddUpToWhatIsTakenFromTheDevice) {
    for (const auto& [model, precision] :
         {std::pair{"mlp", "fp32"}, std::pair{"lenet", "amp-fp16"}, std::pair{"mlp", "o2-fp16"}}) {
        SCOPED_TRACE(std::string(model) + " " + precision);
        BookedRun run(small_run(model, precision));
        const MemoryBooks& books = *run.trainer.books();
        std::int64_t eager_workspace = 0;
        for (int i = 0; i < 6; ++i) {  // the fourth is recorded, the last has another size
            const StepRecord row = run.step(i, i == 5 ? 9 : 16);
            EXPECT_EQ(row.memory_bytes, books.total());
            release_cached_memory();
            EXPECT_EQ(books.total(), kernels::simt::device_bytes()) << "step " << i;
            EXPECT_EQ(books.total(), static_cast<std::int64_t>(memory_in_use(cuda)));
            if (i == 2) eager_workspace = books.bytes(MemoryUse::workspace);
        }
        EXPECT_EQ(run.trainer.replayed_steps(), 2);
        EXPECT_GE(eager_workspace, kernels::cuda::workspace_bytes()) << "the libraries' scratch";
        EXPECT_GT(books.bytes(MemoryUse::workspace), eager_workspace) << "the graph's memory";
        EXPECT_GE(books.peak(), books.total());
    }
}

TEST_F(DeviceMemory, TheSplitOfAFullDeviceAddsUp) {
    const RunConfig config = small_run("lenet", "fp32");
    BookedRun other(config), run(config);
    for (int i = 0; i < 5; ++i) (void)other.step(i);
    for (int i = 0; i < 2; ++i) (void)run.step(i);
    const Tensor neighbour = Tensor::zeros({3 * mib}, DType::u8, cuda);
    release_cached_memory();
    const MemoryBooks& books = *run.trainer.books();
    const std::int64_t others = kernels::simt::device_bytes() - books.total();
    ASSERT_GE(others, 3 * mib);
    const std::string words = split(books, cuda);
    EXPECT_THAT(words,
                HasSubstr("workspace " + std::to_string(books.bytes(MemoryUse::workspace) / mib)));
    EXPECT_THAT(words, HasSubstr("other runs " + std::to_string(others / mib) + " MiB"));
    const std::size_t before = set_memory_limit(memory_in_use(cuda), cuda);
    try {
        (void)run.step(2);
        ADD_FAILURE() << "no room for a step";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::memory);
        EXPECT_THAT(error.what(), HasSubstr("other runs"));
        EXPECT_THAT(error.hint().str(), HasSubstr("Try batch_size"));
    }
    set_memory_limit(before, cuda);
    EXPECT_EQ(run.step(2).step, 3) << "and goes on where there is room";
}

TEST_F(DeviceMemory, CachedBlocksGoBackBeforeTheLibrariesScratchFails) {
    const Tensor x = Tensor::full({512, 8}, 1, DType::f16, cuda);
    const Tensor w = Tensor::full({512, 8}, 1, DType::f16, cuda);
    const Tensor bias = Tensor::full({512}, 1, DType::f16, cuda);
    { const Tensor freed = Tensor::full({3 * mib}, 1, DType::u8, cuda); }
    kernels::simt::configure({.memory_bytes = 4 * mib});
    // Without its own epilogue the library's sums lie in scratch: 1 MiB in f32.
    kernels::simt::configure({.bias_epilogue = false});
    const Tensor y = linear(x, w, bias);
    EXPECT_GE(kernels::cuda::workspace_bytes(), mib);
    EXPECT_EQ(release_cached_memory(), 0u) << "they have gone back";
    EXPECT_EQ(y.values()[12345], 9);
}

TEST_F(DeviceMemory, TheLibrariesScratchStandsInTheBooksOfEveryRunOfTheDevice) {
    const auto early = std::make_shared<MemoryBooks>(), late = std::make_shared<MemoryBooks>();
    book_library_scratch(early, cuda);
    EXPECT_EQ(early->total(), 0);
    const Tensor x = Tensor::full({8, 8}, 1, DType::f32, cuda);
    EXPECT_EQ(mm(x, x).values()[0], 8);
    const std::int64_t scratch = kernels::cuda::workspace_bytes();
    ASSERT_GT(scratch, 0);
    book_library_scratch(late, cuda);
    book_library_scratch(late, Device{});
    for (const auto& books : {early, late}) {
        EXPECT_EQ(books->bytes(MemoryUse::workspace), scratch);
        EXPECT_EQ(books->total(), scratch);
    }
    kernels::cuda::release_workspaces();
    EXPECT_EQ(early->total(), 0);
    EXPECT_EQ(late->total(), 0);
}

// The look for the places of a recurrent network's weights takes as much as they are.
TEST_F(DeviceMemory, WhatALibraryIsLentForAPlanLeavesTheBooksAndTheCacheAgain) {
    const auto books = std::make_shared<MemoryBooks>();
    book_library_scratch(books, cuda);
    const auto spaces =
        kernels::cuda::recurrent_spaces({.steps = 2, .batch = 2, .input = 3, .hidden = 160});
    ASSERT_TRUE(spaces);
    EXPECT_GE(books->peak(), static_cast<std::int64_t>(spaces->weights));
    EXPECT_EQ(books->total(), 0);
    EXPECT_EQ(memory_in_use(cuda), 0u);
    EXPECT_GE(release_cached_memory(), spaces->weights);
}

TEST_F(DeviceMemory, CachedBlocksGoBackWhereAPlanFindsNoMemory) {
    { const Tensor freed = Tensor::full({3 * mib}, 1, DType::u8, cuda); }
    kernels::simt::configure(kernels::simt::LibrarySettings{});
    kernels::simt::fail_plans("cudnn_status: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
                              1);
    const Tensor x = Tensor::full({1, 1, 4, 4}, 1, DType::f32, cuda);
    const Tensor w = Tensor::full({1, 1, 1, 1}, 2, DType::f32, cuda);
    EXPECT_EQ(conv2d(x, w).values()[5], 2);
    EXPECT_LT(release_cached_memory(), static_cast<std::size_t>(mib));
}

// At each of its allocations in turn.
TEST_F(DeviceMemory, ARecordingWithoutMemoryGoesBackToEagerStepsWithTheirNumbers) {
    for (const auto& [model, precision] :
         {std::pair{"mlp", "amp-fp16"}, std::pair{"lenet", "amp-bf16"}}) {
        SCOPED_TRACE(std::string(model) + " " + precision);
        const RunConfig config = small_run(model, precision);
        BookedRun eager(config);
        eager.trainer.set_recording(false);
        std::vector<float> losses;
        for (int i = 0; i < 6; ++i) losses.push_back(eager.step(i).loss);
        const auto expected = eager.weights();
        const int step = std::string(model) == "mlp" ? 1 : 7;  // not at all of LeNet's
        int refused = 0;
        for (bool recorded = false; !recorded; ++refused) {
            ASSERT_LT(refused, 500);
            BookedRun run(config);
            for (int i = 0; i < 6; ++i) {
                // Once more after the old gradients, which the recording sets free, went back.
                if (i == 3)
                    kernels::simt::refuse_memory(refused * step, refused * step < 2 ? 1 : 2);
                ASSERT_EQ(run.step(i).loss, losses[static_cast<std::size_t>(i)])
                    << "step " << i << ", allocation " << refused * step;
            }
            kernels::simt::refuse_memory(0, 0);
            EXPECT_EQ(run.weights(), expected) << "allocation " << refused * step;
            recorded = run.trainer.replayed_steps() > 0;
            std::vector<std::string> words;
            for (const Message& message : run.trainer.take_warnings())
                words.push_back(message.str());
            if (recorded)
                EXPECT_THAT(words, IsEmpty());
            else
                EXPECT_THAT(words, ElementsAre(HasSubstr("too little memory to record the step")));
            EXPECT_EQ(run.trainer.replayed_steps(), recorded ? 3 : 0);
        }
        EXPECT_GT(refused, 4);
    }
}

TEST_F(DeviceMemory, WhereEagerStepsJustFitNothingIsRecorded) {
    const RunConfig config = small_run("lenet", "fp32");
    BookedRun eager(config), run(config);
    eager.trainer.set_recording(false);
    for (int i = 0; i < 3; ++i) {
        (void)eager.step(i);
        (void)run.step(i);
    }
    release_cached_memory();
    const std::int64_t others = kernels::simt::device_bytes() - run.trainer.books()->total();
    const std::size_t before = set_memory_limit(
        static_cast<std::size_t>(others + run.trainer.books()->peak() + 64 * 1024), cuda);
    for (int i = 3; i < 6; ++i) EXPECT_EQ(run.step(i).step, i + 1);
    set_memory_limit(before, cuda);
    EXPECT_EQ(run.trainer.replayed_steps(), 0);
    EXPECT_EQ(run.trainer.take_warnings().size(), 1u);
    for (int i = 3; i < 6; ++i) (void)eager.step(i);
    EXPECT_EQ(run.weights(), eager.weights());
}

}  // namespace
}  // namespace engine
