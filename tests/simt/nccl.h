#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// The simulated device's NCCL, between threads of this process with a device each.
namespace kernels::simt {

/// A call that puts work on a stream.
struct NcclCall {
    int rank = 0;
    std::string name{};
    std::size_t count = 0;  ///< elements
    bool on_compute_stream = false;
    bool in_group = false;  ///< between ncclGroupStart and ncclGroupEnd
};
/// Calls of all ranks since it was called last; the calls of one rank are in order.
std::vector<NcclCall> take_nccl_calls();

void set_nccl_installed(bool installed);
bool nccl_installed();

/// From now on every communicator reports an error that happened after a call.
void break_nccl(bool broken);

}  // namespace kernels::simt
