#include "train/step/evaluation_graph.h"

#include <utility>

#include "train/step/step_graph.h"

namespace engine {

EvaluationGraph::EvaluationGraph(Evaluator& evaluator, const Model& model,
                                 const MixedPrecision& precision, const Schema& schema,
                                 const Device& device)
    : evaluator_(evaluator),
      model_(model),
      precision_(precision),
      schema_(schema),
      device_(device),
      giver_(device, [this] { return give_memory_back(); }) {}

std::vector<Message> EvaluationGraph::take_warnings() { return std::exchange(warnings_, {}); }

void EvaluationGraph::begin() {
    giver_.claim();
    if (!std::exchange(gave_back_, false) || ++losses_ < max_losses) return;
    enabled_ = false;
    warnings_.push_back(
        msg("Evaluations are no longer captured as a CUDA graph, because the memory of the graph "
            "was needed again and again. Their kernels are launched one by one, which slows small "
            "models down. A smaller batch_size leaves room."));
}

Tensor EvaluationGraph::add(const Batch& batch, BatchFeed& feed,
                            const std::shared_ptr<MemoryPool>& pool) {
    giver_.claim();
    if (prepare(batch, pool)) {
        if (const auto predicted = replay(batch, feed)) return *predicted;
    }
    return evaluator_.add(batch, feed);
}

/// Nothing if the graph had to go for the memory of the batch.
std::optional<Tensor> EvaluationGraph::replay(const Batch& batch, BatchFeed& feed) {
    // Feed and evaluator may want memory, and so drop the graph: what they are given lives on.
    const DeviceBatch input = captured_->input;
    feed.fill(batch, input);
    if (!captured_) return std::nullopt;
    captured_->graph->launch(current_stream());
    ++replays_;
    const Tensor predicted = captured_->predicted;
    evaluator_.note(input, predicted);
    return predicted;
}

/// All work of the graph was given to the compute stream, where what its memory is used for next
/// comes after it. The graph itself waits for a replay if it must (kernels/cuda_graph.h).
bool EvaluationGraph::give_memory_back() noexcept {
    if (!captured_) return false;
    captured_.reset();
    gave_back_ = true;
    return true;
}

/// Full batches are alike. A planted fault is a function of the host's.
bool EvaluationGraph::may_replay(const Batch& batch) const {
    return enabled_ && !gave_back_ && device_.kind == Device::Kind::cuda && batch.full &&
           precision_.casts().planted == nullptr;
}

/// The state that is carried may have to be made, for memory that the graph is then dropped for.
bool EvaluationGraph::is_as_captured(std::int64_t rows) {
    if (!captured_) return false;
    const Addresses now = places(rows);
    return captured_ && captured_->places == now;
}

bool EvaluationGraph::prepare(const Batch& batch, const std::shared_ptr<MemoryPool>& pool) {
    if (!may_replay(batch)) return false;
    if (captured_ && captured_->input.rows != batch.rows()) return false;
    if (captured_ && !has_canvas_of(captured_->input, schema_, batch)) return false;
    if (is_as_captured(batch.rows())) return true;
    if (gave_back_) return false;
    if (std::exchange(eager_rows_, batch.rows()) != batch.rows()) eager_batches_ = 0;
    if (eager_batches_ < eager_before_capture) {
        ++eager_batches_;
        return false;
    }
    captured_.reset();
    schema_ = with_canvas(std::move(schema_), batch);
    return capture(batch.rows(), pool);
}

/// A 16-bit copy of a weight is read only while it is as new as the weight.
EvaluationGraph::Addresses EvaluationGraph::places(std::int64_t rows) {
    Addresses out;
    for (const Parameter& each : model_.parameters()) {
        const auto& low = each.tensor.impl()->low_copy;
        const bool is_new = low && low->version == each.tensor.version();
        out.push_back(each.tensor.data());
        out.push_back(is_new ? low->tensor.data() : nullptr);
    }
    for (const Parameter& each : model_.buffers()) out.push_back(each.tensor.data());
    for (const Tensor& each : evaluator_.state(rows)) out.push_back(each.data());
    return out;
}

/// Captures the evaluation of a batch over a static input; nothing of it runs. Throws Error,
/// kernels::DeviceError.
EvaluationGraph::Captured EvaluationGraph::captured_batch(std::int64_t rows,
                                                          const std::shared_ptr<MemoryPool>& pool) {
    Captured out;
    out.pool = std::make_shared<MemoryPool>(device_, pool);
    out.places = places(rows);
    release_cached_memory();  // of the eager batches; not during the capture, because it waits
    {
        const UseScope use(MemoryUse::workspace);
        out.input = empty_batch(device_, schema_, rows);
    }
    const PoolScope within(out.pool);
    CaptureScope scope;
    out.predicted = evaluator_.compute(out.input);
    out.graph = scope.end();
    return out;
}

/// False if the batch cannot be captured: then evaluations stay eager, with a warning.
bool EvaluationGraph::capture(std::int64_t rows, const std::shared_ptr<MemoryPool>& pool) {
    enabled_ = false;  // unless it succeeds
    try {
        captured_ = captured_batch(rows, pool);
    } catch (...) {
        warnings_.push_back(
            msg("Evaluations cannot be captured as a CUDA graph, so their kernels are launched one "
                "by one, which slows small models down: {}.",
                why_capture_failed().reason));
        return false;
    }
    enabled_ = true;
    ++captures_;
    return true;
}

}  // namespace engine
