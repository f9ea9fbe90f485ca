#include "amp/autocast.h"

#include <mutex>
#include <unordered_map>

#include "amp/dispatch.h"
#include "amp/type_rules.h"
#include "engine/base/error.h"
#include "kernels/device.h"
#include "tensor/cast.h"

namespace engine {
namespace {

/// The weight cache (autocast.md#weight-cache, 1.5). Key: the source's identity and the target
/// type, so that a nested region of the other 16-bit type has an entry of its own. An entry is
/// ignored once its source was freed or written to. Thread-safe.
class CastCache {
public:
    /// The one table of the process.
    static CastCache& process();

    std::optional<Tensor> find(const Tensor& source, DType to);
    void store(const Tensor& source, DType to, const Tensor& cast);
    void clear();
    std::size_t size();

private:
    struct Key {
        const TensorImpl* source;
        DType to;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return std::hash<const void*>()(key.source) * 31 + static_cast<std::size_t>(key.to);
        }
    };
    struct Entry {
        std::weak_ptr<TensorImpl> source;
        std::uint32_t version;
        Tensor cast;
    };

    std::mutex mutex_;
    std::unordered_map<Key, Entry, Hash> entries_;
};

CastCache& CastCache::process() {
    static CastCache cache;
    return cache;
}

std::optional<Tensor> CastCache::find(const Tensor& source, DType to) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find({source.impl().get(), to});
    if (found == entries_.end()) return std::nullopt;
    const Entry& entry = found->second;
    if (entry.source.lock() != source.impl() || entry.version != source.version())
        return std::nullopt;
    return entry.cast;
}

void CastCache::store(const Tensor& source, DType to, const Tensor& cast) {
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(Key{source.impl().get(), to},
                              Entry{source.impl(), source.version(), cast});
}

void CastCache::clear() {
    std::unordered_map<Key, Entry, Hash>
        dropped;  // destroyed after the lock: a cast may own a graph
    const std::lock_guard lock(mutex_);
    dropped.swap(entries_);
}

std::size_t CastCache::size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

Device::Kind kind_from_name(const std::string& device_type) {
    if (device_type == "cpu") return Device::Kind::cpu;
    if (device_type == "cuda") return Device::Kind::cuda;
    if (device_type.find(':') != std::string::npos) {
        throw Error(ErrorCode::value,
                    "autocast: give a device type without an index, not " + device_type);
    }
    throw Error(ErrorCode::device,
                "autocast: there is no device type " + device_type + "; there are cpu and cuda");
}

}  // namespace

void clear_autocast_cache() { CastCache::process().clear(); }
std::size_t autocast_cache_size() { return CastCache::process().size(); }

AutocastRegion::AutocastRegion(Device::Kind kind, bool enabled, std::optional<DType> low,
                               std::optional<bool> cache_enabled)
    : kind_(kind),
      enabled_(enabled),
      low_(low.value_or(autocast_low(kind))),
      cache_enabled_(cache_enabled.value_or(autocast_state().cache_enabled)) {
    check();
}

AutocastRegion::AutocastRegion(const std::string& device_type, bool enabled,
                               std::optional<DType> low, std::optional<bool> cache_enabled)
    : AutocastRegion(kind_from_name(device_type), enabled, low, cache_enabled) {}

void AutocastRegion::check() {
    if (!enabled_) return;
    if (!is_low(low_)) {
        warning_ =
            std::string("autocast: ") + name(low_) + " is not a 16-bit type; the region is off";
        enabled_ = false;
    } else if (kind_ == Device::Kind::cuda && kernels::cuda::device_count() == 0) {
        warning_ = "autocast: CUDA was asked for and is not there; the region is off";
        enabled_ = false;
    }
}

AutocastRegion::Entry::Entry(const AutocastRegion& region)
    : AutocastScope([&region] {
          AutocastState state = autocast_state();
          state.of(region.kind_) = {region.enabled_, region.low_};
          state.cache_enabled = region.cache_enabled_;
          ++state.depth;
          return state;
      }()) {}

AutocastRegion::Entry::~Entry() {
    if (autocast_state().depth == 1) clear_autocast_cache();
}

NoAutocast::NoAutocast(Device::Kind kind) noexcept
    : AutocastScope([kind] {
          AutocastState state = autocast_state();
          state.of(kind).enabled = false;
          state.force = nullptr;
          state.quantized = nullptr;
          ++state.inside;
          return state;
      }()) {}

AutocastSnapshot::AutocastSnapshot(const AutocastState& other) noexcept
    : AutocastScope([state = other]() mutable {
          state.depth = autocast_state().depth;
          state.inside = autocast_state().inside;
          return state;
      }()) {}

bool eligible(const Tensor& tensor, Device::Kind kind) noexcept {
    return tensor.defined() && tensor.device().kind == kind && is_floating(tensor.dtype()) &&
           tensor.dtype() != DType::f64;
}

namespace {

/// autocast.md#weight-cache (1.5): which casts the weight cache keeps.
bool cacheable(const Tensor& tensor, DType to) {
    const AutocastState& state = autocast_state();
    return to == state.of(tensor.device().kind).low && tensor.dtype() == DType::f32 &&
           tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view() && state.cache_enabled &&
           state.depth > 0 && !inference_mode();
}

}  // namespace

Tensor autocast_to(const Tensor& tensor, DType to_dtype) {
    if (tensor.dtype() == to_dtype) return tensor;
    if (!cacheable(tensor, to_dtype)) return to(tensor, to_dtype);
    if (auto found = CastCache::process().find(tensor, to_dtype)) {
        if (detail::observed) detail::note_cached_cast(tensor, *found);
        return *found;
    }
    // Recorded even under no-grad: a later use in the same region with gradients on shares this
    // node (autocast.md#interplay, 1.7).
    const GradMode recorded(true);
    const UseScope use(MemoryUse::cast_cache);
    Tensor cast = to(tensor, to_dtype);
    CastCache::process().store(tensor, to_dtype, cast);
    return cast;
}

Tensor autocast_to_low(const Tensor& tensor) {
    const auto kind = tensor.device().kind;
    return autocast_enabled(kind) ? autocast_to(tensor, autocast_low(kind)) : tensor;
}

namespace detail {

bool is_autocast_on() noexcept {
    return autocast_state().cpu.enabled || autocast_state().cuda.enabled;
}

std::optional<Device::Kind> active_kind(const Tensor* const* args, int count) noexcept {
    if (!is_autocast_on()) return std::nullopt;
    for (int i = 0; i < count; ++i) {
        if (args[i]->defined() && autocast_enabled(args[i]->device().kind))
            return args[i]->device().kind;
    }
    return std::nullopt;
}

std::optional<DType> cast_target(const Op& info, Device::Kind kind, const Tensor* const* args,
                                 int count) {
    std::vector<OperandType> consulted;
    if (info.policy == CastPolicy::promote) {
        for (int i = 0; i < count; ++i)
            if (eligible(*args[i], kind)) consulted.push_back(operand_type(*args[i]));
    }
    return cast_target(info, autocast_low(kind), consulted);
}

}  // namespace detail

DType autocast_result(const Op& info, const Tensor& x, std::optional<DType> asked) {
    if (asked) return *asked;
    const Device::Kind kind = x.device().kind;
    return writes_f32(info.policy) && autocast_enabled(kind) && eligible(x, kind) ? DType::f32
                                                                                 : x.dtype();
}

}  // namespace engine
