#pragma once

#include <sstream>
#include <string>

#include "cuda/cudnn_graph.h"
#include "kernels/needs_cudnn.h"

/// cuDNN without a device: only the properties of GPUs are given.
namespace kernels::test {

/// The device properties by which cuDNN describes a GPU.
struct DescribedCard {
    const char* name;
    int version, processors, shared_memory;
};
constexpr DescribedCard cards[] = {{"Tesla T4", 750, 40, 65536},
                                   {"NVIDIA A100-SXM4-80GB", 800, 108, 166912},
                                   {"NVIDIA GeForce RTX 3090", 860, 82, 101376},
                                   {"NVIDIA GeForce RTX 4090", 890, 128, 101376},
                                   {"NVIDIA H100 80GB HBM3", 900, 132, 232448}};

inline cuda::DescribedDevice description(const DescribedCard& device) {
    std::ostringstream out;
    out << R"({"cudaDeviceId":0,"deviceName":")" << device.name << R"(","deviceVer":)"
        << device.version << R"(,"driverVer":13000,"isTccDriver":0,"l2CacheSize":52428800,)"
        << R"("maxCtasPerSM":32,"maxRegistersPerSM":65536,"maxSharedMemoryPerBlock":49152,)"
        << R"("maxSharedMemoryPerBlockOptin":)" << device.shared_memory
        << R"(,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"memClockRateKHz":2619000,)"
        << R"("multiProcessorCount":)" << device.processors
        << R"(,"pciDeviceId":9008,"regsPerBlock":65536,"reservedSharedMemoryPerBlock":1024,)"
        << R"("smClockRateKHz":1980000,"supportCoopLaunch":1,"totalGlobalMem":84979089408,)"
        << R"("warpSize":32,"maxBlockSize":[1024,1024,64],"maxGridSize":[2147483647,65535,65535]})";
    return {out.str(), device.version / 10};
}

}  // namespace kernels::test
