#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/step_ends.h"
#include "optim/optimizer.h"
#include "parallel/gradient_exchange.h"
#include "tasks/task.h"
#include "tensor/device_record.h"
#include "train/step/hidden_state.h"
#include "train/step/mixed_precision.h"
#include "train/step/step_marks.h"
#include "train/step/step_observer.h"
#include "train/step/training_state.h"

namespace engine {

/// Where a step's batches come from: number i of it, and that it is no longer needed.
struct BatchSupply {
    std::function<DeviceBatch(std::size_t)> get;
    std::function<void(const DeviceBatch&)> used;
    /// Count of each batch in the step's mean, over all ranks: Task::loss_terms(). None: all the
    /// same.
    std::vector<std::int64_t> terms{};
};

/// One optimizer step on the device, from the batches to the figures: for each phase of the task
/// zero the gradients, forward, backward, gradient check and update; then move the loss scale and
/// the carried state. Asks nothing of the host but the marks, so that it can be captured. Knows no
/// files, events or clocks. One thread at a time.
class TrainStep {
public:
    /// `planned`: number of updates over which the schedule extends. `ranks` connects the ranks
    /// that compute the step together, each on its part of the batches; all construct it together.
    /// Null: one process. Throws Error.
    TrainStep(const RunConfig& config, Task& task, Model& model, const Device& device,
              std::int64_t planned, Communicator* ranks = nullptr);

    /// `marks` (may be null): one at the end of each forward and each backward pass.
    void compute(std::size_t batches, const BatchSupply& supply, StepMarks* marks);
    /// A pass over the data begins: carried state is zeroed.
    void begin_pass() { state_.reset(); }
    /// A copy of all state on the host; of the counts, those of the device. Waits for the device.
    TrainingState saved_state() const;
    /// The memory that saved_state() copies, without the scaler's: valid while is_laid_out().
    StatePlaces state_places() const;
    /// Whether state that appears with the first updates or a new number of streams has not
    /// changed the places.
    bool is_laid_out(const StatePlaces& places) const;
    /// Goes on from a saved state: before the first step. Weights, optimizer and scaler of another
    /// precision are converted. Throws Error if it does not fit.
    void load_state(const TrainingState& saved, const StateChange& change);
    /// The device has computed the step once more, as part of a graph.
    void note_replay();
    /// Drops the gradients.
    void zero_grad();
    /// Takes the schedule's place; before the first step.
    void set_schedule(const kernels::LearningRateSchedule& schedule) { schedule_ = schedule; }
    /// Sets the multiplier of the schedule's rate from the next step on, captured or not.
    void set_rate_multiplier(double multiplier);

    /// The end of each step puts its figures there, too: before the first step.
    void deliver_figures(const kernels::FigureSlots& slots) { slots_ = slots; }

    /// Drops the results of a failed capture, which were never computed.
    void forget_captured();

    /// Figures of the last step, on the device.
    const DeviceRecord<kernels::StepFigures>& figures() const { return figures_; }
    const DeviceRecord<MetricSums>& sums() const { return sums_; }
    /// Timer of the last step, over all phases; see ExchangeTimer.
    ExchangeTimer exchange_timer() const;
    const MixedPrecision& precision() const { return precision_; }
    const Device& device() const { return device_; }
    /// Parameters of the model, trained or frozen: the first of state_places().
    std::size_t parameter_count() const { return model_.parameters().size(); }
    Optimizer& optimizer(std::size_t index) const { return *parts_[index].optimizer; }

    /// The observer sees every step that it wants until it is detached.
    void attach(std::shared_ptr<StepObserver> observer);
    void detach(const StepObserver& observer);
    /// Determines which observers want the next step, number `step` of the run from 1.
    void announce(std::int64_t step);
    /// See StepObserver::scale_floor().
    float scale_floor(std::int64_t step) const;
    /// Whether an observer wants that step, so that it must be computed eagerly.
    bool is_observed() const { return !observing_.empty(); }

private:
    /// The parameters of one optimizer.
    struct Part {
        TensorList tensors;
        std::unique_ptr<Optimizer> optimizer;
        DeviceRecord<kernels::GradientStatistics> gradient_statistics;
    };
    /// A micro-batch between the phases of a step.
    struct MicroBatch {
        DeviceBatch batch;
        TensorList passed;
        TensorList state;
        double weight = 1;  ///< in the step's mean
    };

    /// Opens and closes a step for its observers.
    class Observation;

    void make_parts();
    void make_exchanges();
    void share_figures();
    void share_figures_on_device();
    double loss_weight(std::size_t micro_batch) const;
    void choose_gradients();
    void move_scale_too_soon(const Phase& phase);
    std::string prefix_of(std::size_t part) const;
    std::size_t optimizer_states() const;
    TensorMap optimizer_state(std::size_t part, const TrainingState& saved,
                              const StateChange& change) const;
    void load_scaler(const SavedNumbers& saved);
    void begin(std::size_t batches, std::span<const std::int64_t> terms);
    void run_phase(std::size_t phase, const BatchSupply& supply, StepMarks* marks);
    void run_micro_batch(std::size_t phase, std::size_t index, StepMarks* marks);
    void differentiate(std::size_t phase, std::size_t micro_batch, const TensorList& losses);
    void backward_of(const Phase& phase, const Tensor& loss, bool retain_graph);
    TensorList parameters_of(const Phase& phase) const;
    Tensor penalised(const Phase& phase, const Tensor& loss);
    void coalesce_gradients(const Phase& phase);
    void account_gradients();
    void update(const Phase& phase, bool last);
    void check_gradients(Part& part);
    Tensor clip_scale() const;
    void clip(Part& part);
    void clip_by_value(const Part& part);
    void step_optimizer(Part& part);
    StepView view(std::size_t phase, std::size_t micro_batch);
    /// Calls f(observer, view) for each that observes the step.
    template <typename F>
    void notify(std::size_t phase, std::size_t micro_batch, const F& f) {
        if (observing_.empty()) return;
        const StepView seen = view(phase, micro_batch);
        for (const auto& observer : observing_) f(*observer, seen);
    }
    void end();

    const RunConfig& config_;
    Task& task_;
    Model& model_;
    Device device_;
    kernels::LearningRateSchedule schedule_;
    MixedPrecision precision_;
    std::vector<Phase> phases_;
    std::vector<Part> parts_;
    std::vector<Optimizer*> optimizers_;  // of the parts
    Communicator* ranks_;
    std::vector<std::unique_ptr<GradientExchange>> exchanges_;  // by phase; none: one process
    std::vector<std::shared_ptr<StepObserver>> observers_;
    std::vector<std::shared_ptr<StepObserver>> observing_;  // those that want the next step
    std::int64_t announced_ = 0;

    // Sums of the step in progress, on the device.
    DeviceRecord<MetricSums> sums_;
    DeviceRecord<MetricSums> unseen_sums_;              // of rows that a rank without rows computes
    DeviceRecord<kernels::GradientStatistics> merged_;  // of several optimizers
    DeviceRecord<kernels::StepFigures> figures_;
    kernels::FigureSlots slots_;
    Tensor rate_multiplier_;  // 0-d f64
    Tensor f16_max_;          // 0-d f32
    Tensor number_;           // 0-d i64: steps computed; what dropout is drawn from
    StepRandom random_;
    HiddenState state_;
    std::vector<MicroBatch> micro_batches_;
};

}  // namespace engine
