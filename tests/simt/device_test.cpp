#include "simt/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "needs_cuda.h"
#include "simt/language.h"
#include "simt/queue.h"
#include "simt/work_counts.h"

namespace kernels::simt {
namespace {

using testing::HasSubstr;

std::vector<float> read(const float* device, std::size_t count) {
    std::vector<float> out(count);
    cuda::copy_to_host(out.data(), device, count * sizeof(float), {});
    return out;
}

TEST(SimulatedDevice, RunsBarriersAndWarpOperations) {
    auto* out = static_cast<float*>(cuda::allocate(96 * sizeof(float)));
    for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::backward}) {
        configure({.order = order});
        enqueue_kernel("reverse", {1, 1, 96}, {}, [out] {
            static float shared[96];
            const unsigned i = threadIdx.x;
            shared[i] = static_cast<float>(i);
            __syncthreads();
            float sum = shared[95 - i];
            for (int bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, bits);
            out[i] = sum;
        });
        const auto values = read(out, 96);
        EXPECT_EQ(values[0], (64 + 95) * 16.0f);
        EXPECT_EQ(values[95], (0 + 31) * 16.0f);
    }
    configure({});
    cuda::release(out);
}

TEST(SimulatedDevice, FindsABarrierThatSomeThreadsNeverReach) {
    enqueue_kernel("divergent", {1, 1, 64}, {}, [] {
        if (threadIdx.x < 40) __syncthreads();
    });
    EXPECT_THROW(cuda::synchronize({}), std::logic_error);
}

TEST(SimulatedDevice, FindsAWarpOperationThatItsLanesDoNotShare) {
    const auto refused = [](int threads, unsigned (*mask)(unsigned lane)) {
        enqueue_kernel("divergent", {1, 1, threads}, {}, [mask] {
            __shfl_sync(mask(threadIdx.x), 1, static_cast<int>(threadIdx.x));
        });
        EXPECT_THROW(cuda::synchronize({}), std::logic_error);
        repair();
    };
    refused(32, [](unsigned lane) { return lane == 0 ? 0xffffffffu : 0xfffffffeu; });
    refused(32, [](unsigned) { return 0u; });
    refused(20, [](unsigned) { return 0xfff00000u; });
}

TEST(SimulatedDevice, RunsNothingBeforeSomebodyWaits) {
    auto* host = static_cast<float*>(cuda::allocate_pinned(sizeof(float)));
    auto* device = static_cast<float*>(cuda::allocate(sizeof(float)));
    *host = 1;
    cuda::copy_to_device(device, host, sizeof(float), {});
    *host = 2;  // too early: the copy has not run
    EXPECT_EQ(read(device, 1)[0], 2);
    cuda::release(device);
    cuda::release_pinned(host);
}

TEST(SimulatedDevice, HoldsAStreamUntilAnotherHasPassed) {
    const Stream copies = cuda::make_stream();
    auto* device = static_cast<float*>(cuda::allocate(sizeof(float)));
    cuda::Event copied;
    const float one = 1;
    cuda::copy_to_device(device, &one, sizeof(float), copies);
    copied.record(copies);
    EXPECT_FALSE(copied.passed());  // time passes with each query
    EXPECT_TRUE(copied.passed());
    const float three = 3;
    cuda::copy_to_device(device, &three, sizeof(float), copies);
    copied.record(copies);
    copied.hold({});
    enqueue("double", {}, [device] { *device *= 2; });
    EXPECT_EQ(read(device, 1)[0], 6);
    cuda::release(device);
    cuda::release(copies);
}

TEST(SimulatedDevice, CountsCopiesFillsAndLibraryCallsWhereTheyRunInAGraphToo) {
    auto* from = static_cast<float*>(cuda::allocate(64));
    auto* to = static_cast<float*>(cuda::allocate(64));
    cuda::begin_capture({});
    cuda::set_zero(from, 64, {});
    cuda::copy_on_device(to, from, 32, {});
    enqueue("library", {}, [] { count_bytes("library", 3, 4); });
    const std::unique_ptr<cuda::Graph> graph = cuda::end_capture({});
    start_counting();
    for (int launch = 0; launch < 2; ++launch) graph->launch({});
    cuda::synchronize({});
    const WorkCounts counts = stop_counting();
    ASSERT_EQ(counts.size(), 3u);
    const auto is = [&counts](const char* name, std::int64_t read, std::int64_t written) {
        const WorkCount& count = counts.at(name);
        return count.runs == 2 && count.bytes_read == read && count.bytes_written == written;
    };
    EXPECT_TRUE(is("fill", 0, 128));
    EXPECT_TRUE(is("copy", 64, 64));
    EXPECT_TRUE(is("library", 6, 8));
    cuda::release(from);
    cuda::release(to);
}

TEST(SimulatedDevice, GivesFreshMemoryWithoutZeros) {
    auto* device = static_cast<float*>(cuda::allocate(64));
    EXPECT_TRUE(std::isnan(read(device, 1)[0]));
    cuda::release(device);
}

TEST(SimulatedDeviceDeathTest, KeepsTheHostOut) {
    auto* device = static_cast<volatile float*>(cuda::allocate(64));
    EXPECT_DEATH(
        {
            const float value = *device;
            (void)value;
        },
        "");
    cuda::release(const_cast<float*>(device));
}

