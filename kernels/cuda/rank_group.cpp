#include "kernels/rank_group.h"

#include <string>
#include <utility>

#include "cuda/native.h"
#include "cuda/nccl_api.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

void check(nccl::Status status, const char* call) {
    if (status == nccl::success) return;
    throw DeviceError(std::string(call) + ": " + nccl::table().error_text(status));
}

nccl::DataType type_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return nccl::DataType::f64;
        case DType::f32:
            return nccl::DataType::f32;
        case DType::f16:
            return nccl::DataType::f16;
        case DType::bf16:
            return nccl::DataType::bf16;
        case DType::i64:
            return nccl::DataType::i64;
        case DType::i32:
            return nccl::DataType::i32;
        case DType::u8:
        case DType::boolean:
            break;
    }
    return nccl::DataType::u8;
}

std::size_t bytes_of(std::int64_t count, DType dtype) {
    return static_cast<std::size_t>(count) * size_of(dtype);
}

nccl::Comm opened(void* handle) {
    if (!handle) throw DeviceError("the exchange between GPUs was aborted");
    return static_cast<nccl::Comm>(handle);
}

}  // namespace

RankGroupId make_rank_group_id() {
    nccl::UniqueId id{};
    check(nccl::table().unique_id(&id), "ncclGetUniqueId");
    return {id.internal};
}

RankGroup::RankGroup(const RankGroupId& id, int rank, int ranks) : rank_(rank) {
    native_stream({});  // selects the thread's device, which NCCL takes
    nccl::Comm made = nullptr;
    check(nccl::table().comm_init_rank(&made, ranks, {id.bytes}, rank), "ncclCommInitRank");
    handle_ = made;
}

RankGroup::~RankGroup() {
    if (handle_) nccl::table().comm_destroy(static_cast<nccl::Comm>(handle_));
}

void RankGroup::sum(Array data, Stream stream) {
    const std::lock_guard lock(mutex_);
    count_launch();
    check(nccl::table().all_reduce(data.data, data.data, static_cast<std::size_t>(data.size),
                                   type_of(data.dtype), nccl::Reduction::sum, opened(handle_),
                                   native_stream(stream)),
          "ncclAllReduce");
}

void RankGroup::broadcast(Array data, Stream stream) {
    const std::lock_guard lock(mutex_);
    count_launch();
    check(nccl::table().broadcast(data.data, data.data, bytes_of(data.size, data.dtype),
                                  nccl::DataType::u8, /*root=*/0, opened(handle_),
                                  native_stream(stream)),
          "ncclBroadcast");
}

/// NCCL's own gather takes parts of one size only, so each rank broadcasts its part.
void RankGroup::gather(Array all, ConstArray part, std::span<const std::int64_t> counts,
                       Stream stream) {
    const std::lock_guard lock(mutex_);
    const nccl::Comm comm = opened(handle_);
    count_launch();
    check(nccl::table().group_start(), "ncclGroupStart");
    nccl::Status status = nccl::success;
    auto* to = static_cast<std::byte*>(all.data);
    for (int rank = 0; std::cmp_less(rank, counts.size()); ++rank) {
        const std::size_t bytes = bytes_of(counts[static_cast<std::size_t>(rank)], all.dtype);
        if (bytes > 0 && status == nccl::success) {
            status = nccl::table().broadcast(rank == rank_ ? part.data : to, to, bytes,
                                             nccl::DataType::u8, rank, comm, native_stream(stream));
        }
        to += bytes;
    }
    // A group that was started must be ended, also after an error.
    const nccl::Status end = nccl::table().group_end();
    check(status, "ncclBroadcast");
    check(end, "ncclGroupEnd");
}

void RankGroup::check_errors() {
    const std::lock_guard lock(mutex_);
    nccl::Status found = nccl::success;
    check(nccl::table().comm_async_error(opened(handle_), &found), "ncclCommGetAsyncError");
    check(found, "NCCL");
}

void RankGroup::abort() noexcept {
    const std::lock_guard lock(mutex_);
    if (handle_) nccl::table().comm_abort(static_cast<nccl::Comm>(std::exchange(handle_, nullptr)));
}

}  // namespace kernels::cuda
