#include "train/step/capture_scope.h"

#include "engine/base/error.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "tensor/device.h"

namespace engine {

CaptureScope::CaptureScope() { kernels::cuda::begin_capture(current_stream()); }

CaptureScope::~CaptureScope() {
    if (open_) kernels::cuda::abandon_capture(current_stream());
}

std::unique_ptr<kernels::cuda::Graph> CaptureScope::end() {
    open_ = false;
    return kernels::cuda::end_capture(current_stream());
}

FailedCapture why_capture_failed() {
    FailedCapture out{};
    try {
        throw;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory && error.code() != ErrorCode::device) throw;
        out = {error.code() == ErrorCode::memory, error.message().str()};
    } catch (const kernels::DeviceError& error) {
        out = {dynamic_cast<const kernels::OutOfMemory*>(&error) != nullptr, error.what()};
    }
    if (kernels::cuda::device_count() == 0) throw;
    return out;
}

}  // namespace engine