TEST(SimulatedDeviceDeathTest, KeepsOneDeviceOutOfTheOthersMemory) {
    cuda::set_device(1);
    auto* far = static_cast<float*>(cuda::allocate(64));
    cuda::set_device(0);
    auto* near = static_cast<float*>(cuda::allocate(64));
    const auto add_one_to = [](float* at) {
        enqueue("add_one", {}, [at] { *at += 1; });
        cuda::synchronize({});
    };
    EXPECT_DEATH(add_one_to(far), "");
    const float one = 1;
    cuda::copy_to_device(near, &one, sizeof(float), {});
    cuda::copy_between_devices(far, 1, near, 0, sizeof(float), {});
    EXPECT_THROW(cuda::copy_between_devices(near, 1, far, 0, sizeof(float), {}), DeviceError);
    cuda::synchronize({});
    cuda::set_device(1);
    add_one_to(far);
    EXPECT_EQ(read(far, 1)[0], 2);
    cuda::set_device(0);
    cuda::release(far);
    cuda::release(near);
}

TEST(SimulatedDevice, FailsAsADeviceFaultDoes) {
    fail_call("cudaMemcpyAsync", 1);
    auto* device = static_cast<float*>(cuda::allocate(64));
    const float one = 1;
    cuda::copy_to_device(device, &one, sizeof(float), {});
    EXPECT_THROW(cuda::copy_to_device(device, &one, sizeof(float), {}), DeviceError);
    EXPECT_THROW(cuda::synchronize({}), DeviceError);
    cuda::release(device);
    repair();
    EXPECT_NO_THROW(cuda::synchronize({}));
}

TEST(SimulatedDevice, ForgetsTheWorkOfEveryStreamWhenItIsRepaired) {
    const Stream copies = cuda::make_stream();
    auto* device = static_cast<float*>(cuda::allocate(sizeof(float)));
    auto* host = static_cast<float*>(cuda::allocate_pinned(sizeof(float)));
    *host = 1;
    cuda::copy_to_device(device, host, sizeof(float), copies);
    cuda::Event copied;
    copied.record(copies);
    copied.hold({});
    fail_call("cudaMemsetAsync");
    EXPECT_THROW(cuda::set_zero(device, sizeof(float), copies), DeviceError);
    cuda::release_pinned(host);  // the copy must no longer read it
    repair();
    cuda::synchronize(copies);
    EXPECT_TRUE(copied.passed());
    EXPECT_TRUE(std::isnan(read(device, 1)[0])) << "nothing was copied";
    cuda::release(device);
    cuda::release(copies);
}

void enqueue_divergent() {
    enqueue_kernel("divergent", {1, 1, 64}, {}, [] {
        if (threadIdx.x < 40) __syncthreads();
    });
}

TEST(SimulatedDevice, TellsTheNextCallWhatWasFoundWhileMemoryWasGivenBack) {
    void* device = cuda::allocate(64);
    enqueue_divergent();
    testing::internal::CaptureStderr();
    cuda::release(device);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("divergent: 40 of 64 threads"));
    try {
        cuda::synchronize({});
        ADD_FAILURE() << "the device is lost";
    } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(), HasSubstr("divergent: 40 of 64 threads"));
    }
    repair();
}

TEST(SimulatedDeviceDeathTest, FailsTheProgramForAFindingThatNoCallWasTold) {
    const auto find = [](bool tell) {
        const Stream stream = cuda::make_stream();
        enqueue_divergent();
        cuda::release(stream);
        if (tell) {
            EXPECT_THROW(cuda::synchronize({}), DeviceError);
        }
        std::exit(0);
    };
    EXPECT_EXIT(find(false), testing::ExitedWithCode(1), "divergent: 40 of 64 threads");
    EXPECT_EXIT(find(true), testing::ExitedWithCode(0), "");
}

void need_cuda() { HALFTONE_NEEDS_CUDA(); }

// A skipped test would look as if there had been no device.
TEST(SimulatedDevice, FailsTheTestsThatComeAfterTheOneThatLostIt) {
    need_cuda();
    fail_call("cudaStreamSynchronize");
    EXPECT_THROW(cuda::synchronize({}), DeviceError);
    EXPECT_EQ(cuda::device_count(), 0);
    EXPECT_FATAL_FAILURE(need_cuda(), "an earlier test has lost the CUDA device: an illegal");
    repair();
    need_cuda();
}

TEST(SimulatedDevice, CountsTheChoicesOfADevice) {
    const std::int64_t first = device_choices(0), second = device_choices(1);
    std::thread([] {
        cuda::set_device(1);
        cuda::set_device(cuda::no_device);
        EXPECT_EQ(cuda::current_device(), 0);
        EXPECT_EQ(cuda::chosen_device(), cuda::no_device);
    }).join();
    EXPECT_EQ(device_choices(0), first);
    EXPECT_EQ(device_choices(1), second + 1);
    std::thread([] { cuda::release(cuda::allocate(64)); }).join();
    EXPECT_EQ(device_choices(0), first + 1) << "memory is taken somewhere";
}

TEST(SimulatedDevice, RefusesMemoryOfEachKindWhenATestWantsIt) {
    refuse_memory(1, 2);
    void* device = cuda::allocate(64);
    EXPECT_THROW(cuda::allocate(64), OutOfMemory);
    cuda::begin_capture({});
    EXPECT_THROW(cuda::end_capture({}), OutOfMemory);
    refuse_memory(1);
    cuda::begin_capture({});
    EXPECT_THROW(cuda::end_capture({}), OutOfMemory) << "by the upload";
    refuse_pinned_memory(0);
    EXPECT_THROW(cuda::allocate_pinned(64), OutOfMemory);
    cuda::release_pinned(cuda::allocate_pinned(64));
    cuda::release(device);
}

TEST(SimulatedDevice, RefusesMoreMemoryThanItHas) {
    configure({.memory_bytes = 1 << 20});
    void* half = cuda::allocate(1 << 19);
    EXPECT_THROW(cuda::allocate((1 << 19) + 1), OutOfMemory);
    cuda::release(half);
    configure({});
    EXPECT_EQ(device_bytes(), 0);
}

}  // namespace
}  // namespace kernels::simt
