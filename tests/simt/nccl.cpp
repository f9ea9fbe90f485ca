#include "simt/nccl.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cuda/nccl_api.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"
#include "kernels/rank_sum.h"
#include "simt/queue.h"
#include "simt/simulation.h"

// NCCL of the simulated device. The ranks of a group meet in each call on the host, where the real
// one returns at once: so ranks that make their calls in different orders are found. The exchange
// itself is work of the streams: a rank's part is copied when its stream gets there, and the result
// is written when the streams of all ranks have got there.
namespace kernels::cuda::nccl {
namespace {

using simt::NcclCall;

/// What a rank brings to a call.
struct Part {
    NcclCall call{};
    DataType type = DataType::u8;
    int root = 0;
    std::shared_ptr<std::vector<std::byte>> bytes{};  // filled by the stream
    std::shared_ptr<Event> ready{};
};

struct Group {
    explicit Group(int size) : parts(static_cast<std::size_t>(size)) {}
    std::mutex mutex;
    std::condition_variable changed;
    std::set<int> devices;
    std::vector<Part> parts, met;
    std::size_t arrived = 0;
    int round = 0;
    bool aborted = false;
};

struct Registry {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<Group>> groups;  // being formed
    std::vector<NcclCall> calls;
    int ids = 0;
    bool installed = true;
    bool broken = false;
};
Registry& registry() {
    static auto* only = new Registry;
    return *only;
}

thread_local bool grouping = false;
thread_local std::vector<std::function<Status()>> grouped;

std::size_t size_of_type(DataType type) {
    switch (type) {
        case DataType::i64:
        case DataType::f64:
            return 8;
        case DataType::i32:
        case DataType::f32:
            return 4;
        case DataType::f16:
        case DataType::bf16:
            return 2;
        case DataType::u8:
            break;
    }
    return 1;
}

/// The types that can be summed here.
std::optional<DType> summed_type(DataType type) {
    switch (type) {
        case DataType::f64:
            return DType::f64;
        case DataType::f32:
            return DType::f32;
        case DataType::f16:
            return DType::f16;
        case DataType::bf16:
            return DType::bf16;
        case DataType::i64:
            return DType::i64;
        default:
            return std::nullopt;
    }
}

/// Null: a rank did not come, or the group was aborted.
std::optional<std::vector<Part>> meet(Group& group, int rank, Part part) {
    constexpr std::chrono::seconds limit{20};
    std::unique_lock lock(group.mutex);
    if (group.aborted) return std::nullopt;
    group.parts[static_cast<std::size_t>(rank)] = std::move(part);
    const int mine = group.round;
    if (++group.arrived == group.parts.size()) {
        group.arrived = 0;
        ++group.round;
        group.met = group.parts;
        group.changed.notify_all();
    }
    const bool all_came =
        group.changed.wait_for(lock, limit, [&] { return group.round != mine || group.aborted; });
    if (!all_came || group.round == mine) return std::nullopt;
    return group.met;
}

bool same_call(const Part& a, const Part& b) {
    return a.call.name == b.call.name && a.call.count == b.call.count && a.type == b.type &&
           a.root == b.root;
}

}  // namespace

struct CommOpaque {
    std::shared_ptr<Group> group;
    int rank;
};

namespace {

using Finish = std::function<void(const std::vector<Part>&)>;

Status exchange(Comm comm, Part part, const void* send, Stream stream, const Finish& finish) {
    const std::string name = part.call.name;
    const std::size_t bytes = part.call.count * size_of_type(part.type);
    part.bytes = std::make_shared<std::vector<std::byte>>(bytes);
    simt::enqueue(name.c_str(), stream,
                  [to = part.bytes, send, bytes] { std::memcpy(to->data(), send, bytes); });
    part.ready = std::make_shared<Event>();
    part.ready->record(stream);
    const auto all = meet(*comm->group, comm->rank, part);
    if (!all) return system_error;
    for (const Part& other : *all) {
        if (!same_call(other, part)) return invalid_usage;
        other.ready->hold(stream);
    }
    simt::enqueue(name.c_str(), stream, [all = *all, finish] { finish(all); });
    return success;
}

Status submit(Comm comm, Part part, const void* send, void* stream, Finish finish) {
    part.call.rank = comm->rank;
    part.call.on_compute_stream = stream == nullptr;
    part.call.in_group = grouping;
    {
        const std::lock_guard lock(registry().mutex);
        registry().calls.push_back(part.call);
    }
    auto work = [=, part = std::move(part), finish = std::move(finish)] {
        return exchange(comm, part, send, {stream}, finish);
    };
    if (!grouping) return work();
    grouped.push_back(std::move(work));
    return success;
}

const char* error_text(Status status) {
    switch (status) {
        case success:
            return "no error";
        case system_error:
            return "unhandled system error (simulated)";
        case invalid_usage:
            return "invalid usage (simulated)";
        default:
            return "invalid argument (simulated)";
    }
}

Status unique_id(UniqueId* id) {
    const std::lock_guard lock(registry().mutex);
    const std::string text = std::to_string(++registry().ids);
    *id = {};
    std::copy(text.begin(), text.end(), id->internal.begin());
    return success;
}

/// As the real one, refuses two ranks on one device.
Status comm_init_rank(Comm* comm, int ranks, UniqueId id, int rank) {
    const std::string key(id.internal.data());
    std::shared_ptr<Group> group;
    bool fresh_device = false;
    {
        const std::lock_guard lock(registry().mutex);
        auto& known = registry().groups[key];
        if (!known) known = std::make_shared<Group>(ranks);
        group = known;
        fresh_device = group->devices.insert(simt::use_device()).second;
    }
    if (!meet(*group, rank, {.call = {.name = "ncclCommInitRank"}})) return system_error;
    const std::lock_guard lock(registry().mutex);
    registry().groups.erase(key);
    if (!fresh_device || group->devices.size() != group->parts.size()) return invalid_usage;
    *comm = new CommOpaque{group, rank};
    return success;
}

Status comm_destroy(Comm comm) {
    delete comm;
    return success;
}

Status comm_abort(Comm comm) {
    {
        const std::lock_guard lock(comm->group->mutex);
        comm->group->aborted = true;
    }
    comm->group->changed.notify_all();
    delete comm;
    return success;
}

Status comm_async_error(Comm, Status* status) {
    const std::lock_guard lock(registry().mutex);
    *status = registry().broken ? system_error : success;
    return success;
}

Status all_reduce(const void* send, void* receive, std::size_t count, DataType type, Reduction,
                  Comm comm, void* stream) {
    const auto dtype = summed_type(type);
    if (!dtype) return invalid_argument;
    return submit(comm, {.call = {.name = "ncclAllReduce", .count = count}, .type = type}, send,
                  stream, [=](const std::vector<Part>& all) {
                      std::vector<const void*> parts;
                      for (const Part& part : all) parts.push_back(part.bytes->data());
                      cpu::rank_sum({{receive}}, parts, *dtype, 0,
                                    static_cast<std::int64_t>(count));
                  });
}

Status broadcast(const void* send, void* receive, std::size_t count, DataType type, int root,
                 Comm comm, void* stream) {
    return submit(comm,
                  {.call = {.name = "ncclBroadcast", .count = count}, .type = type, .root = root},
                  send, stream, [=](const std::vector<Part>& all) {
                      const auto& bytes = *all[static_cast<std::size_t>(root)].bytes;
                      std::memcpy(receive, bytes.data(), bytes.size());
                  });
}

Status group_start() {
    grouping = true;
    return success;
}

Status group_end() {
    grouping = false;
    Status first = success;
    for (const auto& work : std::exchange(grouped, {})) {
        const Status status = work();
        if (first == success) first = status;
    }
    return first;
}

}  // namespace

const Table& table() {
    static constexpr Table only{.error_text = error_text,
                                .unique_id = unique_id,
                                .comm_init_rank = comm_init_rank,
                                .comm_destroy = comm_destroy,
                                .comm_abort = comm_abort,
                                .comm_async_error = comm_async_error,
                                .all_reduce = all_reduce,
                                .broadcast = broadcast,
                                .group_start = group_start,
                                .group_end = group_end};
    if (!simt::nccl_installed()) throw DeviceError("NCCL is not installed (simulated)");
    return only;
}

}  // namespace kernels::cuda::nccl

namespace kernels::simt {

using cuda::nccl::registry;

std::vector<NcclCall> take_nccl_calls() {
    const std::lock_guard lock(registry().mutex);
    return std::exchange(registry().calls, {});
}

void set_nccl_installed(bool installed) {
    const std::lock_guard lock(registry().mutex);
    registry().installed = installed;
}
bool nccl_installed() {
    const std::lock_guard lock(registry().mutex);
    return registry().installed;
}

void break_nccl(bool broken) {
    const std::lock_guard lock(registry().mutex);
    registry().broken = broken;
}

}  // namespace kernels::simt
