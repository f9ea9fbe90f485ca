#pragma once

#include <functional>
#include <string>

#include "train/run/advice.h"
#include "train/run/scale_watch.h"
#include "train/step/saved_numbers.h"
#include "train/step/step_figures.h"

namespace engine {

/// The messages of a run about its steps: changes of the loss scale, warnings, and the errors that
/// end the run. One thread at a time.
class RunAlerts {
public:
    using Post = std::function<void(Event)>;

    RunAlerts(const RunConfig& config, Post post)
        : config_(config),
          post_(std::move(post)),
          watch_(config.scaler.hysteresis),
          course_(config) {}

    /// A step whose row was written. Throws Error if it ends the run.
    void see(const std::string& run, const FinishedStep& step);

    /// The loss stayed non-finite for `stop_on_nan` steps, which ended the run with an error.
    bool diverged() const { return diverged_; }
    /// The step from which the loss was not finite to the end; 0: it was finite.
    std::int64_t diverged_at() const;

    /// Everything seen and said so far, to go on from in a checkpoint.
    SavedNumbers saved_state() const;
    /// Throws Error(data) if a number is missing.
    void load_state(const SavedNumbers& saved);

private:
    struct State {
        std::int64_t last_step = 0;
        std::int64_t non_finite_losses = 0;  // in a row, up to last_step
        std::int64_t reported_epoch = 0;     // completed epochs in the last row seen
        std::int64_t updates_before_epoch = 0;
        std::int64_t steps_before_epoch = 0;
        double lost_share = 0;  // running mean
        bool warned_resets = false;
        bool warned_loss = false;
        bool warned_lost = false;
    };
    template <typename S, typename F>
    static void for_each_number(S& state, F&& f);

    void warn_of_resets(const FinishedStep& step);
    void warn_of_loss(const StepRecord& row);
    void warn_of_overflow(const StepRecord& row);
    void warn_of_lost_updates(const StepRecord& row);
    void warn_of_idle_epoch(const StepRecord& row);
    void check_divergence(const StepRecord& row);
    void check_scale(const FinishedStep& step) const;
    void warn(Message message, std::int64_t step) const;

    const RunConfig& config_;
    Post post_;
    ScaleWatch watch_;
    FaultCourse course_;  ///< of a run that went on: since then
    State state_;
    std::string run_;
    bool warned_overflow_ = false;
    bool diverged_ = false;
};

}  // namespace engine
