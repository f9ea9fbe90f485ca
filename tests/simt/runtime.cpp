#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/launch.cuh"
#include "kernels/cuda_copies.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "simt/block.h"
#include "simt/heap.h"
#include "simt/queue.h"

namespace kernels::simt {
namespace {

struct Mark;

/// Work in the order it was given; runs when somebody waits.
struct Queue {
    struct Item {
        std::function<void()> work;
        std::shared_ptr<Mark> mark;  // to pass
        std::shared_ptr<Mark> hold;  // to wait for
    };
    std::deque<Item> items;
    std::vector<std::function<void()>>* recording = nullptr;  // where work goes instead
    int device = 0;
};

struct Mark {
    Queue* queue = nullptr;
    bool passed = true;
    int asked = 0;
    std::chrono::steady_clock::time_point time;
};

struct Fault {
    std::string call;
    int after = -1;
};

/// Tests vary the order of threads from outside too: HALFTONE_SIMT_ORDER=backward.
DeviceSettings initial_settings() {
    const char* order = std::getenv("HALFTONE_SIMT_ORDER");
    DeviceSettings settings;
    if (order != nullptr && std::string(order) == "backward")
        settings.order = ThreadOrder::backward;
    return settings;
}

struct Simulation {
    std::recursive_mutex mutex;
    DeviceSettings settings = initial_settings();
    std::map<int, Heap> heaps;                            // by device
    int reached = -1;                                     // the device whose memory is open
    std::map<void*, std::pair<int, std::size_t>> owners;  // of device memory
    std::map<void*, std::unique_ptr<std::byte[]>> pinned;
    std::map<void*, std::size_t> pinned_sizes;
    std::map<int, Queue> compute;
    std::vector<std::unique_ptr<Queue>> others;
    cuda::CallCounts counts;
    Fault fault;
    int allocations_to_refusal = 0, refusals = 0;
    bool lost = false;
};

Simulation& simulation() {
    static auto* only = new Simulation;  // outlives whatever frees memory at exit
    return *only;
}

thread_local int device_of_thread = 0;

using Lock = std::lock_guard<std::recursive_mutex>;

void check(const std::string& call) {
    Simulation& s = simulation();
    if (!s.lost && s.fault.after >= 0 && call.find(s.fault.call) != std::string::npos &&
        s.fault.after-- == 0)
        s.lost = true;
    if (s.lost)
        throw DeviceError(call + ": an illegal memory access was encountered (simulated fault)");
}

Queue& queue_of(Stream stream) {
    if (stream.handle) return *static_cast<Queue*>(stream.handle);
    Queue& queue = simulation().compute[device_of_thread];
    queue.device = device_of_thread;
    return queue;
}

void reach(int device) {
    Simulation& s = simulation();
    if (device == s.reached) return;
    if (s.reached >= 0) s.heaps[s.reached].close();
    s.reached = device;
    if (device >= 0) s.heaps[device].open();
}

/// While it lives, one device's memory alone can be touched.
class Reach {
public:
    explicit Reach(int device) : before_(simulation().reached) { reach(device); }
    ~Reach() { reach(before_); }
    Reach(const Reach&) = delete;
    Reach& operator=(const Reach&) = delete;

private:
    int before_;
};

void run_one(Queue& queue) {
    const Reach here(queue.device);
    const Queue::Item item = std::move(queue.items.front());
    queue.items.pop_front();
    if (item.hold) {
        while (!item.hold->passed) run_one(*item.hold->queue);
    }
    if (item.work) item.work();
    if (item.mark) {
        item.mark->passed = true;
        item.mark->time = std::chrono::steady_clock::now();
    }
}

void drain(Queue& queue) {
    const Reach here(queue.device);
    while (!queue.items.empty()) run_one(queue);
}

void drain_all() {
    Simulation& s = simulation();
    for (auto& [device, queue] : s.compute) drain(queue);
    for (auto& queue : s.others) drain(*queue);
}

void put(Stream stream, std::function<void()> work) {
    Queue& queue = queue_of(stream);
    if (queue.recording)
        queue.recording->push_back(std::move(work));
    else
        queue.items.push_back({std::move(work), nullptr, nullptr});
}

/// As CUDA answers to what cannot be recorded.
void refuse_while_recording(const Queue& queue, const char* call) {
    if (queue.recording)
        throw DeviceError(std::string(call) + ": operation not permitted when stream is capturing");
}

bool is_pinned(const void* data) {
    const auto& sizes = simulation().pinned_sizes;
    const auto after = sizes.upper_bound(const_cast<void*>(data));
    if (after == sizes.begin()) return false;
    const auto& [start, size] = *std::prev(after);
    return static_cast<const std::byte*>(data) < static_cast<const std::byte*>(start) + size;
}

void require_device(const void* data, std::size_t bytes, const char* call) {
    if (bytes == 0) return;
    const auto& heaps = simulation().heaps;
    if (std::none_of(heaps.begin(), heaps.end(),
                     [&](const auto& h) { return h.second.holds(data); }))
        throw DeviceError(std::string(call) + ": invalid argument (not device memory)");
}

}  // namespace

void configure(const DeviceSettings& settings) {
    const Lock lock(simulation().mutex);
    drain_all();
    simulation().settings = settings;
}
DeviceSettings settings() { return simulation().settings; }

void fail_call(const std::string& call, int after) {
    const Lock lock(simulation().mutex);
    simulation().fault = {call, after};
}

void repair() {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    s.lost = false;
    s.fault = {};
    for (auto& [device, queue] : s.compute) queue.items.clear();
}

void refuse_memory(int after, int times) {
    const Lock lock(simulation().mutex);
    simulation().allocations_to_refusal = after;
    simulation().refusals = times;
}

std::int64_t device_bytes() {
    std::int64_t sum = 0;
    for (const auto& [data, owner] : simulation().owners)
        sum += static_cast<std::int64_t>(owner.second);
    return sum;
}
std::int64_t pinned_bytes() {
    std::int64_t sum = 0;
    for (const auto& [data, size] : simulation().pinned_sizes)
        sum += static_cast<std::int64_t>(size);
    return sum;
}

void enqueue_kernel(const char* name, const Extent& extent, Stream stream,
                    std::function<void()> body) {
    if (extent.threads < 1 || extent.threads > 1024 || extent.blocks > 0x7fffffff ||
        extent.blocks_y > 65535)
        throw DeviceError(std::string(name) + ": invalid configuration argument");
    enqueue(name, stream, [name, extent, body = std::move(body)] {
        run_grid(name, extent, simulation().settings.order, body);
    });
}

void enqueue(const char* name, Stream stream, std::function<void()> work) {
    const Lock lock(simulation().mutex);
    check(name);
    ++simulation().counts.launches;
    put(stream, std::move(work));
}

}  // namespace kernels::simt

