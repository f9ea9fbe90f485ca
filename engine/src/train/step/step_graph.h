#pragma once

#include <memory>
#include <span>
#include <vector>

#include "data/loader/batch.h"
#include "engine/base/message.h"
#include "kernels/cuda_graph.h"
#include "tensor/memory/memory_pool.h"
#include "train/step/batch_feed.h"
#include "train/step/train_step.h"

namespace engine {

/// Eager computations before the first capture: they make the optimizer's state, the plans of the
/// libraries and the cached blocks.
constexpr int eager_before_capture = 3;

/// Work given to the compute stream is captured instead of run while the object lives.
class CaptureScope {
public:
    CaptureScope();
    ~CaptureScope();
    CaptureScope(const CaptureScope&) = delete;
    CaptureScope& operator=(const CaptureScope&) = delete;
    /// Throws kernels::DeviceError.
    std::unique_ptr<kernels::cuda::Graph> end();

private:
    bool open_ = true;
};

/// Why a capture failed that leaves the device as it was, so that the work can be done eagerly.
struct FailedCapture {
    bool out_of_memory;
    std::string reason;
};

/// Within a handler of a capture's error: why it failed. Throws the error on if it is none of the
/// capture's, or if the device has failed for good.
FailedCapture why_capture_failed();

/// A TrainStep as one CUDA graph (decisions.md#whole-step, D5): captured over static inputs after a
/// few eager steps, then replayed. A step that cannot be captured stays eager, with a warning.
class StepGraph {
public:
    /// Steps of `accumulate` batches of `rows` rows.
    StepGraph(TrainStep& step, const Schema& schema, const Device& device, std::int64_t rows,
              std::int64_t accumulate);

    /// Whether the step on these batches can be replayed; captures it if it is time. Otherwise
    /// compute it eagerly: on a CPU, for the first steps, and for batches of other shapes. Throws
    /// Error.
    bool prepare(std::span<const Batch> batches);
    /// Needs prepare(). Records `mark` (may be null) behind the step. Throws Error.
    void replay(std::span<const Batch> batches, BatchFeed& feed,
                std::shared_ptr<kernels::cuda::Event> mark = nullptr);

    /// On unless it is switched off.
    void set_enabled(bool on) { enabled_ = on; }
    std::int64_t replays() const { return replays_; }
    /// Kernels, copies and fills in the captured step; 0 where there is none.
    std::int64_t nodes() const { return captured_ ? captured_->graph->nodes() : 0; }
    /// Memory pool of the captured step; null where there is none.
    std::shared_ptr<MemoryPool> pool() const;
    std::vector<Message> take_warnings();

private:
    /// The step over inputs that lie where the capture read them.
    struct Captured {
        std::shared_ptr<MemoryPool> pool;
        std::vector<DeviceBatch> inputs;
        std::unique_ptr<kernels::cuda::Graph> graph;
    };
    bool is_alike(std::span<const Batch> batches) const;
    Captured captured_step();
    bool capture();
    void stay_eager(const FailedCapture& failed);

    TrainStep& step_;
    Schema schema_;
    Device device_;
    std::int64_t rows_, accumulate_;
    std::optional<Captured> captured_;
    bool enabled_ = true;
    int eager_steps_ = 0;  // of full batches
    std::int64_t replays_ = 0;
    std::vector<Message> warnings_;
};

}  // namespace engine
