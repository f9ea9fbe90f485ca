#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/recording.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device_error.h"
#include "kernels/fake_cuda_runtime.h"

// The CUDA calls that turn a captured step into a graph.
namespace kernels::test {
namespace {

using testing::ElementsAre;

class CudaGraphCalls : public testing::Test {
protected:
    /// The graph of a finished capture.
    std::unique_ptr<cuda::Graph> ended() {
        cuda::begin_capture({});
        fake_cuda().calls.clear();
        return cuda::end_capture({});
    }
    const FreshFakeCuda fresh_;
};

TEST_F(CudaGraphCalls, PutAGraphOnTheDeviceBeforeItsFirstLaunch) {
    const auto graph = ended();
    EXPECT_EQ(graph->nodes(), 3);
    graph->launch({});
    EXPECT_THAT(fake_cuda().calls,
                ElementsAre("cudaStreamEndCapture", "cudaGraphGetNodes", "cudaGraphInstantiate",
                            "cudaGraphUpload", "cudaGraphLaunch"));
}

TEST_F(CudaGraphCalls, TellOnWhichDeviceAStepIsBeingRecorded) {
    EXPECT_FALSE(cuda::recording(0));
    cuda::begin_capture({});
    EXPECT_TRUE(cuda::recording(0));
    EXPECT_FALSE(cuda::recording(1));
    (void)cuda::end_capture({});
    EXPECT_FALSE(cuda::recording(0));
    cuda::begin_capture({});
    cuda::abandon_capture({});
    EXPECT_FALSE(cuda::recording(0));
}

TEST_F(CudaGraphCalls, DestroyWhatTheyMade) {
    {
        const auto graph = ended();
        EXPECT_EQ(fake_cuda().executables, 1);
        EXPECT_EQ(fake_cuda().graphs, 0) << "it was the recording alone";
    }
    EXPECT_EQ(fake_cuda().executables, 0);
}

// Another thread may be capturing a step on the stream, which waiting for the stream would
// invalidate.
TEST_F(CudaGraphCalls, WaitForTheLastLaunchOfAGraphThatHoldsPlansAndNotForItsStream) {
    const auto plan = std::make_shared<int>();
    cuda::begin_capture({});
    cuda::keep_if_recorded(plan, {});
    auto graph = cuda::end_capture({});
    EXPECT_EQ(plan.use_count(), 2);
    fake_cuda().calls.clear();
    graph->launch({});
    fake_cuda().answers["cudaEventQuery"] = cudaErrorNotReady;
    graph.reset();
    EXPECT_THAT(fake_cuda().calls, ElementsAre("cudaGraphLaunch", "cudaEventRecord",
                                               "cudaEventQuery", "cudaEventSynchronize"));
    EXPECT_EQ(plan.use_count(), 1);
}

TEST_F(CudaGraphCalls, RecordOneMarkBehindALaunchAndWaitForThat) {
    const auto plan = std::make_shared<int>();
    const auto mark = std::make_shared<cuda::Event>();
    cuda::begin_capture({});
    cuda::keep_if_recorded(plan, {});
    auto graph = cuda::end_capture({});
    fake_cuda().calls.clear();
    graph->launch({}, mark);
    EXPECT_EQ(mark.use_count(), 2);
    fake_cuda().answers["cudaEventQuery"] = cudaErrorNotReady;
    graph.reset();
    EXPECT_THAT(fake_cuda().calls, ElementsAre("cudaGraphLaunch", "cudaEventRecord",
                                               "cudaEventQuery", "cudaEventSynchronize"));
    EXPECT_EQ(mark.use_count(), 1);
    graph = ended();
    fake_cuda().calls.clear();
    graph->launch({}, mark);
    EXPECT_THAT(fake_cuda().calls, ElementsAre("cudaGraphLaunch", "cudaEventRecord"))
        << "also by a graph that holds no plans";
}

TEST_F(CudaGraphCalls, TellAGraphForWhichThereIsNoMemoryFromOneThatCannotBe) {
    for (const char* call : {"cudaGraphInstantiate", "cudaGraphUpload"}) {
        SCOPED_TRACE(call);
        fake_cuda().answers[call] = cudaErrorMemoryAllocation;
        EXPECT_THROW(ended(), OutOfMemory);
        fake_cuda().answers[call] = cudaErrorNotSupported;
        try {
            ended();
            ADD_FAILURE() << "it cannot be";
        } catch (const OutOfMemory&) {
            ADD_FAILURE() << "for no want of memory";
        } catch (const DeviceError& error) {
            EXPECT_THAT(error.what(), testing::StartsWith(call));
        }
        EXPECT_EQ(fake_cuda().executables, 0);
        EXPECT_EQ(fake_cuda().graphs, 0);
        EXPECT_NE(ended(), nullptr) << "and the device goes on";
    }
}

}  // namespace
}  // namespace kernels::test