namespace kernels::cuda {

using namespace kernels::simt;

bool built() { return true; }

int device_count() noexcept { return simulation().lost ? 0 : simulation().settings.devices; }

std::string why_absent() {
    return simulation().lost ? "the device has failed" : "the simulation has no devices";
}

DeviceInfo device_info(int index) {
    if (index < 0 || index >= simulation().settings.devices)
        throw DeviceError("cudaGetDeviceProperties: invalid device ordinal");
    return {"Simulated device",
            9,
            0,
            simulation().settings.memory_bytes,
            simulation().settings.multiprocessors,
            13000,
            13000};
}

void set_device(int index) {
    if (index < 0 || index >= simulation().settings.devices)
        throw DeviceError("cudaSetDevice: invalid device ordinal");
    device_of_thread = index;
}
int current_device() { return device_of_thread; }
int multiprocessors() { return simulation().settings.multiprocessors; }

void* allocate(std::size_t bytes) {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    check("cudaMalloc");
    std::int64_t in_use = 0;
    for (const auto& [data, owner] : s.owners)
        in_use += owner.first == device_of_thread ? static_cast<std::int64_t>(owner.second) : 0;
    const bool refused = s.refusals > 0 && s.allocations_to_refusal-- <= 0;
    if (refused) --s.refusals;
    if (refused || static_cast<std::int64_t>(bytes) > s.settings.memory_bytes - in_use)
        throw OutOfMemory(bytes);
    void* data = s.heaps[device_of_thread].take(std::max<std::size_t>(bytes, 1));
    s.owners[data] = {device_of_thread, bytes};
    ++s.counts.allocations;
    return data;
}

void release(void* data) noexcept {
    if (!data) return;
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    ++s.counts.synchronizations;
    try {
        if (!s.lost) drain_all();
    } catch (...) {
        s.lost = true;  // as a fault of the work would be, told by the next call
    }
    const auto owner = s.owners.find(data);
    s.heaps[owner->second.first].give(data);
    s.owners.erase(owner);
}

void* allocate_pinned(std::size_t bytes) {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    check("cudaHostAlloc");
    auto memory = std::make_unique<std::byte[]>(bytes);
    void* data = memory.get();
    s.pinned[data] = std::move(memory);
    s.pinned_sizes[data] = bytes;
    return data;
}

void release_pinned(void* data) noexcept {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    try {
        if (!s.lost) drain_all();
    } catch (...) {
        s.lost = true;
    }
    s.pinned.erase(data);
    s.pinned_sizes.erase(data);
}

void copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemcpyAsync");
    require_device(device, bytes, "cudaMemcpyAsync");
    if (is_pinned(host)) {
        put(stream, [=] { std::memcpy(device, host, bytes); });
        return;
    }
    refuse_while_recording(queue_of(stream), "cudaMemcpyAsync");
    const auto* from = static_cast<const std::byte*>(host);
    auto taken = std::make_shared<std::vector<std::byte>>(from, from + bytes);
    put(stream, [device, taken] {
        std::copy(taken->begin(), taken->end(), static_cast<std::byte*>(device));  // none, too
    });
}

void copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemcpyAsync");
    require_device(device, bytes, "cudaMemcpyAsync");
    put(stream, [=] { std::memcpy(host, device, bytes); });
    if (!is_pinned(host)) synchronize(stream);
}

void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemcpyAsync");
    require_device(to, bytes, "cudaMemcpyAsync");
    require_device(from, bytes, "cudaMemcpyAsync");
    put(stream, [=] { std::memmove(to, from, bytes); });
}

void copy_between_devices(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemcpyPeerAsync");
    const auto owned = [&](const void* data, int device) {
        const auto heap = simulation().heaps.find(device);
        return heap != simulation().heaps.end() && heap->second.holds(data);
    };
    if (bytes > 0 && !(owned(to, to_device) && owned(from, from_device)))
        throw DeviceError("cudaMemcpyPeerAsync: invalid argument (not that device's memory)");
    put(stream, [=] {
        const Access target(simulation().heaps[to_device]), source(simulation().heaps[from_device]);
        std::memcpy(to, from, bytes);
    });
}

void set_zero(void* device, std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemsetAsync");
    require_device(device, bytes, "cudaMemsetAsync");
    put(stream, [=] { std::memset(device, 0, bytes); });
}

Stream make_stream() {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    check("cudaStreamCreate");
    s.others.push_back(std::make_unique<Queue>());
    s.others.back()->device = device_of_thread;
    return {s.others.back().get()};
}

void release(Stream stream) noexcept {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    try {
        if (!s.lost) drain_all();
    } catch (...) {
        s.lost = true;
    }
    std::erase_if(s.others, [&](const auto& queue) { return queue.get() == stream.handle; });
}

