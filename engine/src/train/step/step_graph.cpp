#include "train/step/step_graph.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "tensor/device.h"
#include "tensor/memory/reclaimable_cache.h"

namespace engine {

CaptureScope::CaptureScope() { kernels::cuda::begin_capture(current_stream()); }

CaptureScope::~CaptureScope() {
    if (open_) kernels::cuda::abandon_capture(current_stream());
}

std::unique_ptr<kernels::cuda::Graph> CaptureScope::end() {
    open_ = false;
    return kernels::cuda::end_capture(current_stream());
}

FailedCapture why_capture_failed() {
    FailedCapture out{};
    try {
        throw;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory && error.code() != ErrorCode::device) throw;
        out = {error.code() == ErrorCode::memory, error.message().str()};
    } catch (const kernels::DeviceError& error) {
        out = {dynamic_cast<const kernels::OutOfMemory*>(&error) != nullptr, error.what()};
    }
    if (kernels::cuda::device_count() == 0) throw;
    return out;
}

StepGraph::StepGraph(TrainStep& step, const Schema& schema, const Device& device, std::int64_t rows,
                     std::int64_t accumulate)
    : step_(step), schema_(schema), device_(device), rows_(rows), accumulate_(accumulate) {}

std::vector<Message> StepGraph::take_warnings() { return std::exchange(warnings_, {}); }

std::shared_ptr<MemoryPool> StepGraph::pool() const {
    return captured_ ? captured_->pool : nullptr;
}

/// Full batches are alike; an observed step is computed eagerly.
bool StepGraph::is_alike(std::span<const Batch> batches) const {
    const auto full = [&](const Batch& batch) { return batch.full && batch.rows() == rows_; };
    return enabled_ && device_.kind == Device::Kind::cuda && !step_.observers().any() &&
           static_cast<std::int64_t>(batches.size()) == accumulate_ &&
           std::all_of(batches.begin(), batches.end(), full) &&
           (!captured_ || std::ranges::all_of(batches, [&](const Batch& batch) {
               return has_canvas_of(captured_->inputs.front(), schema_, batch);
           }));
}

bool StepGraph::prepare(std::span<const Batch> batches) {
    if (!is_alike(batches)) return false;
    if (captured_) return true;
    if (eager_steps_ < eager_before_capture) {
        ++eager_steps_;
        return false;
    }
    schema_ = with_canvas(std::move(schema_), batches.front());
    return capture();
}

void StepGraph::replay(std::span<const Batch> batches, BatchFeed& feed,
                       std::shared_ptr<kernels::cuda::Event> mark) {
    for (std::size_t i = 0; i < batches.size(); ++i) feed.fill(batches[i], captured_->inputs[i]);
    captured_->graph->launch(current_stream(), std::move(mark));
    step_.update().note_replay();
    ++replays_;
}

/// Captures the step over static inputs; nothing of it runs. Throws Error, kernels::DeviceError.
StepGraph::Captured StepGraph::captured_step() {
    Captured out{std::make_shared<MemoryPool>(device_), {}, nullptr};
    // The graph has its own memory. The memory of the eager steps, gradients too, is needed for it,
    // and is released to the driver before the capture, not during it.
    step_.update().zero_grad();
    release_cached_memory();
    const UseScope use(MemoryUse::workspace);
    for (std::int64_t i = 0; i < accumulate_; ++i)
        out.inputs.push_back(empty_batch(device_, schema_, rows_));
    const UseScope of_step(MemoryUse::activations);
    const PoolScope pool(out.pool);
    CaptureScope scope;
    step_.compute(out.inputs.size(),
                  {[&](std::size_t i) { return out.inputs[i]; }, [](const DeviceBatch&) {}},
                  nullptr);
    out.graph = scope.end();
    return out;
}

/// False if the step cannot be captured, for lack of memory or because the host must read something
/// in it: then steps stay eager, with a warning. Nobody is asked for memory within a capture, so
/// that is done after one that lacked some.
bool StepGraph::capture() {
    enabled_ = false;  // unless it succeeds
    FailedCapture failed{};
    do {
        try {
            captured_ = captured_step();
            enabled_ = true;
            return true;
        } catch (...) {
            step_.forget_captured();
            failed = why_capture_failed();
        }
    } while (failed.out_of_memory && reclaim(device_));
    stay_eager(failed);
    return false;
}

void StepGraph::stay_eager(const FailedCapture& failed) {
    if (failed.out_of_memory) {
        warnings_.push_back(
            msg("There is too little memory to capture the step as a CUDA graph, so its kernels "
                "are launched one by one, which slows small models down. A smaller batch_size "
                "leaves room."));
    } else {
        warnings_.push_back(
            msg("The step cannot be captured as a CUDA graph, so its kernels are launched one by "
                "one, which slows small models down: {}.",
                failed.reason));
    }
}

}  // namespace engine
