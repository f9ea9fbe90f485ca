#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "cuda/absence.h"
#include "cuda/launch.cuh"
#include "cuda/recording.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "simt/simulation.h"

// The simulated device itself, its streams, events and graphs.

namespace kernels::cuda {

using namespace kernels::simt;

bool built() { return true; }

namespace {

Survey survey() {
    const DeviceSettings& settings = simulation().settings;
    Survey out{.driver = 13000, .runtime = 13000, .error = {}, .cards = {}};
    for (int i = 0; i < settings.devices; ++i)
        out.cards.push_back({i, "Simulated device", 9, 0, settings.has_code});
    return out;
}

}  // namespace

int device_count() noexcept {
    const DeviceSettings& settings = simulation().settings;
    return simulation().lost || !settings.has_code ? 0 : settings.devices;
}

std::string why_absent() {
    return simulation().lost ? "the device has failed" : why_unusable(survey());
}

std::string lost_to() { return simulation().lost ? fault_text() : std::string(); }

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

namespace {
thread_local int device_of_thread = no_device;
}

void set_device(int index) {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    if (index != no_device && (index < 0 || index >= s.settings.devices))
        throw DeviceError("cudaSetDevice: invalid device ordinal");
    if (index != no_device) ++s.choices[index];
    device_of_thread = index;
}
int current_device() { return std::max(device_of_thread, 0); }
int chosen_device() { return device_of_thread; }
int multiprocessors() { return simulation().settings.multiprocessors; }

Stream make_stream() {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    check("cudaStreamCreate");
    s.others.push_back(std::make_unique<Queue>());
    s.others.back()->device = use_device();
    return {s.others.back().get()};
}

void release(Stream stream) noexcept {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    finish_all();
    if (stream.handle) forget(queue_of(stream));
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
    mark_of(handle_) = std::make_shared<Mark>();  // a hold on the previous mark stays with that
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
    if (!mark->passed) {  // time passes with each query, the faster the more there are
        const int items = 1 << std::min(mark->asked++, 10);
        for (int i = 0; i < items && !mark->passed; ++i) {
            if (!run_one(*mark->queue)) break;
        }
    }
    return mark->passed;
}

void Event::synchronize() const {
    const Lock lock(simulation().mutex);
    ++simulation().counts.synchronizations;
    check("cudaEventSynchronize");
    const auto& mark = mark_of(handle_);
    while (!mark->passed) {
        if (!run_until_passed(*mark->queue, *mark)) wait_for_others();
    }
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
    RecordedGraph(std::vector<std::function<void()>> work, cuda::Kept kept)
        : work_(std::move(work)), kept_(std::move(kept)) {}
    ~RecordedGraph() override {
        const Lock lock(simulation().mutex);
        if (!kept_.empty()) finish_all();  // the real one waits before it frees plans
    }
    RecordedGraph(const RecordedGraph&) = delete;
    RecordedGraph& operator=(const RecordedGraph&) = delete;
    void launch(Stream stream, std::shared_ptr<Event> mark) override {
        const Lock lock(simulation().mutex);
        check("cudaGraphLaunch");
        ++simulation().counts.launches;
        for (const auto& work : work_) put(stream, work);
        if (mark) mark->record(stream);
    }
    std::int64_t nodes() const override { return static_cast<std::int64_t>(work_.size()); }

private:
    std::vector<std::function<void()>> work_;
    cuda::Kept kept_;
};

}  // namespace

void begin_capture(Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaStreamBeginCapture");
    queue_of(stream).recording = new std::vector<std::function<void()>>;
    start_keeping(stream);
}

bool capturing(Stream stream) {
    const Lock lock(simulation().mutex);
    return queue_of(stream).recording != nullptr;
}

std::unique_ptr<Graph> end_capture(Stream stream) {
    Kept kept = end_keeping(stream);
    const Lock lock(simulation().mutex);
    const std::unique_ptr<std::vector<std::function<void()>>> work(
        std::exchange(queue_of(stream).recording, nullptr));
    check("cudaStreamEndCapture");
    if (!work) throw DeviceError("cudaStreamEndCapture: stream is not capturing");
    for (const char* call : {"cudaGraphInstantiate", "cudaGraphUpload"}) {
        check(call);
        if (simulation().allocation_failures.next()) throw OutOfMemory(0);
    }
    return std::make_unique<RecordedGraph>(std::move(*work), std::move(kept));
}

void abandon_capture(Stream stream) noexcept {
    const Kept kept = end_keeping(stream);
    const Lock lock(simulation().mutex);
    delete std::exchange(queue_of(stream).recording, nullptr);
}

}  // namespace kernels::cuda

int kernels::simt::use_device() {
    if (cuda::chosen_device() == cuda::no_device) cuda::set_device(cuda::current_device());
    return cuda::current_device();
}
