#include "train/run/gpu_generations.h"

#include <algorithm>

namespace engine {

namespace {

bool uses_bf16(const ResolvedPrecision& precision) {
    return precision.autocast == AutocastFormat::bf16 ||
           std::ranges::any_of(precision.force, [](const auto& forced) {
               return forced.second == ForcedType::bf16;
           });
}

}  // namespace

// From NVIDIA's CUDA programming guide (compute capabilities) and the architectures' white papers.
const std::vector<GpuGeneration>& gpu_generations() {
    static const std::vector<GpuGeneration> all = {
        {"Pascal", "P100, GTX 10", 6, 0, false, false, false, false,
         msg("No Tensor Cores: fp16 saves only memory. CUDA 13 does not support this GPU any "
             "more.")},
        {"Volta", "V100, Titan V", 7, 0, false, true, false, false,
         msg("The first Tensor Cores, for fp16 only. CUDA 13 does not support this GPU any more.")},
        {"Turing", "T4, RTX 20, GTX 16", 7, 5, true, true, false, false,
         msg("Tensor Cores for fp16, so AMP FP16 pays off. bf16 is rejected: no library supports "
             "it here. GTX 16 cards have no Tensor Cores.")},
        {"Ampere", "A100, A30, RTX 30", 8, 0, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32.")},
        {"Ada", "L4, L40, RTX 40", 8, 9, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32. GeForce cards sum fp16 products in fp32 at "
             "half the rate.")},
        {"Hopper", "H100, H200", 9, 0, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32, about twice the rate of Ampere.")},
        {"Blackwell", "B200, RTX 50", 10, 0, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32. This program's kernels are compiled for it by "
             "the driver at the first start.")},
    };
    return all;
}

const GpuGeneration& gpu_generation(int major, int minor) {
    const GpuGeneration* found = &gpu_generations().front();
    for (const auto& generation : gpu_generations()) {
        const bool reached = major > generation.major ||
                             (major == generation.major && minor >= generation.least_minor);
        if (reached) found = &generation;
    }
    return *found;
}

std::optional<PrecisionLack> lack_of(const GpuGeneration& generation,
                                     const ResolvedPrecision& precision) {
    const Message hint = msg("Set the precision to fp32 or amp-fp16.");
    if (precision.tf32 && !generation.tf32)
        return PrecisionLack{msg("TF32 needs an NVIDIA Ampere or newer GPU."), hint};
    if (uses_bf16(precision) && !generation.bf16)
        return PrecisionLack{msg("BF16 needs an NVIDIA Ampere or newer GPU: on a {} card it would "
                                 "be computed in plain loops, which take seconds a step.",
                                 generation.name),
                             hint};
    return std::nullopt;
}

std::vector<MachineReport::Pay> payoffs(const GpuGeneration& generation) {
    const Message saves =
        msg("{}: Tensor Cores multiply it at a multiple of the fp32 rate.", generation.name);
    const Message none = msg("{}: no Tensor Cores for it, so no time is saved.", generation.name);
    const auto pay = [&](const char* precision, bool pays) {
        return MachineReport::Pay{precision, pays, pays ? saves : none};
    };
    return {
        {"fp32", true, msg("The baseline: full fp32 arithmetic, TF32 switched off.")},
        pay("tf32", generation.tf32),
        pay("amp-fp16", generation.fp16),
        pay("amp-bf16", generation.bf16),
        pay("o2-fp16", generation.fp16),
        {"pure-fp16", false,
         msg("Shows what breaks: small updates vanish without fp32 master weights.")},
    };
}

}  // namespace engine
