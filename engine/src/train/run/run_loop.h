#pragma once

#include <memory>
#include <stop_token>

#include "train/run/data_parallel.h"
#include "train/run/run_data.h"
#include "train/run/run_evaluation.h"
#include "train/run/run_steps.h"

namespace engine {

/// One run from its settings to its end, a step or an evaluation batch at a time, on the compute
/// thread: data, trainer, record and the resulting events. It has no commands and no locks. What
/// follows from steps and evaluations is up to its listeners.
///
/// In a data-parallel run each rank has one (SessionOptions::communicator). Rank 0's decides what
/// comes next, and sends it to the others, which do the same in follow() and write nothing.
class RunLoop {
public:
    /// `store`: null on a rank that follows.
    RunLoop(const RunConfig& config, RunStore* store, const SessionOptions& options,
            PostEvent post);
    RunLoop(const RunLoop&) = delete;
    RunLoop& operator=(const RunLoop&) = delete;

    /// Opens the data, makes the model, the run's folder and its record. Throws Error, and
    /// ReadingStopped if `stop` is requested while the data are read.
    void prepare(const std::stop_token& stop);
    /// Calls the listener behind those that are there already. It must outlive the run. Once
    /// prepared, between two steps.
    void listen(RunListener& listener) { listeners_.push_back(&listener); }
    /// Submits one training step to the device, writes the rows of finished steps, and calls the
    /// listeners. A step whose rows found no room on the disk goes on there. Throws Error.
    void train_step();
    /// A step was submitted, and not all that follows is done.
    bool in_step() const { return steps_.in_step(); }
    /// Waits for the steps in flight and writes their rows: before the run pauses or ends. Throws
    /// Error.
    void settle();
    /// Rows could not be written (disk full): tries again. Throws Error(io).
    void write_pending();
    bool has_pending() const { return steps_.has_pending(); }
    /// Steps were submitted whose rows are not in the record.
    bool has_unwritten() const { return has_pending() || steps_.in_flight() > 0; }
    bool finished() const {
        return trainer_ && (progress_.epoch >= config_.epochs ||
                            trainer_->steps() >= steps_planned_ || stopped_);
    }
    std::int64_t steps_planned() const { return steps_planned_; }
    bool at_epoch_end() const { return progress_.epoch_ended; }
    /// The run as it is now was evaluated.
    bool is_evaluated() const { return progress_.evaluated == trainer_->steps(); }
    /// The settings ask for an evaluation of the run as it is now, and it has none: at its end, at
    /// an epoch's end, after so many steps.
    bool is_evaluation_due() const;
    /// Ends an epoch whose end is not evaluated: reports its training figures. Settles first.
    void end_epoch();

    /// Settles first. Throws Error.
    void begin_evaluation();
    /// One batch of the validation or the test part; false when it was the last.
    bool evaluate_some();

    /// Saves the run as it is between two steps. Settles first. Throws Error.
    void save_checkpoint();
    /// The next step with everything needed to compute it elsewhere. Settles first; does not change
    /// the run. Throws Error.
    StepCapsule capsule();
    /// The last computed step, from the state before it. Requires Trainer::keep_states() before the
    /// step. Does not change the run. Throws Error.
    StepCapsule last_capsule();
    /// Row of the step whose figures were taken last; none yet: step 0.
    const StepRecord& last_row() const { return steps_.last_row(); }
    Trainer& trainer() { return *trainer_; }
    /// Another program has taken the run over: nothing more is written to its folder.
    bool is_taken_over() const { return home_.is_taken_over(); }
    /// Folder of the run, once it was prepared.
    const std::filesystem::path& folder() const { return home_.place().folder; }
    /// The right to write it; null until it was prepared, and on a rank that follows.
    const std::shared_ptr<RunHold>& hold() const { return home_.place().hold; }

    /// Reports the listeners' work in the background; true while there is some.
    bool poll();

    /// On a rank that follows, once prepared: does what rank 0 asks for until the run has ended.
    /// Throws Error.
    void follow();
    /// On rank 0: the run has ended; `failure`: why it failed, empty if it did not. The others end
    /// too. Nothing to do where there are none.
    void leave(const std::string& failure);

    /// Once prepared, at the end: saves the run if its settings say so and it did not fail, waits
    /// until all is written, and returns its last event.
    RunDone end(DoneReason reason);
    DoneReason reason() const {
        if (progress_.epoch >= config_.epochs) return DoneReason::epochs;
        return stopped_ ? DoneReason::early_stopping : DoneReason::max_steps;
    }
    const std::string& run() const { return home_.place().run; }
    /// Empty before prepare().
    StepRecordReader record() const { return home_.record(); }

private:
    using Order = RunRanks::Order;
    void obey(Order order);
    RunStarted started() const;
    void add_listeners(const SamplerOptions& sampler);
    template <typename F>
    RunRequest ask(const F& call);

    /// Begins to measure the machine; the columns that the run's record needs for it.
    record_layout::OptionalColumns start_meter();
    void go_on(const Continuation& from);
    void load(const SavedRun& saved);

    void submit();
    void finish_evaluation();
    /// Figures of the epoch so far.
    PartFigures training_figures() const;
    void report_epoch(const Evaluated& evaluated);
    /// A run of no epochs has those that it started from.
    bool has_weights_to_save() const { return trainer_->steps() > 0 || config_.epochs == 0; }
    void set_rate();
    TrainingState gathered_state();
    SavedRun saved_run();
    void save(bool best);

    RunConfig config_;
    SessionOptions options_;
    PostEvent post_;
    RunRanks ranks_;
    RunData data_;
    RunHome home_;
    std::unique_ptr<Trainer> trainer_;
    RunProgress progress_;
    RunSteps steps_;
    std::unique_ptr<RunEvaluation> evaluation_;
    std::vector<std::unique_ptr<RunListener>> own_;  // of the listeners
    std::vector<RunListener*> listeners_;            // in the order of their calls
    std::int64_t steps_planned_ = 0;
    double rate_ = 1;  // multiplier of the schedule's rate
    bool stopped_ = false;
};

}  // namespace engine
