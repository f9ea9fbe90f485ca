#include "simt/simulation.h"

#include <cstdlib>

#include "kernels/device_error.h"
#include "simt/block.h"
#include "simt/queue.h"

namespace kernels::simt {

thread_local int device_of_thread = 0;

namespace {

/// Tests vary the order of threads from outside too: HALFTONE_SIMT_ORDER=backward.
DeviceSettings initial_settings() {
    const char* order = std::getenv("HALFTONE_SIMT_ORDER");
    DeviceSettings settings;
    if (order != nullptr && std::string(order) == "backward")
        settings.order = ThreadOrder::backward;
    return settings;
}

void reach(int device) {
    Simulation& s = simulation();
    if (device == s.reached) return;
    if (s.reached >= 0) s.heaps[s.reached].close();
    s.reached = device;
    if (device >= 0) s.heaps[device].open();
}

}  // namespace

Simulation& simulation() {
    static auto* only = [] {  // outlives whatever frees memory at exit
        auto* made = new Simulation;
        made->settings = initial_settings();
        return made;
    }();
    return *only;
}

Reach::Reach(int device) : before_(simulation().reached) { reach(device); }
Reach::~Reach() { reach(before_); }

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

void finish_all() noexcept {
    Simulation& s = simulation();
    try {
        if (!s.lost) drain_all();
    } catch (...) {
        s.lost = true;
    }
}

void put(Stream stream, std::function<void()> work) {
    Queue& queue = queue_of(stream);
    if (queue.recording)
        queue.recording->push_back(std::move(work));
    else
        queue.items.push_back({std::move(work), nullptr, nullptr});
}

void refuse_while_recording(const Queue& queue, const char* call) {
    if (queue.recording)
        throw DeviceError(std::string(call) + ": operation not permitted when stream is capturing");
}

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
