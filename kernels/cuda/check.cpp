#include "cuda/check.h"

#include <atomic>
#include <mutex>
#include <string_view>

namespace kernels::cuda {
namespace {

std::atomic<bool> device_lost{false};

/// Text of the sticky error that lost the device.
struct StickyError {
    std::mutex mutex;
    std::string text;
};
StickyError& sticky_error() {
    static auto* only = new StickyError;  // memory is released until the very end of the program
    return *only;
}

/// Errors by number, since they are newer than the oldest run time that this is built with.
constexpr int error_contained = 226, tensor_memory_leak = 721;
#if CUDART_VERSION >= 13000
static_assert(error_contained == cudaErrorContained);
static_assert(tensor_memory_leak == cudaErrorTensorMemoryLeak);
#endif

/// After these every call of the process fails, and only a new process can use the device.
bool fatal(cudaError_t status) {
    const int number = status;
    if (number == error_contained || number == tensor_memory_leak) return true;
    switch (status) {
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorContextIsDestroyed:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorMpsClientTerminated:
        case cudaErrorExternalDevice:
        case cudaErrorUnknown:
            return true;
        default:
            return false;
    }
}

void remember(cudaError_t status, const std::string& text) {
    // CUDA keeps the error for the next who asks for the last one; a new launch must not find it.
    static_cast<void>(cudaGetLastError());
    if (!fatal(status) || device_lost.exchange(true)) return;
    StickyError& words = sticky_error();
    const std::lock_guard lock(words.mutex);
    words.text = text;
}

std::string_view file_of(const std::source_location& place) {
    const std::string_view path = place.file_name();
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

void check(cudaError_t status, const char* call, std::source_location place) {
    if (status == cudaSuccess) return;
    std::string text = std::string(call) + " (" + std::string(file_of(place)) + ":" +
                       std::to_string(place.line()) + "): " + cudaGetErrorString(status);
    remember(status, text);
    throw DeviceError(text);
}

void check_memory(cudaError_t status, const char* call, std::size_t bytes,
                  std::source_location place) {
    if (status != cudaErrorMemoryAllocation) return check(status, call, place);
    static_cast<void>(cudaGetLastError());
    throw OutOfMemory(bytes);
}

void note(cudaError_t status) noexcept {
    if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
    try {
        remember(status, cudaGetErrorString(status));
    } catch (...) {  // no memory for the text: the mark is set, and that is what counts
        device_lost = true;
    }
}

std::string lost_to() {
    StickyError& words = sticky_error();
    const std::lock_guard lock(words.mutex);
    return lost() && words.text.empty() ? "an error without words" : words.text;
}

bool lost() noexcept { return device_lost; }

}  // namespace kernels::cuda
