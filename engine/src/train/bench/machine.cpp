#include "engine/train/machine.h"

#include "engine/settings/catalog.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "kernels/jpeg_decoder.h"
#include "kernels/plan_store.h"
#include "kernels/rank_group.h"
#include "train/run/run_needs.h"

namespace engine {
namespace {

using kernels::CpuInfo;

std::vector<std::string> features(const CpuInfo& cpu) {
    std::vector<std::string> names;
    const auto add = [&names](bool has, const char* name) {
        if (has) names.emplace_back(name);
    };
    add(cpu.avx2, "avx2");
    add(cpu.f16c, "f16c");
    add(cpu.avx512f, "avx512f");
    add(cpu.avx512_bf16, "avx512_bf16");
    add(cpu.amx_bf16, "amx_bf16");
    add(cpu.avx512_fp16, "avx512_fp16");
    return names;
}

Message cuda_note(int devices) {
    if (!kernels::cuda::built()) return msg("No CUDA: this build is for the CPU only.");
    if (devices == 0) return msg("No CUDA: {}.", kernels::cuda::why_absent());
    return msg("CUDA devices: {}.", devices);
}

MachineReport::Pay amp_bf16(const CpuInfo& cpu, const std::string& kind) {
    if (cpu.amx_bf16)
        return {kind, true,
                msg("The processor multiplies bf16 matrices natively (AMX), and activations take "
                    "half the memory.")};
    if (cpu.avx512_bf16)
        return {kind, true,
                msg("The processor multiplies bf16 natively (AVX512_BF16), and activations take "
                    "half the memory.")};
    return {kind, false,
            msg("No time saved: the processor has no bf16 instructions (AVX512_BF16 or AMX), so "
                "values are converted to fp32 and back. The numerics are the same, and activations "
                "take half the memory.")};
}

MachineReport::Pay amp_fp16(const CpuInfo& cpu, const std::string& kind) {
    if (cpu.avx512_fp16)
        return {kind, false,
                msg("No time saved: the processor's fp16 instructions (AVX512_FP16) sum in fp16. "
                    "Sums are kept in fp32, as on a GPU, so values are converted to fp32 and back. "
                    "Activations take half the memory.")};
    return {kind, false,
            msg("No time saved: the processor has no fp16 arithmetic, so values are converted to "
                "fp32 and back. The numerics are those of a GPU, and activations take half the "
                "memory.")};
}

std::vector<MachineReport::Pay> payoffs(const CpuInfo& cpu) {
    std::vector<MachineReport::Pay> out;
    for (const PrecisionDescriptor& each : precisions()) {
        if (!each.on_cpu.empty())
            out.push_back({each.kind, each.kind == baseline_precision(), each.on_cpu});
        else if (each.settings.autocast == AutocastFormat::bf16)
            out.push_back(amp_bf16(cpu, each.kind));
        else
            out.push_back(amp_fp16(cpu, each.kind));
    }
    return out;
}

std::string version(int cuda) {
    return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

void add_cards(MachineReport& report, int devices) {
    auto libraries = kernels::cuda::libraries();
    if (kernels::cuda::built()) {
        libraries.push_back(kernels::cuda::rank_library());
        libraries.push_back(kernels::cuda::jpeg_library());
    }
    for (const auto& library : libraries) {
        report.libraries.push_back({library.name, library.found, library.version, library.path,
                                    library.problem, library.searched, library.cuda});
    }
    for (int i = 0; i < devices; ++i) {
        const auto info = kernels::cuda::device_info(i);
        const GpuGeneration& generation = gpu_generation(info.major, info.minor);
        report.cards.push_back({info.name,
                                std::to_string(info.major) + "." + std::to_string(info.minor),
                                generation.name, info.memory_bytes});
        report.cuda_driver = version(info.driver);
        if (i == 0) report.precisions = payoffs(generation);
    }
}

}  // namespace

MachineReport inspect_machine() {
    const CpuInfo cpu = kernels::cpu::info();
    const int devices = kernels::cuda::device_count();
    MachineReport report;
    report.cpu = cpu.model;
    report.cores = cpu.cores;
    report.memory_bytes = cpu.memory_bytes;
    report.features = features(cpu);
    report.cpu_level = cpu.level;
    report.bf16_native = cpu.avx512_bf16 || cpu.amx_bf16;
    report.fp16_native = cpu.avx512_fp16;
    report.onednn = cpu.onednn_version;
    report.cuda_built = kernels::cuda::built();
    report.cuda_present = devices > 0;
    report.cuda_note = cuda_note(devices);
    report.precisions = payoffs(cpu);
    report.plan_file = kernels::plan_store().file().string();
    report.measured_plans = kernels::plan_store().size();
    try {
        add_cards(report, devices);
    } catch (const kernels::DeviceError& error) {
        report.cuda_note = msg("No CUDA: {}.", error.what());
        report.cuda_present = false;
    }
    return report;
}

}  // namespace engine
