#pragma once

#include <memory>
#include <vector>

#include "engine/base/message.h"
#include "kernels/cuda_graph.h"

namespace engine {

/// Eager computations before the first capture: they make the optimizer's state, the plans of the
/// libraries and the cached blocks.
constexpr int eager_before_capture = 3;

/// Work given to the compute stream is captured instead of run while the object lives.
class CaptureScope {
public:
    CaptureScope();
    ~CaptureScope();
    CaptureScope(const CaptureScope&) = delete;
    CaptureScope& operator=(const CaptureScope&) = delete;
    /// Throws kernels::DeviceError.
    std::unique_ptr<kernels::cuda::Graph> end();

private:
    bool open_ = true;
};

/// Why a capture failed that leaves the device as it was, so that the work can be done eagerly.
struct FailedCapture {
    bool out_of_memory;
    std::string reason;
};

/// Within a handler of a capture's error: why it failed. Throws the error on if it is none of the
/// capture's, or if the device has failed for good.
FailedCapture why_capture_failed();

}  // namespace engine
