#include "train/step_graph.h"

#include <algorithm>
#include <utility>

#include "engine/error.h"
#include "kernels/device.h"
#include "kernels/device_error.h"

namespace engine {
namespace {

/// Work given to the compute stream is captured instead of run while the object lives.
class CaptureScope {
public:
    CaptureScope() { kernels::cuda::begin_capture(current_stream()); }
    ~CaptureScope() {
        if (open_) kernels::cuda::abandon_capture(current_stream());
    }
    CaptureScope(const CaptureScope&) = delete;
    CaptureScope& operator=(const CaptureScope&) = delete;
    std::unique_ptr<kernels::cuda::Graph> end() {
        open_ = false;
        return kernels::cuda::end_capture(current_stream());
    }

private:
    bool open_ = true;
};

}  // namespace

StepGraph::StepGraph(TrainStep& step, const Schema& schema, const Device& device, std::int64_t rows,
                     std::int64_t accumulate)
    : step_(step), schema_(schema), device_(device), rows_(rows), accumulate_(accumulate) {}

std::vector<Message> StepGraph::take_warnings() { return std::exchange(warnings_, {}); }

/// Full batches are alike; an observed step is computed eagerly.
bool StepGraph::is_alike(std::span<const Batch> batches) const {
    const auto full = [&](const Batch& batch) { return batch.full && batch.rows() == rows_; };
    return enabled_ && device_.kind == Device::Kind::cuda && !step_.is_observed() &&
           static_cast<std::int64_t>(batches.size()) == accumulate_ &&
           std::all_of(batches.begin(), batches.end(), full);
}

bool StepGraph::prepare(std::span<const Batch> batches) {
    // The first steps make the optimizer's state, the plans of the libraries and the cached blocks.
    constexpr int first_steps = 3;
    if (!is_alike(batches)) return false;
    if (captured_) return true;
    if (eager_steps_ < first_steps) {
        ++eager_steps_;
        return false;
    }
    return capture();
}

void StepGraph::replay(std::span<const Batch> batches, BatchFeed& feed) {
    fill_inputs(batches, feed);
    captured_->graph->launch(current_stream());
    step_.note_replay();
    ++replays_;
}

void StepGraph::fill_inputs(std::span<const Batch> batches, BatchFeed& feed) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const DeviceBatch from = feed.upload(batches[i]);
        const DeviceBatch& to = captured_->inputs[i];
        for (std::size_t f = 0; f < to.fields.size(); ++f)
            copy_bytes(to[f].data(), from[f].data(), to[f].bytes(), device_);
        feed.used(from);
    }
}

/// Captures the step over static inputs; nothing of it runs. Throws Error, kernels::DeviceError.
StepGraph::Captured StepGraph::captured_step() {
    Captured out{std::make_shared<MemoryPool>(device_), {}, nullptr};
    // The graph has its own memory. The memory of the eager steps, gradients too, is needed for it,
    // and is released to the driver before the capture, not during it.
    step_.zero_grad();
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
/// in it: then steps stay eager, with a warning.
bool StepGraph::capture() {
    enabled_ = false;  // unless it succeeds
    try {
        captured_ = captured_step();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory && error.code() != ErrorCode::device) throw;
        stay_eager(error.code() == ErrorCode::memory, error.message().str());
        return false;
    } catch (const kernels::DeviceError& error) {
        stay_eager(dynamic_cast<const kernels::OutOfMemory*>(&error) != nullptr, error.what());
        return false;
    }
    enabled_ = true;
    return true;
}

/// After a failed capture, from a handler: throws the error on if the device has failed for good.
void StepGraph::stay_eager(bool out_of_memory, const std::string& reason) {
    step_.forget_captured();
    if (kernels::cuda::device_count() == 0) throw;
    if (out_of_memory) {
        warnings_.push_back(
            msg("There is too little memory to capture the step as a CUDA graph, so its kernels "
                "are launched one by one, which slows small models down. A smaller batch_size "
                "leaves room."));
    } else {
        warnings_.push_back(
            msg("The step cannot be captured as a CUDA graph, so its kernels are launched one by "
                "one, which slows small models down: {}.",
                reason));
    }
}

}  // namespace engine
