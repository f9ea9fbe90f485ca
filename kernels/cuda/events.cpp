#include "cuda/check.h"
#include "cuda/native.h"
#include "cuda/state.h"
#include "kernels/cuda_device.h"

namespace kernels::cuda {
namespace {
cudaEvent_t native(void* handle) { return static_cast<cudaEvent_t>(handle); }
}  // namespace

Event::Event() : handle_(nullptr) {
    use_device();
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "cudaEventCreate");
    handle_ = event;
}

Event::~Event() {
    if (!lost()) note(cudaEventDestroy(native(handle_)));
}

void Event::record(Stream stream) {
    auto* on = static_cast<cudaStream_t>(native_stream(stream));
    check(cudaEventRecord(native(handle_), on), "cudaEventRecord");
}

void Event::hold(Stream stream) const {
    auto* on = static_cast<cudaStream_t>(native_stream(stream));
    check(cudaStreamWaitEvent(on, native(handle_)), "cudaStreamWaitEvent");
}

bool Event::passed() const {
    const cudaError_t status = cudaEventQuery(native(handle_));
    if (status == cudaErrorNotReady) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    check(status, "cudaEventQuery");
    return true;
}

void Event::synchronize() const {
    ++counters().synchronizations;
    check(cudaEventSynchronize(native(handle_)), "cudaEventSynchronize");
}

float Event::ms_since(const Event& start) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, native(start.handle_), native(handle_)),
          "cudaEventElapsedTime");
    return ms;
}

}  // namespace kernels::cuda
