#include <nccl.h>

#include "cuda/nccl_api.h"
#include "cuda/same_call.h"

// nccl_api.h against the header that comes with the library.
namespace kernels::cuda::nccl {

#define HALFTONE_SAME(ours, theirs) \
    static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
HALFTONE_SAME(success, ncclSuccess);
HALFTONE_SAME(system_error, ncclSystemError);
HALFTONE_SAME(invalid_argument, ncclInvalidArgument);
HALFTONE_SAME(invalid_usage, ncclInvalidUsage);
HALFTONE_SAME(DataType::u8, ncclUint8);
HALFTONE_SAME(DataType::i32, ncclInt32);
HALFTONE_SAME(DataType::i64, ncclInt64);
HALFTONE_SAME(DataType::f16, ncclFloat16);
HALFTONE_SAME(DataType::f32, ncclFloat32);
HALFTONE_SAME(DataType::f64, ncclFloat64);
HALFTONE_SAME(DataType::bf16, ncclBfloat16);
HALFTONE_SAME(Reduction::sum, ncclSum);
#undef HALFTONE_SAME

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(alignof(UniqueId) == alignof(ncclUniqueId));
static_assert(sizeof(UniqueId) == NCCL_UNIQUE_ID_BYTES);

namespace {

constexpr Table none{};
static_assert(same_call(&ncclGetErrorString, none.error_text));
static_assert(same_call(&ncclGetUniqueId, none.unique_id));
static_assert(same_call(&ncclCommInitRank, none.comm_init_rank));
static_assert(same_call(&ncclCommDestroy, none.comm_destroy));
static_assert(same_call(&ncclCommAbort, none.comm_abort));
static_assert(same_call(&ncclCommGetAsyncError, none.comm_async_error));
static_assert(same_call(&ncclAllReduce, none.all_reduce));
static_assert(same_call(&ncclBroadcast, none.broadcast));
static_assert(same_call(&ncclGroupStart, none.group_start));
static_assert(same_call(&ncclGroupEnd, none.group_end));

}  // namespace
}  // namespace kernels::cuda::nccl
