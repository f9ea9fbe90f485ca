#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/memory/workspace_allocator.h"
#include "train/step/evaluation_graph.h"
#include "train/step/row_builder.h"
#include "train/step/run_context.h"
#include "train/step/state_before.h"
#include "train/step/step_graph.h"
#include "train/step/train_step.h"

namespace engine {

/// Model, task, precision and optimizers of one run: computes steps and evaluations. It has no
/// thread, no file and no clock except the step's. One thread at a time.
///
/// On a GPU a step is only submitted: nothing waits for it, and its figures are taken after the
/// next step was submitted.
class Trainer {
public:
    /// `data`: the fields of the data set's samples. `planned`: updates that the schedule stretches
    /// over. `ranks` connects the ranks that train the run together, on the CPU: each has a
    /// trainer, and all make the same calls with their parts of the batches. Null: this process
    /// alone. `memory_limit`: as MemoryAccounting::set_limit(), from the first weight on. Throws
    /// Error.
    Trainer(const RunConfig& config, const Device& device, const Schema& data,
            const PlannedSteps& planned, std::shared_ptr<Communicator> ranks = nullptr,
            std::int64_t memory_limit = 0);
    ~Trainer();
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    /// Submits one optimizer step on `config.accumulate` batches to the device. Throws Error; one
    /// of code memory names a batch size to try.
    void submit(std::span<const Batch> batches, BatchFeed& feed);
    /// The oldest step that was submitted and not taken, if more steps than may be in flight were
    /// submitted, or if `all`. Its row lacks the columns of RowBuilder::complete().
    std::optional<CompletedStep> take(bool all);
    /// submit() and its figures at once; throws a value that was refused.
    CompletedStep step(std::span<const Batch> batches, BatchFeed& feed);

    /// A copy of all state on the host, after all submitted steps were taken. All ranks call it;
    /// rank 0's copy is the state of the run.
    TrainingState saved_state();
    /// Goes on from a saved state: before the first step. Throws Error(data) if it does not fit.
    void load_state(const TrainingState& saved, const StateChange& change = {});

    /// From the next step on, whether the state that a step starts from is kept (StateBefore).
    void keep_states(bool keep);
    /// Null: the last step's state was not kept.
    const StateBefore* state_before() const { return before_.get(); }
    /// The saved_state() before the last step. Needs state_before().
    TrainingState kept_state();

    /// Begins a pass over a part of the data. All ranks begin it with rank 0's buffers.
    void begin_evaluation();
    /// Forward pass in evaluation mode; the task's sums are kept on the device. Returns what the
    /// task predicted, which the next call may overwrite; undefined where the rank has no rows.
    /// Throws Error, as submit().
    Tensor evaluate(const Batch& batch, BatchFeed& feed);
    /// Waits for the evaluated batches since the last call and returns their sums over all ranks.
    /// Throws Error(value).
    MetricSums take_evaluation();
    /// Pictures of the pass that was taken last.
    PictureBands take_pictures() { return evaluator_->take_pictures(); }

    /// ForwardBackward::set_decisions(). A captured step has none: see set_recording().
    void set_decisions(std::shared_ptr<StepDecisions> decisions) {
        step_->set_decisions(std::move(decisions));
    }

    /// Takes the place of the settings' schedule; before the first step.
    void set_schedule(const kernels::LearningRateSchedule& schedule) {
        step_->update().set_schedule(schedule);
    }
    /// Sets the multiplier of the schedule's rate from the next step on: 1 at the start.
    void set_rate_multiplier(double multiplier);

    /// On a GPU, whether steps and the batches of evaluations are captured as a graph after the
    /// first few and replayed (decisions.md#whole-step, D5); on unless it is switched off. Those of
    /// several ranks are never captured.
    void set_recording(bool on);
    /// The steps submitted so far that were replayed.
    std::int64_t replayed_steps() const { return graph_->replays(); }
    /// Kernels, copies and fills in the captured step; 0 where there is none.
    std::int64_t graph_nodes() const { return graph_->nodes(); }
    const EvaluationGraph& evaluation_graph() const { return *evaluation_graph_; }

    /// The observer sees every step that it wants until it is detached.
    void attach(std::shared_ptr<StepObserver> observer) {
        step_->observers().attach(std::move(observer));
    }
    void detach(const StepObserver& observer) { step_->observers().detach(observer); }

    /// Writes the loss and the unscaled f32 gradients of the next step to this safetensors file
    /// ("loss", "grad.<name>").
    void dump_next_gradients(std::string path);
    /// Messages for the user on the steps and evaluations since the last call: convolutions that
    /// the GPU's library does not compute, a step that could not be captured. The first call has
    /// those on the weights that training starts from, too.
    std::vector<Message> take_warnings();

    Task& task() { return *task_; }
    Model& model() { return *model_; }
    const Device& device() const { return context_.device(); }
    /// Null without a recipe.
    QuantizedLayers* quantized() { return step_->precision().quantized(); }
    /// Applied, of the steps taken.
    std::int64_t updates() const { return updates_; }
    /// Submitted.
    std::int64_t steps() const { return steps_; }
    std::int64_t samples() const { return samples_; }
    const std::shared_ptr<MemoryAccounting>& accounting() const { return context_.accounting(); }
    /// Null: this process alone.
    Communicator* ranks() const { return context_.ranks(); }

private:
    /// Runs `work`. An out-of-memory error then names a batch size to try. If it fails, deferred
    /// device errors are cleared, so that the next run on the device does not report them.
    template <typename Work>
    void with_batch_to_try(const Work& work) const;
    void take_from_first(const std::vector<Parameter>& tensors) const;
    void submit_step(std::span<const Batch> batches, BatchFeed& feed);
    SavedNumbers counts() const;

    RunConfig config_;
    RunContext context_;
    WorkspaceShare scratch_;  // destroyed after all members that hold memory
    std::unique_ptr<Task> task_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<TrainStep> step_;
    std::unique_ptr<StepGraph> graph_;
    std::unique_ptr<Evaluator> evaluator_;
    std::unique_ptr<EvaluationGraph> evaluation_graph_;
    std::unique_ptr<StateBefore> before_;  // null: states are not kept
    RowBuilder rows_;
    std::vector<Message> warnings_;  // on the weights that training starts from
    std::int64_t steps_ = 0;
    std::int64_t updates_ = 0;
    std::int64_t updates_apart_ = 0;  // counted, but not by the optimizer, which a twin may replace
    std::int64_t samples_ = 0;
};

}  // namespace engine
