#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device_error.h"

/// NVIDIA's libraries that the CUDA backend opens when a device is first used: matrix products
/// (cuBLASLt), convolutions, attention and recurrent networks (cuDNN). The program is not linked to
/// them and does not ship them.
namespace kernels::cuda {

struct LibraryInfo {
    std::string name;  ///< "cuBLASLt", "cuDNN"
    bool found = false;
    std::string path;                   ///< of the opened file
    std::string version;                ///< "13.1.0"
    std::vector<std::string> searched;  ///< where it was looked for, in order
    std::string problem;                ///< why not found; empty if found
    std::string cuda{};                 ///< "13.0": that it is built for; empty: it does not say
};

/// Opens them if need be. Empty in a build without CUDA. Never throws DeviceError.
std::vector<LibraryInfo> libraries();

/// A library found no memory of its own on the host or the device, and does not say for how much.
class LibraryOutOfMemory : public OutOfMemory {
public:
    explicit LibraryOutOfMemory(const std::string& words)
        : OutOfMemory(0), words_("out of memory: " + words) {}
    const char* what() const noexcept override { return words_.c_str(); }

private:
    std::string words_;
};

/// Where that memory comes from: allocate() and release(), unless set. A device is numbered as for
/// set_device().
struct WorkspaceAllocator {
    void* (*take)(std::size_t bytes, int device);  ///< 256-byte aligned; throws OutOfMemory
    void (*give)(void* data, std::size_t bytes, int device);
};
/// Applies to later allocations; each block returns to where it came from.
void set_workspace_allocator(const WorkspaceAllocator& source);

/// Called when a library is out of memory, before it is called once more: releases cached memory to
/// the device.
void set_cache_trimmer(void (*give_back)(int device));

/// Bytes of device memory that library calls hold as scratch, for all streams and captured graphs.
std::int64_t workspace_bytes() noexcept;
/// Releases the scratch of the streams, of all devices or of one. Only while no thread launches
/// work on them. Scratch that a captured graph may use again is released with the graph.
void release_workspaces() noexcept;
void release_workspaces_of(int device) noexcept;

}  // namespace kernels::cuda
