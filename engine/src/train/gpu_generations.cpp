#include "train/gpu_generations.h"

namespace engine {

// From NVIDIA's CUDA programming guide (compute capabilities) and the architectures' white papers.
const std::vector<GpuGeneration>& gpu_generations() {
    static const std::vector<GpuGeneration> all = {
        {"Pascal", "P100, GTX 10", 6, 0, false, false, false, false,
         msg("No Tensor Cores: fp16 saves memory only. CUDA 13 does not run here any more.")},
        {"Volta", "V100, Titan V", 7, 0, false, true, false, false,
         msg("The first Tensor Cores, fp16 only. CUDA 13 does not run here any more.")},
        {"Turing", "T4, RTX 20, GTX 16", 7, 5, true, true, false, false,
         msg("Tensor Cores for fp16, so AMP FP16 pays; bf16 is converted and saves memory only. "
             "GTX 16 cards have no Tensor Cores.")},
        {"Ampere", "A100, A30, RTX 30", 8, 0, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32.")},
        {"Ada", "L4, L40, RTX 40", 8, 9, true, true, true, true,
         msg("Tensor Cores for fp16, bf16 and TF32; the GeForce cards add up fp16 products in fp32 "
             "at half the rate.")},
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
         msg("It is there to show what breaks: small updates vanish without fp32 master weights.")},
    };
}

}  // namespace engine
