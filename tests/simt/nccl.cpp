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
#include "kernels/device_error.h"
#include "kernels/rank_group.h"
#include "simt/queue.h"
#include "simt/simulation.h"

// NCCL of the simulated device. As with the real one:
//
// - A call returns at once. The exchange is work of the streams, and begins when the streams of all
//   ranks have got there. So a rank that does not come leaves the others waiting.
// - ncclCommAbort ends the waiting of its own rank alone, and leaves the results undefined.
// - ncclCommDestroy waits for the rank's calls.
//
// Ranks that make different calls are found, where the real one hangs or mixes up data: the later
// call fails, and the others get an asynchronous error.
namespace kernels::cuda::nccl {
namespace {

using simt::NcclCall;

/// Contribution of a rank to a call.
struct Part {
    NcclCall call{};
    DataType type = DataType::u8;
    int root = 0;
    std::shared_ptr<std::vector<std::byte>> bytes{};  // filled by the stream
    std::shared_ptr<simt::Mark> copied{};
};

/// A call of all ranks.
struct Round {
    std::vector<std::optional<Part>> parts;  // by rank
};

struct Group {
    explicit Group(int ranks_) : ranks(static_cast<std::size_t>(ranks_)) {}
    const std::size_t ranks;
    // While it is formed.
    std::mutex mutex;
    std::condition_variable changed;
    std::set<int> devices;
    std::size_t arrived = 0;
    // Guarded by the simulation's mutex.
    std::map<int, std::shared_ptr<Round>> rounds;
    bool differs = false;
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

/// Returns when all ranks have called it; false if one does not come.
bool form(Group& group) {
    constexpr std::chrono::seconds limit{20};
    std::unique_lock lock(group.mutex);
    if (++group.arrived == group.ranks) group.changed.notify_all();
    return group.changed.wait_for(lock, limit, [&] { return group.arrived == group.ranks; });
}

bool same_call(const Part& a, const Part& b) {
    return a.call.name == b.call.name && a.call.count == b.call.count && a.type == b.type &&
           a.root == b.root;
}

}  // namespace

struct CommOpaque {
    std::shared_ptr<Group> group;
    int rank;
    int round = 0;  ///< calls so far
    std::shared_ptr<bool> aborted = std::make_shared<bool>(false);
    std::shared_ptr<simt::Mark> last{};  ///< after the last call
};

namespace {

using Finish = std::function<void(const Round&)>;

std::shared_ptr<simt::Mark> mark_end(simt::Queue& queue) {
    auto mark = std::make_shared<simt::Mark>();
    mark->queue = &queue;
    mark->passed = false;
    queue.items.push_back({nullptr, mark, nullptr});
    return mark;
}

/// The round of the rank's next call. The last rank takes it out of the group's.
std::shared_ptr<Round> take_round(CommOpaque& comm) {
    auto& rounds = comm.group->rounds;
    const int number = comm.round++;
    auto& round = rounds[number];
    if (!round) round = std::make_shared<Round>(Round{{comm.group->ranks, std::nullopt}});
    const std::shared_ptr<Round> taken = round;
    const auto here = std::ranges::count_if(taken->parts, [](const auto& part) { return !!part; });
    if (std::cmp_equal(here + 1, taken->parts.size())) rounds.erase(number);
    return taken;
}

/// Runs the other ranks' streams as far as needed.
bool all_are_there(const Round& round) {
    for (const auto& part : round.parts) {
        if (!part) return false;
        if (!part->copied->passed && !simt::run_until_passed(*part->copied->queue, *part->copied))
            return false;
    }
    return true;
}

Status exchange(Comm comm, Part part, const void* send, Stream stream, const Finish& finish) {
    const simt::Lock lock(simt::simulation().mutex);
    const auto round = take_round(*comm);
    for (const auto& other : round->parts) {
        if (!other || same_call(*other, part)) continue;
        comm->group->differs = true;
        return invalid_usage;
    }
    const std::size_t bytes = part.call.count * size_of_type(part.type);
    part.bytes = std::make_shared<std::vector<std::byte>>(bytes);
    simt::enqueue(part.call.name.c_str(), stream,
                  [to = part.bytes, send, bytes] { std::memcpy(to->data(), send, bytes); });
    simt::Queue& queue = simt::queue_of(stream);
    part.copied = mark_end(queue);
    round->parts[static_cast<std::size_t>(comm->rank)] = std::move(part);
    queue.items.push_back(
        {.work =
             [round, finish, aborted = comm->aborted] {
                 if (!*aborted) finish(*round);
             },
         .ready = [round, aborted = comm->aborted] { return *aborted || all_are_there(*round); }});
    comm->last = mark_end(queue);
    simt::simulation().changed.notify_all();
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
    if (!form(*group)) return system_error;
    const std::lock_guard lock(registry().mutex);
    registry().groups.erase(key);
    if (!fresh_device || group->devices.size() != group->ranks) return invalid_usage;
    *comm = new CommOpaque{group, rank};
    return success;
}

Status comm_destroy(Comm comm) {
    {
        const simt::Lock lock(simt::simulation().mutex);
        while (comm->last && !comm->last->passed) {
            if (!simt::run_one(*comm->last->queue)) simt::wait_for_others();
        }
    }
    delete comm;
    return success;
}

Status comm_abort(Comm comm) {
    {
        const simt::Lock lock(simt::simulation().mutex);
        *comm->aborted = true;
        simt::simulation().changed.notify_all();
    }
    delete comm;
    return success;
}

Status comm_async_error(Comm comm, Status* status) {
    const simt::Lock lock(simt::simulation().mutex);
    *status = comm->group->differs ? invalid_usage : success;
    const std::lock_guard known(registry().mutex);
    if (registry().broken) *status = system_error;
    return success;
}

Status all_reduce(const void* send, void* receive, std::size_t count, DataType type, Reduction,
                  Comm comm, void* stream) {
    const auto dtype = summed_type(type);
    if (!dtype) return invalid_argument;
    return submit(comm, {.call = {.name = "ncclAllReduce", .count = count}, .type = type}, send,
                  stream, [=](const Round& round) {
                      std::vector<const void*> parts;
                      for (const auto& part : round.parts) parts.push_back(part->bytes->data());
                      cpu::rank_sum({{receive}}, parts, *dtype, 0,
                                    static_cast<std::int64_t>(count));
                  });
}

Status broadcast(const void* send, void* receive, std::size_t count, DataType type, int root,
                 Comm comm, void* stream) {
    return submit(comm,
                  {.call = {.name = "ncclBroadcast", .count = count}, .type = type, .root = root},
                  send, stream, [=](const Round& round) {
                      const auto& bytes = *round.parts[static_cast<std::size_t>(root)]->bytes;
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
