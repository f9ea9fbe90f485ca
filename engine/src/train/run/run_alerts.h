#pragma once

#include <optional>

#include "engine/record/scale_outlook.h"
#include "train/run/advice.h"
#include "train/run/run_listener.h"

namespace engine {

/// Reports growths and skips of the loss scale from step to step, and how healthy a skip is:
/// persistent if a lower scale does not help, calibrating until the scale has grown once, else
/// normal. A lower scale does not help if the loss itself is not finite, or if at least 16 steps in
/// a row were skipped and the scale
/// - fell to 2^-16 of the last one that fitted, or of the usual one if none has yet, or
/// - does not fall any more, for longer than `hysteresis` skips.
class ScaleWatch {
public:
    /// `hysteresis`: skips in a row until the scale falls (ScalerConfig).
    explicit ScaleWatch(std::int64_t hysteresis = 1) : hysteresis_(hysteresis) {}

    /// The event has no run yet.
    std::optional<ScaleChanged> see(const StepRecord& row, double next_scale);

    /// Everything seen so far, to go on from in a checkpoint.
    SavedNumbers saved_state() const;
    /// Throws Error(data) if a number is missing.
    void load_state(const SavedNumbers& saved);

private:
    template <typename Watch, typename F>
    static void for_each_number(Watch& watch, F&& f);
    bool lower_scale_helps(const StepRecord& row, float to) const;
    ScaleChanged::Kind kind_of_skip(const StepRecord& row, float to) const;

    const std::int64_t hysteresis_;
    std::int64_t clean_steps_ = 0;  ///< since the last growth or skip
    std::int64_t skips_in_a_row_ = 0;
    bool has_grown_ = false;
    float fitting_scale_ = usual_loss_scale;  ///< of the last applied step
};

/// The messages of a run about its steps: changes of the loss scale, warnings, and the errors that
/// end the run. One thread at a time.
class RunAlerts final : public RunListener {
public:
    RunAlerts(const RunConfig& config, PostEvent post)
        : config_(config),
          post_(std::move(post)),
          watch_(config.scaler.hysteresis),
          course_(config) {}

    void on_step(const CompletedStep& step) override;
    /// RunDone::diverged_at, and the reason where a non-finite loss ended the run.
    void complete(RunDone& done) override;
    void save_state(SavedRun& saved) const override;
    RunRequest load_state(const SavedRun& saved) override;

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

    void warn_of_resets(const CompletedStep& step);
    void warn_of_loss(const StepRecord& row);
    void warn_of_overflow(const StepRecord& row);
    void warn_of_lost_updates(const StepRecord& row);
    void warn_of_idle_epoch(const StepRecord& row);
    void check_divergence(const StepRecord& row);
    void check_scale(const CompletedStep& step) const;
    void warn(Message message, std::int64_t step) const;

    const RunConfig& config_;
    PostEvent post_;
    ScaleWatch watch_;
    FaultCourse course_;  ///< of a run that went on: since then
    State state_;
    bool warned_overflow_ = false;
    bool diverged_ = false;  ///< the loss stayed non-finite for `stop_on_nan` steps
};

}  // namespace engine
