#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/message.h"

namespace engine {

/// What this machine can do (`halftone doctor`, the device chip of the window).
struct MachineReport {
    std::string cpu;  ///< model name
    int cores = 0;
    std::int64_t memory_bytes = 0;
    std::vector<std::string>
        features;  ///< "avx2", "avx512f", "avx512_bf16", "amx_bf16", "avx512_fp16"
    bool bf16_native = false;
    bool fp16_native = false;
    std::string onednn;  ///< version
    bool cuda_built = false;
    bool cuda_present = false;
    Message cuda_note;  ///< why there is no CUDA, or which card
    /// For each precision: does it pay here, and why (not).
    struct Pay {
        std::string precision;
        bool pays = false;
        Message why;
    };
    std::vector<Pay> precisions;
};
MachineReport inspect_machine();

}  // namespace engine
