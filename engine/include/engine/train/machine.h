#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// Abilities of this machine (`halftone doctor`, the device chip of the window).
struct MachineReport {
    std::string cpu;  ///< model name
    int cores = 0;
    std::int64_t memory_bytes = 0;
    std::vector<std::string>
        features;           ///< "avx2", "avx512f", "avx512_bf16", "amx_bf16", "avx512_fp16"
    std::string cpu_level;  ///< instruction sets in use, "avx2": HALFTONE_CPU limits them
    bool bf16_native = false;
    bool fp16_native = false;
    std::string onednn;  ///< version
    bool cuda_built = false;
    bool cuda_present = false;
    Message cuda_note;  ///< why there is no CUDA, or which card
    /// An NVIDIA card that can be used.
    struct Card {
        std::string name;
        std::string capability;  ///< "8.6"
        std::string generation;  ///< "Ampere"
        std::int64_t memory_bytes = 0;
    };
    std::vector<Card> cards;  ///< cuda:0, cuda:1, ...
    std::string cuda_driver;  ///< newest CUDA version that the driver runs; empty without cards
    /// A library that the program opens on a GPU: cuBLASLt, cuDNN, or NCCL and nvJPEG on request.
    struct Library {
        std::string name;
        bool found = false;
        std::string version, path;
        std::string problem;  ///< why it was not found
        std::vector<std::string> searched;
        std::string cuda{};  ///< that it was built for, "13.0"; empty: it does not say
    };
    std::vector<Library> libraries;
    /// Where the fastest algorithms of cuBLASLt and cuDNN are kept as they are measured, and of how
    /// many operations.
    std::string plan_file;
    std::size_t measured_plans = 0;
    /// For each precision: does it pay here, and why (not).
    struct Pay {
        std::string precision;
        bool pays = false;
        Message why;
    };
    std::vector<Pay> precisions;  ///< on the device that "auto" means
};
MachineReport inspect_machine();

/// Gains of the generations of NVIDIA's cards from each precision, oldest first.
struct GpuGeneration {
    const char* name;
    const char* cards;       ///< by which one knows it
    int major, min_minor;  ///< compute capability from which on it is this one
    bool runs;               ///< this program runs there (CUDA 13 begins with 7.5)
    bool fp16, bf16, tf32;   ///< Tensor Cores for it: time is saved
    Message note;
};
const std::vector<GpuGeneration>& gpu_generations();

}  // namespace engine
