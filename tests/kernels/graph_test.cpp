#include "kernels/cuda_graph.h"

#include "kernels/cuda_device.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/device_error.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"

namespace kernels::test {
namespace {

/// A capture that is discarded at the end of the test, unless it was finished.
class Recording {
public:
    Recording() { cuda::begin_capture({}); }
    ~Recording() {
        if (open_) cuda::abandon_capture({});
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    std::unique_ptr<cuda::Graph> end() {
        open_ = false;
        return cuda::end_capture({});
    }

private:
    bool open_ = true;
};

TEST(CudaGraph, RunsWhatWasRecordedAtEachLaunchAndNotBefore) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer x(DType::f32, 8);
    cuda::fill(x, 1, {});
    const float half[] = {0.5f};
    const DeviceBuffer factor(DType::f32, 1);
    cuda::copy_to_device(factor.as<float>(), half, sizeof half, {});
    EXPECT_FALSE(cuda::capturing({}));
    Recording recording;
    EXPECT_TRUE(cuda::capturing({}));
    cuda::scale_by(x, x, factor.as<float>(), {});
    const auto graph = recording.end();
    EXPECT_FALSE(cuda::capturing({}));
    EXPECT_EQ(graph->nodes(), 1);
    EXPECT_EQ(x.host().get(7), 1);
    graph->launch({});
    graph->launch({});
    EXPECT_EQ(x.host().get(7), 0.25);
}

TEST(CudaGraph, RefusesToRecordACopyFromMemoryThatIsNotPinned) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer x(DType::f32, 1);
    const float value[] = {2};
    const Recording recording;
    EXPECT_THROW(cuda::copy_to_device(x.as<float>(), value, sizeof value, {}), DeviceError);
}

TEST(CudaGraph, RefusesToRecordADropoutMaskWhoseNumbersTheHostChose) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer mask(DType::boolean, 4);
    const Recording recording;
    EXPECT_THROW(cuda::dropout_mask(mask, {PhiloxStream{{1, 2}, 3, 4}}, 0.5, {}), DeviceError);
}

TEST(CudaGraph, DrawsAnotherDropoutMaskInEachReplay) {
    HALFTONE_NEEDS_CUDA();
    const PhiloxStream stream{{1, 2}, 3, 4};
    const DeviceBuffer mask(DType::boolean, 100);
    const DeviceBuffer step(DType::i64, 1);
    Recording recording;
    cuda::dropout_mask(mask, {stream, step.as<std::int64_t>()}, 0.5, {});
    const auto graph = recording.end();
    for (const std::int64_t number : {7, 8, 7}) {
        cuda::copy_to_device(step.as<std::int64_t>(), &number, sizeof number, {});
        graph->launch({});
        Buffer expected(DType::boolean, 100);
        cpu::dropout_mask(expected, {stream, &number}, 0.5, {});
        EXPECT_EQ(mask.host().bytes(), expected.bytes()) << number;
    }
}

TEST(CudaGraph, IsForgottenWhenARecordingIsGivenUp) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer x(DType::f32, 4);
    cuda::fill(x, 3, {});
    {
        const Recording recording;
        cuda::fill(x, 5, {});
    }
    EXPECT_FALSE(cuda::capturing({}));
    EXPECT_EQ(x.host().get(0), 3);
}

}  // namespace
}  // namespace kernels::test
