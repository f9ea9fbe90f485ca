#include "train/evaluation_graph.h"

#include <utility>

#include "train/capture_scope.h"

namespace engine {

EvaluationGraph::EvaluationGraph(Evaluator& evaluator, const Model& model,
                                 const MixedPrecision& precision, const Schema& schema,
                                 const Device& device)
    : evaluator_(evaluator),
      model_(model),
      precision_(precision),
      schema_(schema),
      device_(device) {}

std::vector<Message> EvaluationGraph::take_warnings() { return std::exchange(warnings_, {}); }

void EvaluationGraph::add(const Batch& batch, BatchFeed& feed,
                          const std::shared_ptr<MemoryPool>& pool) {
    if (!prepare(batch, pool)) {
        evaluator_.add(batch, feed);
        return;
    }
    feed.fill(batch, captured_->input);
    captured_->graph->launch(current_stream());
    evaluator_.note(captured_->input, captured_->predicted);
    ++replays_;
}

/// Full batches are alike. A planted fault is a function of the host's.
bool EvaluationGraph::may_replay(const Batch& batch) const {
    return enabled_ && device_.kind == Device::Kind::cuda && batch.full &&
           precision_.casts().planted == nullptr;
}

bool EvaluationGraph::prepare(const Batch& batch, const std::shared_ptr<MemoryPool>& pool) {
    if (!may_replay(batch)) return false;
    if (captured_ && captured_->input.rows != batch.rows()) return false;
    if (captured_ && captured_->places == places(batch.rows())) return true;
    if (std::exchange(eager_rows_, batch.rows()) != batch.rows()) eager_batches_ = 0;
    if (eager_batches_ < eager_before_capture) {
        ++eager_batches_;
        return false;
    }
    captured_.reset();
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
    out.pool = pool ? pool : std::make_shared<MemoryPool>(device_);
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
