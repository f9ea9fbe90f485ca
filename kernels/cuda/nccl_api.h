#pragma once

#include <array>
#include <cstddef>

/// The part of NCCL 2 that is used here: an opaque handle, numbers and a table of functions, so
/// that what calls it compiles and is tested without CUDA. library_checks.cpp holds it against
/// NVIDIA's own header.
namespace kernels::cuda::nccl {

using Status = int;
constexpr Status success = 0, system_error = 2, invalid_argument = 4, invalid_usage = 5;

enum class DataType : int { u8 = 1, i32 = 2, i64 = 4, f16 = 6, f32 = 7, f64 = 8, bf16 = 9 };
enum class Reduction : int { sum = 0 };

/// Passed by value, as NCCL's own.
struct UniqueId {
    std::array<char, 128> internal;
};

struct CommOpaque;
using Comm = CommOpaque*;

struct Table {
    const char* (*error_text)(Status);
    Status (*unique_id)(UniqueId*);
    Status (*comm_init_rank)(Comm*, int ranks, UniqueId, int rank);
    Status (*comm_destroy)(Comm);
    Status (*comm_abort)(Comm);
    Status (*comm_async_error)(Comm, Status*);
    Status (*all_reduce)(const void* send, void* receive, std::size_t count, DataType, Reduction,
                         Comm, void* stream);
    Status (*broadcast)(const void* send, void* receive, std::size_t count, DataType, int root,
                        Comm, void* stream);
    Status (*group_start)();
    Status (*group_end)();
};

/// The members of Table by their names in the library.
#define HALFTONE_NCCL_CALLS(CALL) \
    CALL(error_text, ncclGetErrorString) \
    CALL(unique_id, ncclGetUniqueId) \
    CALL(comm_init_rank, ncclCommInitRank) \
    CALL(comm_destroy, ncclCommDestroy) \
    CALL(comm_abort, ncclCommAbort) \
    CALL(comm_async_error, ncclCommGetAsyncError) \
    CALL(all_reduce, ncclAllReduce) \
    CALL(broadcast, ncclBroadcast) \
    CALL(group_start, ncclGroupStart) \
    CALL(group_end, ncclGroupEnd)

/// The opened library's. Throws DeviceError if it is not there.
const Table& table();

}  // namespace kernels::cuda::nccl
