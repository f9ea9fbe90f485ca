#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/cuda_graph.h"
#include "tensor/memory/reclaimable_cache.h"
#include "tensor/memory/memory_pool.h"
#include "train/step/batch_feed.h"
#include "train/step/evaluator.h"

namespace engine {

/// The batches of evaluations as one CUDA graph: after a few eager ones the forward pass is
/// captured over static inputs, and then replayed for each full batch. Weights that change in place
/// are those of the moment. If they move, or their 16-bit copies are no longer kept, the graph is
/// dropped and captured anew. Batches of another size are computed eagerly, and so are all of them
/// if a batch cannot be captured, with a warning.
///
/// An evaluation is right without its graph, only slower. So where memory is wanted on the device,
/// the graph gives back what it has added to that of the captured step (ReclaimableCache): the pass that
/// is under way goes on eagerly, and a later one captures the batch anew. That ends, with a
/// warning, when its memory was wanted in `max_losses` passes: else the run would capture and drop
/// the graph in each epoch.
class EvaluationGraph {
public:
    /// `schema`: of the static inputs.
    EvaluationGraph(Evaluator& evaluator, const Model& model, const MixedPrecision& precision,
                    const Schema& schema, const Device& device);
    EvaluationGraph(const EvaluationGraph&) = delete;
    EvaluationGraph& operator=(const EvaluationGraph&) = delete;

    /// A pass over a part begins.
    void begin();
    /// Evaluates a batch, and returns what the task predicted, on the device: the next replay
    /// overwrites it. A capture borrows what is free of `pool`, that of the captured step, whose
    /// replays never overlap with those of this graph. `pool` may be null. Throws Error.
    Tensor add(const Batch& batch, BatchFeed& feed, const std::shared_ptr<MemoryPool>& pool);

    /// On unless it is switched off.
    void set_enabled(bool on) { enabled_ = on; }
    std::int64_t replays() const { return replays_; }
    /// How many graphs were captured.
    std::int64_t captures() const { return captures_; }
    /// Kernels, copies and fills in the captured batch; 0 where there is none.
    std::int64_t nodes() const { return captured_ ? captured_->graph->nodes() : 0; }
    std::vector<Message> take_warnings();
    static constexpr int max_losses = 3;

private:
    using Addresses = std::vector<const void*>;
    /// A batch's evaluation over inputs that lie where the capture read them.
    struct Captured {
        std::shared_ptr<MemoryPool> pool;
        Addresses places;  ///< of what the graph reads and writes beside its own memory
        DeviceBatch input;
        Tensor predicted;
        std::unique_ptr<kernels::cuda::Graph> graph;
    };
    bool may_replay(const Batch& batch) const;
    bool is_as_captured(std::int64_t rows);
    bool prepare(const Batch& batch, const std::shared_ptr<MemoryPool>& pool);
    std::optional<Tensor> replay(const Batch& batch, BatchFeed& feed);
    bool give_memory_back() noexcept;
    Addresses places(std::int64_t rows);
    Captured captured_batch(std::int64_t rows, const std::shared_ptr<MemoryPool>& pool);
    bool capture(std::int64_t rows, const std::shared_ptr<MemoryPool>& pool);

    Evaluator& evaluator_;
    const Model& model_;
    const MixedPrecision& precision_;
    Schema schema_;
    Device device_;
    std::optional<Captured> captured_;
    bool enabled_ = true;
    int eager_batches_ = 0;  // full ones of eager_rows_
    std::int64_t eager_rows_ = 0;
    std::int64_t replays_ = 0, captures_ = 0;
    bool gave_back_ = false;  // in this pass
    int losses_ = 0;          // passes in which it did
    std::vector<Message> warnings_;
    ReclaimableCache giver_;  // last: asked until it ends
};

}  // namespace engine
