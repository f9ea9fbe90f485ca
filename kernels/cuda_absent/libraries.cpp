#include "kernels/cuda_libraries.h"

namespace kernels::cuda {

std::vector<LibraryInfo> libraries() { return {}; }
void set_scratch_source(const ScratchSource&) {}
void set_memory_giver(void (*)(int)) {}
std::int64_t workspace_bytes() noexcept { return 0; }
void release_workspaces() noexcept {}

}  // namespace kernels::cuda
