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

/// Records the step over static inputs; nothing of it runs. False if it cannot be recorded, for
/// want of memory or because something in it must be seen by the host: then steps stay eager.
bool Trainer::record() {
    RecordedStep step{std::make_shared<MemoryPool>(device_), {}, nullptr};
    recording_ = false;  // unless it comes to its end
    // The graph's memory is its own: what the eager steps have left is needed for it.
    release_cached_memory();
    try {
        const UseScope use(MemoryUse::workspace);
        for (std::int64_t i = 0; i < config_.accumulate; ++i)
            step.inputs.push_back(empty_batch(device_, sample_, config_.batch_size));
        const UseScope of_step(MemoryUse::activations);
        const PoolScope pool(step.pool);
        CaptureScope capture;
        compute(step.inputs.size(),
                {[&](std::size_t i) { return step.inputs[i]; }, [](const DeviceBatch&) {}},
                nullptr);
        step.graph = capture.end();
    } catch (const Error& error) {
        scaler_->forget();
        const bool lost = kernels::cuda::device_count() == 0;  // it has failed for good
        if (lost || (error.code() != ErrorCode::memory && error.code() != ErrorCode::device)) throw;
        return false;
    } catch (const kernels::DeviceError&) {
        scaler_->forget();
        if (kernels::cuda::device_count() == 0) throw;
        return false;
    }
    recording_ = true;
    recorded_ = std::move(step);
    return true;
}

void Trainer::replay(std::span<const Batch> batches, BatchFeed& feed) {
    fill_static_inputs(batches, feed);
    recorded_->graph->launch(current_stream());
    optimizer_->note_replay();
    ++replayed_;
}

}  // namespace engine
