#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>

#include "data/loader/batch_loader.h"
#include "engine/record/figures.h"
#include "engine/runs/run_store.h"
#include "engine/train/session_options.h"
#include "record/step_record.h"
#include "runs/run_hold.h"
#include "train/run/epoch_rules.h"
#include "train/run/run_alerts.h"
#include "train/run/run_checkpoints.h"
#include "train/run/run_evaluation.h"
#include "train/run/run_progress.h"
#include "train/run/skipped_batches.h"
#include "train/run/step_capsule.h"
#include "train/run/trainer.h"

namespace engine {

struct RunData;

/// One run from its settings to its end, a step or an evaluation batch at a time, on the compute
/// thread: data, trainer, record and the resulting events. It has no commands and no locks.
///
/// In a data-parallel run each rank has one (SessionOptions::communicator). Rank 0's decides what
/// comes next, and sends it to the others, which do the same in follow() and write nothing.
class RunLoop {
public:
    using Post = std::function<void(Event)>;

    /// `store`: null on a rank that follows.
    RunLoop(const RunConfig& config, RunStore* store, const SessionOptions& options, Post post);

    /// Opens the data, makes the model, the run's folder and its record. Throws Error, and
    /// ReadingStopped if `stop` is requested while the data are read.
    void prepare(const std::stop_token& stop);
    /// Submits one training step to the device and writes the rows of finished steps. Throws Error.
    void train_step();
    /// Waits for the steps in flight and writes their rows: before the run pauses or ends. Throws
    /// Error.
    void settle();
    /// Rows could not be written (disk full): tries again. Throws Error(io).
    void write_pending();
    bool has_pending() const { return !pending_.empty(); }
    /// Steps were given whose rows are not in the record.
    bool has_unwritten() const { return !pending_.empty() || !submitted_.empty(); }
    bool finished() const {
        return trainer_ && (progress_.epoch >= config_.epochs ||
                            trainer_->steps() >= steps_planned_ || rules_->stop());
    }
    std::int64_t steps_planned() const { return steps_planned_; }
    bool at_epoch_end() const { return progress_.epoch_ended; }
    /// The run as it is now was evaluated.
    bool is_evaluated() const { return progress_.evaluated == trainer_->steps(); }

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
    const StepRecord& last_row() const { return last_row_; }
    Trainer& trainer() { return *trainer_; }
    /// Another program has taken the run over: nothing more is written to its folder.
    bool is_taken_over() const { return hold_ && hold_->is_lost(); }
    /// Folder of the run, once it was prepared.
    const std::filesystem::path& folder() const { return folder_; }

    /// At the end: saves the run if its settings say so, and waits until all is written.
    void finish_checkpoints(bool save);
    /// Reports the checkpoints that were written; true while others are being written.
    bool follow_checkpoints();

    /// On a rank that follows, once prepared: does what rank 0 asks for until the run has ended.
    /// Throws Error.
    void follow();
    /// On rank 0: the run has ended; `failure`: why it failed, empty if it did not. The others end
    /// too. Nothing to do where there are none.
    void leave(const std::string& failure);

    RunDone done(DoneReason reason) const;
    /// The loss stayed non-finite for `stop_on_nan` steps, which ended the run with an error.
    bool diverged() const { return alerts_.diverged(); }
    DoneReason reason() const {
        if (progress_.epoch >= config_.epochs) return DoneReason::epochs;
        return rules_->stop() ? DoneReason::early_stopping : DoneReason::max_steps;
    }
    const std::string& run() const { return run_; }
    /// Empty before prepare().
    StepRecordReader record() const;

private:
    /// Which batches a step begins with, and the rate that evaluations have led to.
    struct StepStart {
        std::int64_t epoch = 0;
        std::int64_t batch = 0;
        double rate_multiplier = 1;
    };
    /// Requests of rank 0 to the others.
    enum class Turn : std::int64_t { step, begin_evaluation, evaluate, save, count, end };
    void tell(Turn turn) const;
    Turn received() const;
    bool follows() const { return ranks_ && ranks_->rank() > 0; }
    /// Before anything is written: throws Error(state) if another program has taken the run over.
    void check_hold() const;
    void check_same_data() const;
    void cut_batches(LoaderOptions& options) const;
    TrainingState gathered_state();
    StepStart next_start() const;
    /// A step that was submitted to the device.
    struct InFlight {
        StepStart start;
        LoopFigures figures;
    };
    LoaderOptions training_options() const;
    std::int64_t steps_per_epoch(std::int64_t batches) const;
    FeedDepth feed_depth() const;
    void open_run();
    void begin_run();
    DataParts opened_data(const std::stop_token& stop);
    RunData open_data_of(const std::filesystem::path& run, const std::stop_token& stop) const;
    void keep_data();
    void keep_new_hashes();
    bool goes_on_in_place(const Continuation& from) const;
    void check_newest(const Continuation& from) const;
    void go_on(const Continuation& from);
    void copy_parent(const std::filesystem::path& folder, std::int64_t step);
    void load(const SavedRun& saved);
    void check_place() const;
    void plan_rest();
    void lengthen_schedule(const SavedRun& saved, const RunStarted& before,
                           std::vector<Message>& restored);
    SavedRun saved_run();
    StepCapsule capsule_at(const StepStart& start, TrainingState before) const;
    void take_batches();
    void count_replaced();
    /// Ways to fill a damaged sample's place.
    enum class Damaged { replaced, left_out };
    void tell_replaced(const std::vector<ReplacedSample>& samples, Damaged how);
    void sum_replaced();
    void finish_step(CompletedStep step);
    double clock_now();
    void keep_batch(const StepStart& start, const StepRecord& row);
    KeyFigures figures() const;
    RunStarted started() const;
    void pass_warnings_on();
    void check_files();
    void finish_epoch();
    void keep_pictures();
    void end_epoch();

    RunConfig config_;
    RunStore* store_;
    SessionOptions options_;
    Post post_;
    Communicator* const ranks_;  // null: one process
    bool left_ = false;

    DataParts data_;
    std::vector<Message> data_notes_;  // how the data differ from those of the run that goes on
    bool same_size_ = true;            // as many samples as that run had
    std::int64_t kept_hashes_ = 0;     // files whose checksum the folder has
    SamplerOptions sampler_;  // of the training part
    std::unique_ptr<BatchLoader> loader_;
    std::unique_ptr<Trainer> trainer_;
    std::optional<StepRecordWriter> writer_;
    std::unique_ptr<BatchFeed> feed_;
    std::unique_ptr<RunEvaluation> evaluation_;
    std::unique_ptr<RunCheckpoints> checkpoints_;
    std::optional<SkippedBatches> skipped_;
    std::optional<BestMetric> best_;
    std::optional<EpochRules> rules_;
    std::deque<InFlight> submitted_;
    std::deque<CompletedStep> pending_;     // rows to be written
    std::vector<Batch> batches_;
    StepStart last_start_;  // of the step submitted last
    StepRecord last_row_{};
    std::int64_t peak_before_ = 0;  // of the parts of a run that goes on
    double clock_s_ = 0;            // of the step recorded last
    RunAlerts alerts_;
    RunProgress progress_;
    std::set<std::string> told_damaged_;  // why each cannot be read
    std::int64_t replaced_here_ = 0;      // by this rank, and not in progress_ yet

    std::string run_;
    std::filesystem::path folder_;
    std::shared_ptr<RunHold> hold_;  // null on a rank that follows
    std::int64_t steps_planned_ = 0;
    std::chrono::steady_clock::time_point checked_{};  // the files
};

}  // namespace engine
