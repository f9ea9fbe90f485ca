#include <algorithm>

#include "engine/error.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "train/trainer.h"

// The step as one CUDA graph (D5).
namespace engine {
namespace {

/// Work given to the compute stream is recorded instead of run while the object lives.
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

/// Full batches are alike; what the host must see of a step has it computed eagerly.
bool Trainer::may_replay(std::span<const Batch> batches) const {
    const auto full = [&](const Batch& batch) { return batch.size() == config_.batch_size; };
    return recording_ && device_.kind == Device::Kind::cuda && dump_path_.empty() &&
           static_cast<std::int64_t>(batches.size()) == config_.accumulate &&
           std::all_of(batches.begin(), batches.end(), full);
}

void Trainer::fill_static_inputs(std::span<const Batch> batches, BatchFeed& feed) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const DeviceBatch from = feed.upload(batches[i]);
        const DeviceBatch& to = recorded_->inputs[i];
        copy_bytes(to.inputs.data(), from.inputs.data(), to.inputs.bytes(), device_);
        copy_bytes(to.labels.data(), from.labels.data(), to.labels.bytes(), device_);
        feed.used(from);
    }
}

/// Records the step over static inputs; nothing of it runs. Throws Error, kernels::DeviceError.
Trainer::RecordedStep Trainer::recorded_step() {
    RecordedStep step{std::make_shared<MemoryPool>(device_), {}, nullptr};
    // The graph's memory is its own: what the eager steps have left, gradients too, is needed for
    // it, and goes back to the driver before the recording and not in it.
    optimizer_->zero_grad();
    release_cached_memory();
    const UseScope use(MemoryUse::workspace);
    for (std::int64_t i = 0; i < config_.accumulate; ++i)
        step.inputs.push_back(empty_batch(device_, sample_, config_.batch_size));
    const UseScope of_step(MemoryUse::activations);
    const PoolScope pool(step.pool);
    CaptureScope capture;
    compute(step.inputs.size(),
            {[&](std::size_t i) { return step.inputs[i]; }, [](const DeviceBatch&) {}}, nullptr);
    step.graph = capture.end();
    return step;
}

/// False if the step cannot be recorded, for want of memory or because something in it must be seen
/// by the host: then steps stay eager, and the user is told.
bool Trainer::record() {
    recording_ = false;  // unless it comes to its end
    try {
        recorded_ = recorded_step();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory && error.code() != ErrorCode::device) throw;
        stay_eager(error.code() == ErrorCode::memory, error.message().str());
        return false;
    } catch (const kernels::DeviceError& error) {
        stay_eager(dynamic_cast<const kernels::OutOfMemory*>(&error) != nullptr, error.what());
        return false;
    }
    recording_ = true;
    return true;
}

/// After a recording that came to nothing: forgets what it has left, which nothing ever computed.
/// From a handler: throws the error on if the device has failed for good.
void Trainer::stay_eager(bool out_of_memory, const std::string& reason) {
    scaler_->forget();
    optimizer_->zero_grad();
    // What one block of the recording's own memory is kept by keeps all of it.
    judgement_ = {};
    optimizer_->clip = {};
    if (kernels::cuda::device_count() == 0) throw;
    if (out_of_memory) {
        warnings_.push_back(
            msg("There is too little memory to record the step as a CUDA graph, so its kernels are "
                "given one by one, which costs small models time. A smaller batch_size leaves "
                "room."));
    } else {
        warnings_.push_back(
            msg("The step cannot be recorded as a CUDA graph, so its kernels are given one by one, "
                "which costs small models time: {}.",
                reason));
    }
}

void Trainer::replay(std::span<const Batch> batches, BatchFeed& feed) {
    fill_static_inputs(batches, feed);
    recorded_->graph->launch(current_stream());
    optimizer_->note_replay();
    ++replayed_;
}

}  // namespace engine
