#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_memory_support.h"
#include "engine/base/error.h"
#include "kernels/cuda_libraries.h"
#include "kernels/recurrent_network.h"
#include "ops/conv/convolution.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "simt/device.h"
#include "simt/libraries.h"
#include "tensor/memory/memory.h"
#include "tensor/memory/workspace_allocator.h"

// Accounting and memory of a device whose allocations can be counted and limited.
namespace engine {
namespace {

using test::AccountedRun;
using test::cuda;
using test::DeviceMemory;
using test::small_run;
using testing::HasSubstr;

constexpr std::int64_t mib = std::int64_t{1} << 20;

TEST_F(DeviceMemory, TheAccountsAddUpToWhatIsTakenFromTheDevice) {
    for (const auto& [model, precision] :
         {std::pair{"mlp", "fp32"}, std::pair{"lenet", "amp-fp16"}, std::pair{"mlp", "o2-fp16"}}) {
        SCOPED_TRACE(std::string(model) + " " + precision);
        AccountedRun run(small_run(model, precision));
        const MemoryAccounting& accounting = *run.trainer.accounting();
        std::int64_t eager_workspace = 0;
        for (int i = 0; i < 6; ++i) {  // the fourth step is captured; the last has another size
            const StepRecord row = run.step(i, i == 5 ? 9 : 16);
            EXPECT_EQ(row.memory_bytes, accounting.total());
            release_cached_memory();
            EXPECT_EQ(accounting.total(), kernels::simt::device_bytes()) << "step " << i;
            EXPECT_EQ(accounting.total(), static_cast<std::int64_t>(memory_in_use(cuda)));
            if (i == 2) eager_workspace = accounting.bytes(MemoryUse::workspace);
        }
        EXPECT_EQ(run.trainer.replayed_steps(), 2);
        EXPECT_GE(eager_workspace, kernels::cuda::workspace_bytes()) << "the libraries' scratch";
        EXPECT_GT(accounting.bytes(MemoryUse::workspace), eager_workspace) << "the graph's memory";
        EXPECT_GE(accounting.peak(), accounting.total());
    }
}

TEST_F(DeviceMemory, TheSplitOfAFullDeviceAddsUp) {
    const RunConfig config = small_run("lenet", "fp32");
    AccountedRun other(config), run(config);
    for (int i = 0; i < 5; ++i) (void)other.step(i);
    for (int i = 0; i < 2; ++i) (void)run.step(i);
    const Tensor neighbour = Tensor::zeros({3 * mib}, DType::u8, cuda);
    release_cached_memory();
    const MemoryAccounting& accounting = *run.trainer.accounting();
    const std::int64_t others = kernels::simt::device_bytes() - accounting.total();
    ASSERT_GE(others, 3 * mib);
    const std::string words = split(accounting, cuda);
    EXPECT_THAT(words, HasSubstr("workspace " +
                                 std::to_string(accounting.bytes(MemoryUse::workspace) / mib)));
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
    // Without its bias epilogue the library keeps sums in scratch: 1 MiB in f32.
    kernels::simt::configure({.bias_epilogue = false});
    const Tensor y = linear(x, w, bias);
    EXPECT_GE(kernels::cuda::workspace_bytes(), mib);
    EXPECT_EQ(release_cached_memory(), 0u) << "they have gone back";
    EXPECT_EQ(y.values()[12345], 9);
}

TEST_F(DeviceMemory, TheLibrariesScratchIsAccountedForEveryRunOfTheDevice) {
    const auto early = std::make_shared<MemoryAccounting>(),
               late = std::make_shared<MemoryAccounting>();
    const WorkspaceShare of_early(early, cuda);
    EXPECT_EQ(early->total(), 0);
    const Tensor x = Tensor::full({8, 8}, 1, DType::f32, cuda);
    EXPECT_EQ(mm(x, x).values()[0], 8);
    const std::int64_t scratch = kernels::cuda::workspace_bytes();
    ASSERT_GT(scratch, 0);
    const WorkspaceShare of_late(late, cuda), on_the_host(late, Device{});
    for (const auto& accounting : {early, late}) {
        EXPECT_EQ(accounting->bytes(MemoryUse::workspace), scratch);
        EXPECT_EQ(accounting->total(), scratch);
    }
    kernels::cuda::release_workspaces();
    EXPECT_EQ(early->total(), 0);
    EXPECT_EQ(late->total(), 0);
}

// The graph of a captured step holds the scratch that it uses. The scratch of the streams is freed
// with the last run.
TEST_F(DeviceMemory, TheLibrariesScratchGoesBackWithTheLastRunOfTheDevice) {
    auto first = std::make_unique<AccountedRun>(small_run("lenet", "amp-fp16"));
    auto last = std::make_unique<AccountedRun>(small_run("mlp", "fp32"));
    for (int i = 0; i < 5; ++i) {
        (void)first->step(i);
        (void)last->step(i);
    }
    EXPECT_GT(first->trainer.replayed_steps(), 0);
    const std::int64_t scratch = kernels::cuda::workspace_bytes();
    ASSERT_GT(scratch, 0);
    first.reset();
    EXPECT_EQ(kernels::cuda::workspace_bytes(), scratch) << "the other run needs it";
    EXPECT_EQ(last->step(5).step, 6);
    last.reset();
    EXPECT_EQ(kernels::cuda::workspace_bytes(), 0);
    EXPECT_EQ(kernels::simt::device_bytes(), 0) << "nor is anything kept for reuse";
}

// Finding the places of a recurrent network's weights allocates as much memory as the weights.
TEST_F(DeviceMemory, WhatALibraryReservesForAPlanLeavesTheAccountingAndTheCacheAgain) {
    const auto accounting = std::make_shared<MemoryAccounting>();
    const WorkspaceShare use(accounting, cuda);
    const auto spaces =
        kernels::cuda::recurrent_spaces({.steps = 2, .batch = 2, .input = 3, .hidden = 160});
    ASSERT_TRUE(spaces);
    EXPECT_GE(accounting->peak(), static_cast<std::int64_t>(spaces->weights));
    EXPECT_EQ(accounting->total(), 0);
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

}  // namespace
}  // namespace engine
