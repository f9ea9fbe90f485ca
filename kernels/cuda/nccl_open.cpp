#include "cuda/library.h"
#include "cuda/nccl_api.h"

namespace kernels::cuda::nccl {
namespace {

template <typename F>
void take(F*& function, const char* name) {
    function = reinterpret_cast<F*>(nccl_library().function(name));
}

Table open_table() {
    Table t{};
    take(t.error_text, "ncclGetErrorString");
    take(t.unique_id, "ncclGetUniqueId");
    take(t.comm_init_rank, "ncclCommInitRank");
    take(t.comm_destroy, "ncclCommDestroy");
    take(t.comm_abort, "ncclCommAbort");
    take(t.comm_async_error, "ncclCommGetAsyncError");
    take(t.all_reduce, "ncclAllReduce");
    take(t.broadcast, "ncclBroadcast");
    take(t.group_start, "ncclGroupStart");
    take(t.group_end, "ncclGroupEnd");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
    return only;
}

}  // namespace kernels::cuda::nccl
