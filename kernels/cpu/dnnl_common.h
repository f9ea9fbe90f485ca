#pragma once

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

}  // namespace kernels::cpu
