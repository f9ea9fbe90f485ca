#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda/early_launch.cuh"
#include "kernels/cuda_device.h"
#include "kernels/fake_cuda_runtime.h"

// How kernels are launched.
namespace kernels::test {
namespace {

using testing::ElementsAre;

void some_kernel(int) {}  // never run

class CudaLaunches : public testing::Test {
protected:
    CudaLaunches() {
        ::unsetenv("HALFTONE_PDL");
        start();  // makes the stream, which is no part of what is looked at
        fake_cuda().calls.clear();
    }
    ~CudaLaunches() override { ::unsetenv("HALFTONE_PDL"); }

    /// Without the calls that select the device.
    std::vector<std::string> calls_of(const auto& launch) {
        launch();
        std::vector<std::string> calls = std::move(fake_cuda().calls);
        std::erase(calls, "cudaSetDevice");
        return calls;
    }
    static void start() { cuda::launch("some", some_kernel, {2, 32}, {}, 1); }
    static void start_early() { cuda::launch_early("some", some_kernel, {2, 32}, {}, 1); }
    const FreshFakeCuda fresh_;
};

TEST_F(CudaLaunches, AreAllInTurnUnlessTheSwitchIsOn) {
    EXPECT_THAT(calls_of(start), ElementsAre("cudaLaunchKernel"));
    EXPECT_THAT(calls_of(start_early), ElementsAre("cudaLaunchKernel"));
    for (const char* off : {"", "0", "yes"}) {
        ::setenv("HALFTONE_PDL", off, 1);
        EXPECT_THAT(calls_of(start_early), ElementsAre("cudaLaunchKernel")) << off;
    }
}

TEST_F(CudaLaunches, MayBeginBeforeTheOnesAheadWithTheSwitchOnIfTheyWaitThemselves) {
    ::setenv("HALFTONE_PDL", "1", 1);
    const std::int64_t before = cuda::call_counts().launches;
    EXPECT_THAT(calls_of(start_early), ElementsAre("cudaLaunchKernelExC"));
    ASSERT_EQ(fake_cuda().attributes.size(), 1U);
    const cudaLaunchAttribute& attribute = fake_cuda().attributes.front();
    EXPECT_EQ(attribute.id, cudaLaunchAttributeProgrammaticStreamSerialization);
    EXPECT_EQ(attribute.val.programmaticStreamSerializationAllowed, 1);
    EXPECT_THAT(calls_of(start), ElementsAre("cudaLaunchKernel")) << "it does not wait itself";
    EXPECT_EQ(cuda::call_counts().launches, before + 2);
}

TEST_F(CudaLaunches, AreInTurnOnCardsThatCannotDoOtherwise) {
    ::setenv("HALFTONE_PDL", "1", 1);
    fake_cuda().major = 8;
    EXPECT_THAT(calls_of(start_early), ElementsAre("cudaLaunchKernel"));
}

TEST_F(CudaLaunches, RefuseAGridThatCudaDoesNotTake) {
    ::setenv("HALFTONE_PDL", "1", 1);
    EXPECT_THROW(cuda::launch_early("some", some_kernel, {2, 32, 65536}, {}, 1), DeviceError);
    EXPECT_THROW(cuda::launch("some", some_kernel, {2, 32, 65536}, {}, 1), DeviceError);
}

}  // namespace
}  // namespace kernels::test
