#include "cuda/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"
#include "kernels/fake_cuda_runtime.h"

// The scratch that a stream holds, and when it is freed.
namespace kernels::test {
namespace {

constexpr std::size_t least = cuda::min_workspace;

/// The allocator of the scratch; it tracks its blocks.
struct Source {
    std::multiset<std::size_t> blocks;
    std::size_t room = std::size_t{1} << 40;
};
Source& source() {
    static Source only;
    return only;
}
void* take(std::size_t bytes, int) {
    std::size_t held = 0;
    for (const std::size_t each : source().blocks) held += each;
    if (held + bytes > source().room) throw OutOfMemory(bytes);
    source().blocks.insert(bytes);
    return new char;
}
void give(void* data, std::size_t bytes, int) {
    source().blocks.erase(source().blocks.find(bytes));
    delete static_cast<char*>(data);
}
void* allocate_default(std::size_t bytes, int) { return cuda::allocate(bytes); }
void free_default(void* data, std::size_t, int) { cuda::release(data); }

class CudaWorkspace : public testing::Test {
protected:
    CudaWorkspace() {
        source() = {};
        cuda::set_workspace_allocator({take, give});
    }
    ~CudaWorkspace() override {
        cuda::release_workspaces();
        EXPECT_THAT(source().blocks, testing::IsEmpty());
        EXPECT_EQ(cuda::workspace_bytes(), 0);
        cuda::set_workspace_allocator({allocate_default, free_default});
        cuda::set_device(cuda::no_device);
    }
    void expect_held(const std::multiset<std::size_t>& blocks) {
        EXPECT_EQ(source().blocks, blocks);
        std::int64_t bytes = 0;
        for (const std::size_t each : blocks) bytes += static_cast<std::int64_t>(each);
        EXPECT_EQ(cuda::workspace_bytes(), bytes);
    }
    const FreshFakeCuda fresh_;
};

TEST_F(CudaWorkspace, IsTheSameAsLongAsItIsLargeEnough) {
    void* first = cuda::workspace(100, {});
    EXPECT_EQ(cuda::workspace(least, {}), first);
    expect_held({least});
}

TEST_F(CudaWorkspace, GivesBackWhatItHasOutgrownAndTakesNoMoreThanItNeeds) {
    cuda::workspace(100, {});
    cuda::workspace(least + 1, {});
    expect_held({least + 1});
    cuda::workspace(3 * least, {});
    expect_held({3 * least});
}

TEST_F(CudaWorkspace, MakesRoomForTheLargerOneFirst) {
    cuda::workspace(2 * least, {});
    source().room = 3 * least;
    cuda::workspace(3 * least, {});
    expect_held({3 * least});
}

TEST_F(CudaWorkspace, TakesLessThanUsualWhereThatIsAllThereIs) {
    source().room = 1000;
    cuda::workspace(900, {});
    expect_held({900});
    EXPECT_THROW(cuda::workspace(1001, {}), OutOfMemory);
    expect_held({});
    cuda::workspace(1000, {});
    expect_held({1000});
}

TEST_F(CudaWorkspace, OfARecordedStepGoesBackWithItsGraph) {
    cuda::workspace(100, {});
    cuda::begin_capture({});
    cuda::workspace(200, {});
    auto graph = cuda::end_capture({});
    cuda::workspace(2 * least, {});
    expect_held({least, 2 * least});
    graph->launch({});
    graph.reset();
    expect_held({2 * least});
}

// Freeing may go to the driver, which would invalidate a capture.
TEST_F(CudaWorkspace, ThatARecordingOutgrowsStaysUntilItsEnd) {
    cuda::workspace(100, {});
    cuda::begin_capture({});
    cuda::workspace(2 * least, {});
    expect_held({least, 2 * least});
    cuda::abandon_capture({});
    expect_held({2 * least});
}

TEST_F(CudaWorkspace, GoesBackByDevice) {
    cuda::set_device(0);
    cuda::workspace(least, {});
    cuda::set_device(1);
    cuda::workspace(2 * least, {});
    cuda::release_workspaces_of(0);
    expect_held({2 * least});
    cuda::release_workspaces_of(1);
    expect_held({});
}

TEST_F(CudaWorkspace, OfAGraphIsNotReleasedBeforeIt) {
    cuda::begin_capture({});
    cuda::workspace(100, {});
    const auto graph = cuda::end_capture({});
    cuda::release_workspaces();
    expect_held({least});
}

}  // namespace
}  // namespace kernels::test
