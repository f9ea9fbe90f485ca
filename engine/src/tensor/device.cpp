#include "tensor/device.h"

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device.h"

namespace engine {

std::string to_string(const Device& device) {
    return device.kind == Device::Kind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

DeviceScope::DeviceScope(const Device& device) {
    if (device.kind == Device::Kind::cpu) return;
    if (kernels::cuda::current_device() == device.index) return;
    const int chosen = kernels::cuda::chosen_device();
    kernels::cuda::set_device(device.index);
    before_ = chosen;
}

DeviceScope::~DeviceScope() {
    if (!before_) return;
    try {
        kernels::cuda::set_device(*before_);
    } catch (...) {  // a failed device throws again at its next use
    }
}

namespace {

/// N of "cuda:N", 0 of "cuda".
std::optional<int> index_of(const std::string& setting) {
    if (setting == "cuda") return 0;
    if (!setting.starts_with("cuda:")) return std::nullopt;
    const auto index = to_number<int>(std::string_view(setting).substr(5));
    return index.value_or(-1) < 0 ? std::nullopt : index;
}

/// A library that the GPU needs and the program has not found: "cuDNN (why)"; empty if nothing.
std::string missing_library() {
    for (const auto& library : kernels::cuda::libraries()) {
        if (!library.found) return library.name + " (" + library.problem + ")";
    }
    return {};
}

}  // namespace

Device resolve_device(const std::string& setting) {
    if (setting == "cpu") return {};  // without waking a driver
    const int devices = kernels::cuda::device_count();
    if (setting == "auto") {
        const bool usable = devices > 0 && missing_library().empty();
        return {usable ? Device::Kind::cuda : Device::Kind::cpu, 0};
    }
    const Message hint = msg("Set device to cpu or auto.");
    const std::optional<int> index = index_of(setting);
    if (!index)
        throw Error(ErrorCode::device,
                    msg("There is no device called {}; there are cpu, cuda and cuda:N.", setting),
                    hint);
    if (devices == 0)
        throw Error(ErrorCode::device,
                    msg("The device {} cannot be used: {}.", setting, kernels::cuda::why_absent()),
                    hint);
    if (*index >= devices)
        throw Error(ErrorCode::device,
                    msg("The device {} cannot be used: this machine has {} CUDA devices, the "
                        "first of them cuda:0.",
                        setting, devices),
                    hint);
    if (const std::string missing = missing_library(); !missing.empty())
        throw Error(ErrorCode::device,
                    msg("The device {} cannot be used: there is no {}.", setting, missing), hint);
    return {Device::Kind::cuda, *index};
}

}  // namespace engine
