#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>

#include "data/batch_loader.h"
#include "engine/session.h"
#include "store/step_record.h"
#include "train/scale_watch.h"
#include "train/trainer.h"

namespace engine {

/// One run from its settings to its end, a step or an evaluation batch at a time, on the compute
/// thread: data, trainer, record and the events that follow from them. Knows no commands and no
/// locks.
class RunLoop {
public:
    using Post = std::function<void(Event)>;

    RunLoop(const RunConfig& config, RunStore& store, const SessionOptions& options, Post post);

    /// Opens the data, makes the model, the run's folder and its record. Throws Error, and
    /// ReadingStopped if `stop` is requested while the data are read.
    void prepare(const std::stop_token& stop);
    /// Gives one training step to the device and writes the rows of those that are done. Throws
    /// Error.
    void train_step();
    /// Waits for the steps in flight and writes their rows: before the run pauses or ends. Throws
    /// Error.
    void settle();
    /// Rows could not be written (disk full): tries again. Throws Error(io).
    void write_pending();
    bool has_pending() const { return !pending_.empty(); }
    /// Steps were given whose rows are not in the record.
    bool has_unwritten() const { return !pending_.empty() || !given_.empty(); }
    bool finished() const {
        return trainer_ && (epoch_ >= config_.epochs || trainer_->steps() >= steps_planned_);
    }
    bool at_epoch_end() const { return epoch_ended_; }

    /// Settles first. Throws Error.
    void begin_evaluation();
    /// One batch of the validation or the test part; false when it was the last.
    bool evaluate_some();

    RunDone done(DoneReason reason) const;
    /// The loss stayed non-finite for `stop_on_nan` steps, which ended the run with an error.
    bool diverged() const { return diverged_; }
    DoneReason reason() const {
        return epoch_ >= config_.epochs ? DoneReason::epochs : DoneReason::max_steps;
    }
    const std::string& run() const { return run_; }
    /// Empty before prepare().
    StepRecordReader record() const;

private:
    /// What the host knows of a step that was given to the device.
    struct Given {
        std::int64_t epoch, samples;
        double data_s;
        double step_s = 0;
        double elapsed_s = 0;
    };
    /// A part that is evaluated, and how its batches come to the device.
    struct EvaluatedPart {
        DataPart part;
        PartFigures figures;  ///< of the last evaluation
        std::unique_ptr<BatchFeed> feed{};
        std::unique_ptr<BatchLoader> loader{};
    };
    LoaderOptions training_options() const;
    LoaderOptions evaluation_options(const EvaluatedPart& part) const;
    FeedDepth feed_depth() const;
    void begin_part();
    PartFigures figures_of(const MetricSums& sums, double loss) const;
    void take_batches();
    void finish_step(FinishedStep step);
    void report(const FinishedStep& step);
    double samples_per_s() const;
    void warn_once(const StepRecord& row);
    void warn_of_resets(const FinishedStep& step);
    RunStarted started(const std::filesystem::path& folder) const;
    void pass_warnings_on();
    void check_scale(const FinishedStep& step) const;
    void check_divergence(const StepRecord& row);
    std::int64_t diverged_at() const;
    void warn_of_idle_epoch(const StepRecord& row);
    void check_files();
    void finish_epoch();

    RunConfig config_;
    RunStore& store_;
    SessionOptions options_;
    Post post_;

    DataParts data_;
    std::unique_ptr<BatchLoader> loader_;
    std::unique_ptr<Trainer> trainer_;
    std::optional<StepRecordWriter> writer_;
    std::unique_ptr<BatchFeed> feed_;
    EvaluatedPart validation_, test_;
    std::vector<EvaluatedPart*> to_evaluate_;  // in the evaluation under way, the next one last
    std::deque<Given> given_;                  // steps in flight
    std::deque<FinishedStep> pending_;         // rows to be written
    std::vector<Batch> batches_;
    Batch evaluated_batch_;
    ScaleWatch watch_;

    std::string run_;
    std::int64_t steps_planned_ = 0;
    std::int64_t epoch_ = 0;  // completed
    bool epoch_ended_ = false;
    std::chrono::steady_clock::time_point checked_{};  // the files
    double elapsed_s_ = 0;
    double epoch_start_s_ = 0;
    MetricSums epoch_sums_{};    // of the training steps
    double epoch_loss_sum_ = 0;  // of the losses as the record has them
    bool warned_resets_ = false;
    bool warned_loss_ = false;
    bool warned_lost_ = false;
    double lost_share_ = 0;               // running mean
    std::int64_t non_finite_losses_ = 0;  // in a row, up to last_step_
    std::int64_t last_step_ = 0;          // reported
    bool diverged_ = false;
    std::int64_t reported_epoch_ = 0;        // completed epochs in the last row reported
    std::int64_t updates_before_epoch_ = 0;  // applied before the epoch under way
    std::int64_t steps_before_epoch_ = 0;
};

}  // namespace engine
