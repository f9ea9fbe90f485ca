#pragma once

#include <optional>
#include <string>
#include <utility>

#include "kernels/array.h"
#include "tensor/compute_context.h"

namespace engine {

struct Device {
    enum class Kind { cpu, cuda };
    Kind kind = Kind::cpu;
    int index = 0;
    bool operator==(const Device&) const = default;
};

/// "cpu", "cuda:0"
std::string to_string(const Device& device);

namespace detail {
inline Device default_device;
}  // namespace detail

/// Where tensors are made when their maker names no device: the CPU, unless set.
inline const Device& default_device() noexcept { return detail::default_device; }
/// For programs that run everything on one device, such as tests. Before other threads start.
inline void set_default_device(const Device& device) noexcept { detail::default_device = device; }

/// The calling thread computes on `device` while the object lives. Afterwards its former device is
/// selected again; if it had none, none, so that no context is created on GPU 0.
class DeviceScope {
public:
    explicit DeviceScope(const Device& device);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

private:
    std::optional<int> before_;  // to put back
};

/// f32 products of the calling thread may use TF32 (10 bits of fraction) while the object lives; a
/// device without it computes in f32. Off otherwise.
using Tf32Scope = ContextScope<&ComputeContext::tf32>;

/// A kernel that is called on its own device, whichever device the calling thread has selected.
template <typename F>
class KernelOn;
template <typename R, typename... P>
class KernelOn<R(P...)> {
public:
    KernelOn(const Device& device, R (*kernel)(P...)) : device_(device), kernel_(kernel) {}
    R operator()(P... arguments) const {
        const DeviceScope scope(device_);
        return kernel_(std::forward<P>(arguments)...);
    }

private:
    Device device_;
    R (*kernel_)(P...);
};

/// The kernel of a device: both twins share one function type.
template <typename F>
KernelOn<F> on(const Device& device, F* cpu, F* cuda) {
    return {device, device.kind == Device::Kind::cpu ? cpu : cuda};
}

/// The compute stream of the device that the kernel or the copy it is given to runs on.
inline kernels::Stream current_stream() { return {nullptr, ComputeContext::of_thread().tf32}; }

/// The device that a setting means. "auto" is the first GPU if it and its libraries can be used,
/// else the CPU; "cuda" is "cuda:0". Throws Error(device) for a missing one.
Device resolve_device(const std::string& setting);

}  // namespace engine
