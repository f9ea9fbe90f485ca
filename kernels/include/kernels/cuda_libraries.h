#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// NVIDIA's libraries that the CUDA backend opens when a device is first used: matrix products
/// (cuBLASLt) and convolutions (cuDNN). The program is not linked to them and never brings them.
namespace kernels::cuda {

struct LibraryInfo {
    std::string name;  ///< "cuBLASLt", "cuDNN"
    bool found = false;
    std::string path;                   ///< of the opened file
    std::string version;                ///< "13.1.0"
    std::vector<std::string> searched;  ///< where it was looked for, in order
    std::string problem;                ///< why not found; empty if found
};

/// Opens them if need be. Empty in a build without CUDA. Never throws DeviceError.
std::vector<LibraryInfo> libraries();

/// Device memory that library calls hold as scratch, of all streams.
std::int64_t workspace_bytes() noexcept;
/// Gives it back: only when no captured work is to be run again that may use it.
void release_workspaces() noexcept;

}  // namespace kernels::cuda
