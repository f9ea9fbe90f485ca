#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "train/run/machine_meter.h"
#include "train/run/run_home.h"
#include "train/run/step_capsule.h"
#include "train/run/training_batches.h"
#include "train/step/saved_numbers.h"

namespace engine {

/// How far a run has come on the host. A checkpoint holds it.
struct RunProgress {
    std::int64_t epoch = 0;      ///< completed
    std::int64_t batch = 0;      ///< batches taken of the epoch under way
    bool epoch_ended = false;    ///< at the last step, and the epoch was not evaluated yet
    std::int64_t evaluated = -1; ///< steps made before the last evaluation; -1: there was none
    double elapsed_s = 0;        ///< the run's own time
    double epoch_start_s = 0;    ///< of elapsed_s
    kernels::MetricSums sums{};  ///< of the training steps of the epoch
    double loss_sum = 0;         ///< of their losses as the record has them
    std::int64_t replaced = 0;   ///< damaged samples of training whose place another took

    /// The figures of the epoch start again.
    void begin_epoch();
    void add(const kernels::MetricSums& step, double loss);
};

SavedNumbers saved_state(const RunProgress& progress);
/// Throws Error(data) if a number is missing.
void load_state(RunProgress& progress, const SavedNumbers& saved);

/// The training steps of a run: takes their batches, submits them to the device, and writes their
/// rows into the record, in order. One thread.
class RunSteps {
public:
    /// All must outlive it.
    RunSteps(const RunConfig& config, RunProgress& progress, RunHome& home, const PostEvent& post)
        : config_(config), progress_(progress), home_(home), post_(post) {}

    /// Before the first step. All must outlive it. Throws Error.
    void prepare(const DataPart& train, const SamplerOptions& sampler, Trainer& trainer);
    /// All steps of the run; earlier epochs may have had another number of steps each.
    std::int64_t planned() const;
    std::int64_t per_epoch() const {
        return steps_per_epoch(config_, batches_->loader().batches_per_epoch());
    }
    /// Goes on at the place of the progress. Throws Error(data) if the data have no such batch.
    void seek();

    /// Begins to measure the machine for the rows; without it their columns are unknown.
    MachineMeter& start_meter();
    MachineMeter& meter() { return *meter_; }

    /// Submits a step at that multiplier of the schedule's rate, and takes the figures of finished
    /// ones. Throws Error.
    void submit(double rate);
    /// A step was submitted, and not all that follows is done.
    bool in_step() const { return in_step_; }
    void end_step() { in_step_ = false; }
    /// Waits for the steps in flight.
    void settle();
    /// Writes the next row of a finished step; nothing if all are written. Throws Error(io), and
    /// tries again the next time.
    std::optional<CompletedStep> write_row();
    bool has_pending() const { return !pending_.empty(); }
    /// Steps whose figures were not taken.
    std::int64_t in_flight() const { return std::ssize(submitted_); }
    /// Row of the step whose figures were taken last; none yet: step 0.
    const StepRecord& last_row() const { return last_row_; }

    StepStart next_start(double rate) const { return {progress_.epoch, progress_.batch, rate}; }
    const StepStart& last_start() const { return last_start_; }
    /// The step that starts there, from that state.
    StepCapsule capsule(const StepStart& start, TrainingState before, std::int64_t planned) const;

    /// Reports the trainer's messages for the user.
    void report_warnings();
    /// Ways to fill a damaged sample's place.
    enum class Damaged { replaced, left_out };
    /// Each sample once, and the first ten by name: a disk may fail.
    void report_damaged(const std::vector<ReplacedSample>& samples, Damaged how);
    /// Adds the samples that each rank replaced to the progress. Each decodes its own rows alone,
    /// and a count that nobody reads before the next checkpoint or the end is not worth an exchange
    /// a step. All ranks call it, with no step in flight.
    void sum_replaced();
    /// Damaged samples of training whose place another took, as this rank knows.
    std::int64_t replaced() const { return progress_.replaced + replaced_here_; }

private:
    void finish(CompletedStep step);
    /// Adds to the time of a submitted step, which ends now as far as is known.
    void add_time(LoopFigures& figures, double seconds);

    const RunConfig& config_;
    RunProgress& progress_;
    RunHome& home_;
    const PostEvent& post_;
    Trainer* trainer_ = nullptr;  // null before prepare()
    const DataPart* train_ = nullptr;
    std::optional<TrainingBatches> batches_;
    std::unique_ptr<MachineMeter> meter_;
    std::deque<LoopFigures> submitted_;  // to the device
    std::deque<CompletedStep> pending_;  // whose rows are to be written
    StepStart last_start_;               // of the step submitted last
    StepRecord last_row_{};
    bool in_step_ = false;
    std::set<std::string> told_damaged_;  // why each cannot be read
    std::int64_t replaced_here_ = 0;      // by this rank, and not in progress_ yet
};

}  // namespace engine