void synchronize(Stream stream) {
    const Lock lock(simulation().mutex);
    ++simulation().counts.synchronizations;
    check("cudaStreamSynchronize");
    refuse_while_recording(queue_of(stream), "cudaStreamSynchronize");
    drain(queue_of(stream));
}

namespace {
std::shared_ptr<Mark>& mark_of(void* handle) {
    return *static_cast<std::shared_ptr<Mark>*>(handle);
}
}  // namespace

Event::Event() : handle_(new std::shared_ptr<Mark>(std::make_shared<Mark>())) {}
Event::~Event() { delete static_cast<std::shared_ptr<Mark>*>(handle_); }

void Event::record(Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaEventRecord");
    Queue& queue = queue_of(stream);
    refuse_while_recording(queue, "cudaEventRecord");
    mark_of(handle_) = std::make_shared<Mark>();  // a hold on the former one stays with it
    mark_of(handle_)->queue = &queue;
    mark_of(handle_)->passed = false;
    queue.items.push_back({nullptr, mark_of(handle_), nullptr});
}

void Event::hold(Stream stream) const {
    const Lock lock(simulation().mutex);
    check("cudaStreamWaitEvent");
    refuse_while_recording(queue_of(stream), "cudaStreamWaitEvent");
    queue_of(stream).items.push_back({nullptr, nullptr, mark_of(handle_)});
}

bool Event::passed() const {
    const Lock lock(simulation().mutex);
    check("cudaEventQuery");
    const auto& mark = mark_of(handle_);
    if (!mark->passed) {  // time passes while one asks, the faster the longer one does
        const Reach there(mark->queue->device);
        const int items = 1 << std::min(mark->asked++, 10);
        for (int i = 0; i < items && !mark->passed; ++i) run_one(*mark->queue);
    }
    return mark->passed;
}

void Event::synchronize() const {
    const Lock lock(simulation().mutex);
    ++simulation().counts.synchronizations;
    check("cudaEventSynchronize");
    const auto& mark = mark_of(handle_);
    while (!mark->passed) run_one(*mark->queue);
}

float Event::ms_since(const Event& start) const {
    const Lock lock(simulation().mutex);
    const auto &from = mark_of(start.handle_), &to = mark_of(handle_);
    if (!from->passed || !to->passed) throw DeviceError("cudaEventElapsedTime: device not ready");
    return std::chrono::duration<float, std::milli>(to->time - from->time).count();
}

CallCounts call_counts() noexcept { return simulation().counts; }

namespace {

class RecordedGraph final : public Graph {
public:
    explicit RecordedGraph(std::vector<std::function<void()>> work) : work_(std::move(work)) {}
    void launch(Stream stream) override {
        const Lock lock(simulation().mutex);
        check("cudaGraphLaunch");
        ++simulation().counts.launches;
        for (const auto& work : work_) put(stream, work);
    }
    std::int64_t nodes() const override { return static_cast<std::int64_t>(work_.size()); }

private:
    std::vector<std::function<void()>> work_;
};

}  // namespace

void begin_capture(Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaStreamBeginCapture");
    queue_of(stream).recording = new std::vector<std::function<void()>>;
}

bool capturing(Stream stream) {
    const Lock lock(simulation().mutex);
    return queue_of(stream).recording != nullptr;
}

std::unique_ptr<Graph> end_capture(Stream stream) {
    const Lock lock(simulation().mutex);
    const std::unique_ptr<std::vector<std::function<void()>>> work(
        std::exchange(queue_of(stream).recording, nullptr));
    check("cudaStreamEndCapture");
    if (!work) throw DeviceError("cudaStreamEndCapture: stream is not capturing");
    return std::make_unique<RecordedGraph>(std::move(*work));
}

void abandon_capture(Stream stream) noexcept {
    const Lock lock(simulation().mutex);
    delete std::exchange(queue_of(stream).recording, nullptr);
}

}  // namespace kernels::cuda
