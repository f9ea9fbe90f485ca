#include "simt/simulation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"
#include "simt/block.h"
#include "simt/queue.h"
#include "simt/races.h"
#include "simt/work_counts.h"

namespace kernels::simt {

namespace {

/// HALFTONE_SIMT_ORDER=backward reverses the order of the threads. CTest does not set it.
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

/// Reported at once if possible, otherwise by the next call, and at the latest by the exit code.
void lose(const char* finding) {
    Simulation& s = simulation();
    std::fprintf(stderr, "simulated device, while memory or a stream was given back: %s\n",
                 finding);
    s.lost = true;
    s.lost_to = finding;
    s.finding_untold = true;
}

void fail_for_an_untold_finding() {
    if (!simulation().finding_untold) return;
    std::fputs("simulated device: the finding above was not told to any test\n", stderr);
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
}

}  // namespace

Simulation& simulation() {
    static auto* only = [] {  // never destroyed, since memory may be freed at exit
        auto* made = new Simulation;
        made->settings = initial_settings();
        std::atexit(fail_for_an_untold_finding);
        return made;
    }();
    return *only;
}

Reach::Reach(int device) : before_(simulation().reached) { reach(device); }
Reach::~Reach() { reach(before_); }

std::string fault_text() {
    const std::string& found = simulation().lost_to;
    return found.empty() ? "an illegal memory access was encountered (simulated fault)" : found;
}

void check(const std::string& call) {
    Simulation& s = simulation();
    if (!s.lost && s.fault.after >= 0 && call.find(s.fault.call) != std::string::npos &&
        s.fault.after-- == 0)
        s.lost = true;
    if (!s.lost) return;
    s.finding_untold = false;
    throw DeviceError(call + ": " + fault_text());
}

Queue& queue_of(Stream stream) {
    if (stream.handle) return *static_cast<Queue*>(stream.handle);
    const int device = use_device();
    Queue& queue = simulation().compute[device];
    queue.device = device;
    return queue;
}

bool run_one(Queue& queue) {
    const Reach here(queue.device);
    {
        const Queue::Item& next = queue.items.front();
        while (next.hold && !next.hold->passed) {
            if (!run_one(*next.hold->queue)) return false;
        }
        if (next.ready && !next.ready()) return false;
    }
    const Queue::Item item = std::move(queue.items.front());
    queue.items.pop_front();
    if (item.work) item.work();
    if (item.mark) {
        count_run("mark");
        item.mark->passed = true;
        item.mark->time = std::chrono::steady_clock::now();
    }
    return true;
}

void wait_for_others() {
    constexpr std::chrono::seconds limit{60};  // a test must not hang
    Simulation& s = simulation();
    if (s.changed.wait_for(s.mutex, limit) == std::cv_status::timeout)
        throw DeviceError("simulated device: another rank was waited for too long");
}

bool run_until_passed(Queue& queue, const Mark& mark) {
    const Reach here(queue.device);
    while (!mark.passed) {
        if (!run_one(queue)) return false;
    }
    return true;
}

namespace {

void run_what_can_run(Queue& queue) {
    if (queue.items.empty()) return;
    const Reach here(queue.device);
    while (!queue.items.empty() && run_one(queue)) {
    }
}

}  // namespace

void drain(Queue& queue) {
    for (run_what_can_run(queue); !queue.items.empty(); run_what_can_run(queue)) wait_for_others();
}

void drain_all() {
    Simulation& s = simulation();
    for (auto& [device, queue] : s.compute) run_what_can_run(queue);
    for (auto& queue : s.others) run_what_can_run(*queue);
}

namespace {

bool is_idle(int device) {
    const Simulation& s = simulation();
    const auto compute = s.compute.find(device);
    return (compute == s.compute.end() || compute->second.items.empty()) &&
           std::ranges::none_of(s.others, [device](const auto& queue) {
               return queue->device == device && !queue->items.empty();
           });
}

template <typename F>
void or_lose(const F& work) noexcept {
    try {
        if (!simulation().lost) work();
    } catch (const std::exception& error) {
        lose(error.what());
    }
}

}  // namespace

void finish_all() noexcept { or_lose(drain_all); }

void finish_all(int device) noexcept {
    or_lose([device] {
        for (drain_all(); !is_idle(device); drain_all()) wait_for_others();
    });
}

void forget(Queue& queue) {
    for (const Queue::Item& item : queue.items) {
        if (item.mark) item.mark->passed = true;
    }
    queue.items.clear();
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
    {
        const Lock lock(s.mutex);
        s.lost = false;
        s.lost_to.clear();
        s.fault = {};
        for (auto& [device, queue] : s.compute) forget(queue);
        for (auto& queue : s.others) forget(*queue);
    }
    // A kernel that ended in its midst has left the counts of its blocks as they were.
    cuda::release_workspaces();
}

void refuse_memory(int after, int times) {
    const Lock lock(simulation().mutex);
    simulation().allocation_failures = {after, times};
}
void refuse_pinned_memory(int after, int times) {
    const Lock lock(simulation().mutex);
    simulation().pinned_failures = {after, times};
}

std::int64_t device_choices(int device) {
    const Lock lock(simulation().mutex);
    return simulation().choices[device];
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
        const Traffic moved = traffic_of_launch();
        count_bytes(name, moved.read, moved.written);
    });
}

void enqueue(const char* name, Stream stream, std::function<void()> work) {
    const Lock lock(simulation().mutex);
    check(name);
    ++simulation().counts.launches;
    put(stream, [name, work = std::move(work)] {
        count_run(name);
        work();
    });
}

}  // namespace kernels::simt
