#include "cpu/dnnl_common.h"

#include "cpu/gemm_scratch.h"
#include "kernels/device.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

dnnl::stream& stream() {
    thread_local dnnl::stream instance(dnnl_engine());
    return instance;
}

}  // namespace

dnnl::engine& dnnl_engine() {
    static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
    return instance;
}

bool dnnl_supports(DType dtype) {
    static const bool has_bf16 = [] {
        const CpuInfo cpu = info();
        return cpu.avx512_bf16 || cpu.amx_bf16;
    }();
    return dtype == DType::f32 || (dtype == DType::bf16 && has_bf16);
}

bool is_reference(const char* implementation) {
    const std::string name(implementation);
    return name.starts_with("ref") || name.starts_with("simple");
}

dnnl::primitive_attr user_scratchpad() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

void run(dnnl::primitive& primitive, Arguments& arguments) {
    const auto scratchpad = arguments.find(DNNL_ARG_SCRATCHPAD);
    if (scratchpad != arguments.end())
        bind(scratchpad->second,
             scratch_bytes(Scratch::library, scratchpad->second.get_desc().get_size()));
    try {
        primitive.execute(stream(), arguments);
    } catch (const dnnl::error& error) {
        throw DeviceError(std::string("oneDNN: ") + error.what());
    }
}

ThreadLimit::ThreadLimit([[maybe_unused]] std::int64_t multiply_adds) : before_(threads()) {
#ifdef HALFTONE_SERIAL_KERNELS
    const bool one = true;
#else
    const bool one = multiply_adds < (std::int64_t{1} << 20);
#endif
    if (one && before_ > 1) set_threads(1);
}

ThreadLimit::~ThreadLimit() {
    if (threads() != before_) set_threads(before_);
}

}  // namespace kernels::cpu
