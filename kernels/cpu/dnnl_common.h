#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernels/device_error.h"
#include "kernels/dtype.h"

namespace kernels::cpu {

// Common parts of the operations by oneDNN.

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Arguments = std::unordered_map<int, memory>;

dnnl::engine& dnnl_engine();

inline memory::data_type data_type(DType dtype) {
    return dtype == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// f32, and bf16 if the processor has instructions for it: without them oneDNN's bf16 is slower
/// than f32, or unsupported.
bool dnnl_supports(DType dtype);

/// Whether oneDNN's name for an implementation is that of its reference code.
bool is_reference(const char* implementation);

/// The first implementation from desc's on that is not reference code and whose name `skips` does
/// not refuse, or an error. Everything that desc was made of must still live: oneDNN reads it again
/// for each further implementation.
template <class Desc, class Skips>
Desc skip_reference(Desc desc, const Skips& skips) {
    while (is_reference(desc.impl_info_str()) || skips(std::string(desc.impl_info_str())))
        if (!desc.next_impl()) throw dnnl::error(dnnl_unimplemented, "only reference code");
    return desc;
}
template <class Desc>
Desc skip_reference(Desc desc) {
    return skip_reference(std::move(desc), [](const std::string&) { return false; });
}

/// The result of `make`, after skip_reference(); nothing if oneDNN has only reference code.
template <class Desc, class Make>
std::optional<Desc> optimized(const Make& make) {
    try {
        return make();
    } catch (const dnnl::error& error) {
        if (error.status == dnnl_out_of_memory) throw OutOfMemory(0);
        if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments)
            return std::nullopt;
        throw DeviceError(std::string("oneDNN: ") + error.what());
    }
}

/// make(), with oneDNN's errors as ours.
template <typename Make>
auto made(const Make& make) {
    try {
        return make();
    } catch (const dnnl::error& error) {
        if (error.status == dnnl_out_of_memory) throw OutOfMemory(0);
        throw DeviceError(std::string("oneDNN: ") + error.what());
    }
}

/// A memory object that still points nowhere.
inline memory unbound(const memory::desc& desc) { return memory(desc, dnnl_engine(), nullptr); }

inline void bind(memory& where, const void* data) {
    where.set_data_handle(const_cast<void*>(data));
}

/// Scratchpads are ours, so that shapes that run one after the other share one.
dnnl::primitive_attr user_scratchpad();

/// Runs a primitive on the calling thread's stream, with our scratchpad if it needs one.
void run(dnnl::primitive& primitive, Arguments& arguments);

/// While it lives, limits the threads to what this many multiply-adds are worth. oneDNN uses all
/// threads of libgomp, and waking one costs microseconds.
class ThreadLimit {
public:
    explicit ThreadLimit(std::int64_t multiply_adds);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
    int before_;
};

/// The shape that a primitive depends on, as numbers; unused words are 0.
struct ShapeKey {
    std::array<std::int64_t, 20> words{};
    bool operator==(const ShapeKey&) const = default;
};

/// Entries by key, for one thread. A shape seen twice running costs a comparison.
template <class Entry>
class ShapeCache {
public:
    /// A training run has some dozens of shapes. Only a sweep over shapes fills the cache, which is
    /// then cleared.
    static constexpr std::size_t capacity = 512;

    /// The entry of `key`, made by make() at first. Valid until the next call.
    template <class Make>
    Entry& get(const ShapeKey& key, const Make& make) {
        if (last_ && last_->first == key) return last_->second;
        auto found = entries_.find(key);
        if (found == entries_.end()) {
            Entry made = make();
            if (entries_.size() >= capacity) {
                last_ = nullptr;
                entries_.clear();
            }
            found = entries_.emplace(key, std::move(made)).first;
        }
        last_ = &*found;
        return found->second;
    }
    std::size_t size() const { return entries_.size(); }

private:
    struct Hash {
        std::size_t operator()(const ShapeKey& key) const noexcept {
            std::uint64_t hash = 0xcbf29ce484222325u;
            for (const std::int64_t word : key.words) {
                hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x100000001b3u;
                hash ^= hash >> 29;
            }
            return static_cast<std::size_t>(hash);
        }
    };
    using Entries = std::unordered_map<ShapeKey, Entry, Hash>;

    Entries entries_;
    typename Entries::value_type* last_ = nullptr;
};

}  // namespace kernels::cpu
