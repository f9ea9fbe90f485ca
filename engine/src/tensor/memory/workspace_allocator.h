#pragma once

#include <memory>

#include "kernels/device_error.h"
#include "tensor/memory/memory.h"

/// The scratch of the GPU's libraries (matrix products, convolutions): one for all runs of a
/// device, kept as long as there is one.
namespace engine {

/// Takes library scratch from the devices' caches from now on, so that it counts against the memory
/// limit, and cached blocks are released, and caches reclaimed (reclaimable_cache.h), before
/// an allocation fails. So they are when a library has no memory of its own for a plan.
void use_cache_for_workspaces();

/// A run's share of the library scratch. While the object lives, all scratch of the device, present
/// and future, is accounted under workspace in `accounting`: every run on the device needs it,
/// whichever asked first. When the last object of a device ends, the scratch is released, and the
/// cached blocks with it. Does nothing on the CPU.
class WorkspaceShare {
public:
    WorkspaceShare(std::shared_ptr<MemoryAccounting> accounting, const Device& device);
    ~WorkspaceShare();
    WorkspaceShare(const WorkspaceShare&) = delete;
    WorkspaceShare& operator=(const WorkspaceShare&) = delete;

private:
    std::shared_ptr<MemoryAccounting> accounting_;
    Device device_;
};

/// The message for a failed allocation on the device, by this program or by a library. accounting
/// may be null.
Message out_of_memory(const kernels::OutOfMemory& error, const MemoryAccounting* accounting,
                      const Device& device);

}  // namespace engine
