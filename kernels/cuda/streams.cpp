#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "cuda/check.h"
#include "cuda/early_launch.cuh"
#include "cuda/native.h"
#include "cuda/state.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

constexpr std::size_t max_devices = 64;

cudaStream_t new_stream() {
    cudaStream_t stream = nullptr;
    // Not ordered with CUDA's default stream, which this program never uses.
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
}

}  // namespace

Counters& counters() noexcept {
    static Counters only;
    return only;
}

CallCounts call_counts() noexcept {
    return {counters().launches, counters().synchronizations, counters().allocations};
}

cudaStream_t compute_stream() {
    static std::array<std::atomic<cudaStream_t>, max_devices> streams{};
    static std::mutex making;
    const auto device = static_cast<std::size_t>(use_device());
    if (device >= max_devices) throw DeviceError("more CUDA devices than this program can number");
    if (cudaStream_t known = streams[device]) return known;
    const std::lock_guard lock(making);
    if (!streams[device]) streams[device] = new_stream();
    return streams[device];
}

void* native_stream(Stream stream) {
    if (!stream.handle) return compute_stream();
    use_device();
    return stream.handle;
}

void count_launch() noexcept { ++counters().launches; }

Stream make_stream() {
    use_device();
    return {new_stream()};
}

void release(Stream stream) noexcept {
    if (stream.handle && !lost()) note(cudaStreamDestroy(static_cast<cudaStream_t>(stream.handle)));
}

void synchronize(Stream stream) {
    ++counters().synchronizations;
    auto* native = static_cast<cudaStream_t>(native_stream(stream));
    check(cudaStreamSynchronize(native), "cudaStreamSynchronize");
}

namespace {

struct Blocks {
    dim3 grid, block;
};

/// Throws DeviceError for a grid that CUDA would not launch.
Blocks checked_blocks(const char* name, const Grid& grid) {
    constexpr std::int64_t max_blocks = 0x7fffffff, max_blocks_y = 65535;
    if (grid.blocks < 0 || grid.blocks > max_blocks || grid.blocks_y < 0 ||
        grid.blocks_y > max_blocks_y)
        throw DeviceError(std::string(name) + ": a grid of " + std::to_string(grid.blocks) + " x " +
                          std::to_string(grid.blocks_y) + " blocks is more than CUDA launches");
    return {dim3(static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.blocks_y)),
            dim3(static_cast<unsigned>(grid.threads))};
}

/// Whether kernels may be set up before those ahead of them have ended: asked for, and the calling
/// thread's device can.
bool starts_early() {
    const char* const asked = std::getenv("HALFTONE_PDL");
    if (asked == nullptr || std::string_view(asked) != "1") return false;
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, use_device()),
          "cudaDeviceGetAttribute");
    return major >= 9;
}

}  // namespace

void launch_raw(const char* name, const void* kernel, const Grid& grid, void** arguments,
                Stream stream) {
    const Blocks blocks = checked_blocks(name, grid);
    auto* native = static_cast<cudaStream_t>(native_stream(stream));
    check(cudaLaunchKernel(kernel, blocks.grid, blocks.block, arguments, 0, native), name);
    count_launch();
}

void launch_raw_early(const char* name, const void* kernel, const Grid& grid, void** arguments,
                      Stream stream) {
    if (!starts_early()) return launch_raw(name, kernel, grid, arguments, stream);
    const Blocks blocks = checked_blocks(name, grid);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks.grid;
    config.blockDim = blocks.block;
    config.stream = static_cast<cudaStream_t>(native_stream(stream));
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelExC(&config, kernel, arguments), name);
    count_launch();
}

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
