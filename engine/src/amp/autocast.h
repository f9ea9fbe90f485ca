#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "tensor/op.h"
#include "tensor/tape.h"

namespace engine {

// Autocast (autocast.md). State is one per thread; the weight cache is one per
// process.

class ForceRules;
class QuantizedLayers;

/// State of a thread (autocast.md#region-state, 1.1).
struct AutocastState {
    struct PerDevice {
        bool enabled = false;
        DType low;
    };
    PerDevice cpu{false, DType::bf16};
    PerDevice cuda{false, DType::f16};
    bool cache_enabled = true;
    int depth = 0;
    int inside = 0;                     ///< listed ops that this thread is in (NoAutocast)
    const ForceRules* force = nullptr;  ///< forced types (amp/dispatch.h); a copy does not own them
    QuantizedLayers* quantized = nullptr;  ///< those of a recipe (amp/recipe.h); not owned either

    PerDevice& of(Device::Kind kind) { return kind == Device::Kind::cpu ? cpu : cuda; }
    const PerDevice& of(Device::Kind kind) const { return kind == Device::Kind::cpu ? cpu : cuda; }
};

namespace detail {
inline constinit thread_local AutocastState thread_autocast;
}
inline const AutocastState& autocast_state() noexcept { return detail::thread_autocast; }
inline bool autocast_enabled(Device::Kind kind) noexcept {
    return autocast_state().of(kind).enabled;
}
inline DType autocast_low(Device::Kind kind) noexcept { return autocast_state().of(kind).low; }

/// While it lives, this thread has another state. Scopes nest.
class [[nodiscard]] AutocastScope {
public:
    explicit AutocastScope(const AutocastState& state) noexcept
        : before_(std::exchange(detail::thread_autocast, state)) {}
    ~AutocastScope() { detail::thread_autocast = before_; }
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    AutocastState before_;
};

/// Empties the weight cache of the process.
void clear_autocast_cache();
/// Entries in it; for tests.
std::size_t autocast_cache_size();

/// The settings of a region. A type or cache flag that is not given is taken from the thread's
/// state when the region is made.
class AutocastRegion {
public:
    explicit AutocastRegion(Device::Kind kind, bool enabled = true, std::optional<DType> low = {},
                            std::optional<bool> cache_enabled = {});
    /// Takes the device by name: "cpu" or "cuda". Throws Error(value) for another name, or for a
    /// name with an index.
    AutocastRegion(const std::string& device_type, bool enabled, std::optional<DType> low = {},
                   std::optional<bool> cache_enabled = {});

    bool enabled() const { return enabled_; }
    DType low() const { return low_; }
    /// Why a region asked for is off (autocast.md#checks, 1.2); empty if it is as asked for.
    const std::string& warning() const { return warning_; }

    /// One entry into the region. One region may be entered many times, also nested.
    class [[nodiscard]] Entry : AutocastScope {
    public:
        explicit Entry(const AutocastRegion& region);
        ~Entry();
    };
    Entry enter() const { return Entry(*this); }
    /// Returns `f` with the region around each of its calls, like a decorator in Python. The result
    /// keeps a copy of the region, with the type and the cache flag that were current when the
    /// region was made.
    template <typename F>
    auto around(F f) const {
        return [region = *this, f = std::move(f)](auto&&... args) -> decltype(auto) {
            const Entry entered(region);
            return f(std::forward<decltype(args)>(args)...);
        };
    }

private:
    void check();

    Device::Kind kind_;
    bool enabled_;
    DType low_;
    bool cache_enabled_;
    std::string warning_;
};

/// While it lives, autocast is off on one device kind, no type is forced and no product quantised.
/// Does not count as a region. For the inside of a listed op (autocast.md#policies, 1.4).
class NoAutocast : AutocastScope {
public:
    explicit NoAutocast(Device::Kind kind) noexcept;
};

/// While it lives, this thread has the flags, types, cache flag and forced types that `state`
/// recorded elsewhere: for recomputation, backward of custom ops, worker threads
/// (autocast.md#interplay, 1.7). Leaves the depth unchanged. The forced types of `state` must
/// outlive it.
class AutocastSnapshot : AutocastScope {
public:
    explicit AutocastSnapshot(const AutocastState& state) noexcept;
};

/// autocast.md#what-is-eligible (1.3): present, on the device, floating, not f64.
bool eligible(const Tensor& tensor, Device::Kind kind) noexcept;
/// tensor in `to` if it is eligible and not yet so, by the weight cache where
/// autocast.md#weight-cache (1.5) allows.
Tensor autocast_to(const Tensor& tensor, DType to);
/// tensor in the 16-bit type of a region on its device, as autocast_to(); unchanged without one.
Tensor autocast_to_low(const Tensor& tensor);

namespace detail {
/// Whether the policy casts the arguments of a call, in a region.
constexpr bool casts_arguments(CastPolicy policy) noexcept {
    return policy == CastPolicy::low || policy == CastPolicy::f32 ||
           policy == CastPolicy::promote || policy == CastPolicy::banned;
}
/// Whether autocast is on for any device kind.
bool is_autocast_on() noexcept;
/// The type that the op's policy casts to on `kind`. Nothing: leave the arguments as they are.
/// Throws for a banned op.
std::optional<DType> cast_target(const Op& info, Device::Kind kind, const Tensor* const* args,
                                 int count);
/// Device kind for which autocast is on and on which an argument lives.
std::optional<Device::Kind> active_kind(const Tensor* const* args, int count) noexcept;
}  // namespace detail

/// The arguments of a call, cast by the op's policy (low, f32, promote, banned). Undefined
/// arguments stay undefined.
template <typename... T>
std::array<Tensor, sizeof...(T)> autocast(const Op& info, const T&... tensors) {
    const Tensor* args[] = {&tensors...};
    const auto kind = detail::active_kind(args, sizeof...(T));
    if (!kind) return {tensors...};
    const auto target = detail::cast_target(info, *kind, args, sizeof...(T));
    if (!target) return {tensors...};
    return {(eligible(tensors, *kind) ? autocast_to(tensors, *target) : tensors)...};
}

/// The type of the result under the policy f32_dtype. `x` itself is not cast: the op reads the low
/// type and computes in f32.
DType autocast_result(const Op& info, const Tensor& x, std::optional<DType> asked);

}  // namespace engine
