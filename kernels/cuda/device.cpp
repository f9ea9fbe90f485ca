#include "kernels/device.h"

#include <array>
#include <cstdio>

#include "cuda/absence.h"
#include "cuda/check.h"
#include "cuda/code_probe.h"
#include "cuda/launch.cuh"
#include "cuda/state.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

/// CUDA's answers if the program has neither machine code for the device nor PTX that the driver
/// compiles for it.
bool says_no_code(cudaError_t status) {
    return status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
           status == cudaErrorInvalidPtx || status == cudaErrorUnsupportedPtxVersion ||
           status == cudaErrorJitCompilerNotFound || status == cudaErrorJitCompilationDisabled;
}

/// Asks the driver, which creates a context on the device. Any other failure (a device that is busy
/// or out of memory) says nothing about code; it is reported when the device is used.
bool driver_finds_code(int ordinal) {
    if (cudaSetDevice(ordinal) != cudaSuccess) return static_cast<void>(cudaGetLastError()), true;
    cudaFuncAttributes unused{};
    const bool found = !says_no_code(cudaFuncGetAttributes(&unused, code_probe()));
    if (!found) static_cast<void>(cudaDeviceReset());  // frees the context: nothing will use it
    static_cast<void>(cudaGetLastError());
    return found;
}

Card card_of(int ordinal) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    Card card{ordinal, properties.name, properties.major, properties.minor};
    card.has_code = has_machine_code(card, compiled_architectures()) || driver_finds_code(ordinal);
    return card;
}

Survey survey_machine() {
    Survey survey;
    // Without a driver these answer 0, and the count of devices is left as it was.
    if (cudaDriverGetVersion(&survey.driver) != cudaSuccess) survey.driver = 0;
    if (cudaRuntimeGetVersion(&survey.runtime) != cudaSuccess) survey.runtime = CUDART_VERSION;
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    static_cast<void>(cudaGetLastError());
    if (status == cudaErrorNoDevice) return survey;
    if (status != cudaSuccess) {
        survey.error = cudaGetErrorString(status);
        return survey;
    }
    try {
        for (int i = 0; i < count; ++i) survey.cards.push_back(card_of(i));
    } catch (const DeviceError& error) {
        survey.error = error.what();
    }
    return survey;
}

/// Asked once, at first use: devices do not come and go while a program runs.
struct Machine {
    Survey survey = survey_machine();
    std::vector<int> ordinals = usable(survey);
};
const Machine& machine() {
    static const auto* only = new Machine;
    return *only;
}

struct ThreadDevice {
    int index = 0;
    int ordinal = -1;  // not yet told to CUDA
};
thread_local ThreadDevice thread_device;

}  // namespace

int ordinal_of(int index) {
    const std::vector<int>& ordinals = machine().ordinals;
    if (index < 0 || index >= static_cast<int>(ordinals.size())) {
        const std::string reason = ordinals.empty() ? why_absent() : "there is no such device";
        throw DeviceError("CUDA device " + std::to_string(index) + ": " + reason);
    }
    return ordinals[static_cast<std::size_t>(index)];
}

bool built() { return true; }

int device_count() noexcept {
    try {
        return lost() ? 0 : static_cast<int>(machine().ordinals.size());
    } catch (...) {
        return 0;
    }
}

std::string why_absent() {
    if (lost())
        return "the device failed (" + lost_to() +
               "); start the program anew to use it again, the CPU works on";
    return why_unusable(machine().survey);
}

DeviceInfo device_info(int index) {
    const int ordinal = ordinal_of(index);
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    DeviceInfo info;
    info.name = properties.name;
    info.major = properties.major;
    info.minor = properties.minor;
    info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    info.multiprocessors = properties.multiProcessorCount;
    info.driver = machine().survey.driver;
    info.runtime = machine().survey.runtime;
    std::array<char, 32> place{};
    std::snprintf(place.data(), place.size(), "%08x:%02x:%02x.0", properties.pciDomainID,
                  properties.pciBusID, properties.pciDeviceID);
    info.pci_bus_id = place.data();
    return info;
}

void set_device(int index) {
    // CUDA's own current device stays what it is: use_device() comes before whatever asks for it.
    if (index == no_device) return static_cast<void>(thread_device = {});
    const int ordinal = ordinal_of(index);
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    thread_device = {index, ordinal};
}

int current_device() { return thread_device.index; }
int chosen_device() { return thread_device.ordinal < 0 ? no_device : thread_device.index; }

int use_device() {
    if (thread_device.ordinal < 0) set_device(thread_device.index);
    return thread_device.ordinal;
}

int multiprocessors() {
    static std::array<std::atomic<int>, 64> known{};
    const auto ordinal = static_cast<std::size_t>(use_device());
    if (ordinal < known.size() && known[ordinal] > 0) return known[ordinal];
    int count = 0;
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, static_cast<int>(ordinal)),
          "cudaDeviceGetAttribute");
    if (ordinal < known.size()) known[ordinal] = count;
    return count;
}

}  // namespace kernels::cuda
