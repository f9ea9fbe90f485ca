#include "train/run/run_alerts.h"

#include <cmath>
#include <utility>

#include "engine/number/figure_text.h"
#include "engine/record/step_outcome.h"

namespace engine {
namespace {

constexpr std::int64_t persistent_after = 16;
constexpr float used_up = 0x1p-16f;
const char* const fitting_scale = "fitting_scale";

}  // namespace

template <typename Watch, typename F>
void ScaleWatch::for_each_number(Watch& watch, F&& f) {
    f("clean_steps", watch.clean_steps_);
    f("skips_in_a_row", watch.skips_in_a_row_);
    f("has_grown", watch.has_grown_);
}

SavedNumbers ScaleWatch::saved_state() const {
    SavedNumbers out;
    for_each_number(*this, saving_into(out));
    saving_into(out)(fitting_scale, fitting_scale_);
    return out;
}

void ScaleWatch::load_state(const SavedNumbers& saved) {
    for_each_number(*this, loading_from(saved));
    // States of earlier versions lack it.
    if (saved.contains(fitting_scale)) loading_from(saved)(fitting_scale, fitting_scale_);
}

bool ScaleWatch::lower_scale_helps(const StepRecord& row, float to) const {
    if (!std::isfinite(row.loss)) return false;
    if (skips_in_a_row_ < persistent_after + hysteresis_ - 1) return true;
    return to < row.loss_scale && to > fitting_scale_ * used_up;
}

ScaleChanged::Kind ScaleWatch::kind_of_skip(const StepRecord& row, float to) const {
    using Kind = ScaleChanged::Kind;
    if (!lower_scale_helps(row, to)) return Kind::skipped_persistent;
    return has_grown_ ? Kind::skipped_normal : Kind::skipped_calibrating;
}

std::optional<ScaleChanged> ScaleWatch::see(const StepRecord& row, double next_scale) {
    const auto to = static_cast<float>(next_scale);
    if (row.found_inf != 0) {
        ++skips_in_a_row_;
        ScaleChanged event{{},
                           row.step,
                           kind_of_skip(row, to),
                           row.loss_scale,
                           to,
                           std::exchange(clean_steps_, 0)};
        if (!std::isfinite(row.loss)) event.loss = row.loss;
        return event;
    }
    skips_in_a_row_ = 0;
    ++clean_steps_;
    fitting_scale_ = row.loss_scale;
    if (!(to > row.loss_scale)) return std::nullopt;
    has_grown_ = true;
    return ScaleChanged{{},
                        row.step,
                        ScaleChanged::Kind::grown,
                        row.loss_scale,
                        to,
                        std::exchange(clean_steps_, 0)};
}

template <typename S, typename F>
void RunAlerts::for_each_number(S& state, F&& f) {
    f("last_step", state.last_step);
    f("non_finite_losses", state.non_finite_losses);
    f("reported_epoch", state.reported_epoch);
    f("updates_before_epoch", state.updates_before_epoch);
    f("steps_before_epoch", state.steps_before_epoch);
    f("lost_share", state.lost_share);
    f("warned_resets", state.warned_resets);
    f("warned_loss", state.warned_loss);
    f("warned_lost", state.warned_lost);
}

void RunAlerts::save_state(SavedRun& saved) const {
    saved.alerts = watch_.saved_state();
    for_each_number(state_, saving_into(saved.alerts));
}

RunRequest RunAlerts::load_state(const SavedRun& saved) {
    watch_.load_state(saved.alerts);
    for_each_number(state_, loading_from(saved.alerts));
    return {};
}

void RunAlerts::on_step(const CompletedStep& step) {
    if (step.refused) throw *step.refused;
    course_.see(step.row);
    warn_of_resets(step);
    if (const auto event = watch_.see(step.row, step.next_loss_scale)) post_(*event);
    warn_of_overflow(step.row);
    warn_of_loss(step.row);
    warn_of_lost_updates(step.row);
    warn_of_idle_epoch(step.row);
    check_divergence(step.row);
    check_scale(step);
}

void RunAlerts::warn(Message message, std::int64_t step) const {
    post_(RunWarning{{}, std::move(message), step});
}

void RunAlerts::warn_of_idle_epoch(const StepRecord& row) {
    if (row.epoch == state_.reported_epoch) return;
    if (row.updates == state_.updates_before_epoch) {
        const std::int64_t steps = row.step - state_.steps_before_epoch;
        warn(std::isfinite(row.loss)
                 ? msg("No update was applied in epoch {}: all {} steps were skipped, the last one "
                       "at a loss scale of {}. Lower scaler.init_scale, scaler.backoff_factor or "
                       "the learning rate.",
                       row.epoch, steps, power_text(static_cast<double>(row.loss_scale)))
                 : idle_epoch_warning(config_, row.epoch, steps),
             row.step);
    }
    state_.reported_epoch = row.epoch;
    state_.updates_before_epoch = row.updates;
    state_.steps_before_epoch = row.step;
}

void RunAlerts::check_divergence(const StepRecord& row) {
    state_.last_step = row.step;
    state_.non_finite_losses = std::isfinite(row.loss) ? 0 : state_.non_finite_losses + 1;
    if (diverged_ || config_.stop_on_nan == 0 || state_.non_finite_losses < config_.stop_on_nan)
        return;
    diverged_ = true;
    throw Error(ErrorCode::training,
                msg("The run diverged: the loss has not been finite for {} steps, up to step {}.",
                    state_.non_finite_losses, row.step),
                course_.advice());
}

/// One bad batch at the very end is not yet a divergence, unless the settings end the run for it.
void RunAlerts::complete(RunDone& done) {
    if (diverged_ && done.reason == DoneReason::failed) done.reason = DoneReason::diverged;
    if (diverged_ || state_.non_finite_losses > 1)
        done.diverged_at = state_.last_step - state_.non_finite_losses + 1;
}

/// The state of a recurrent model overflowed: it starts again from zero in those streams.
void RunAlerts::warn_of_resets(const CompletedStep& step) {
    if (step.state_resets == 0 || std::exchange(state_.warned_resets, true)) return;
    warn(msg("The carried state was not finite in {} of the text's streams after step {} and was "
             "reset to 0 there. Later resets are not reported.",
             step.state_resets, step.row.step),
         step.row.step);
}

void RunAlerts::warn_of_loss(const StepRecord& row) {
    if (std::isfinite(row.loss) || std::exchange(state_.warned_loss, true)) return;
    warn(msg("The loss is {} at step {}: a value of the forward pass is not finite.",
             figure_text(static_cast<double>(row.loss)), row.step),
         row.step);
}

/// The first step that breaks the weights of a run with a static scale. Its loss is a number still.
void RunAlerts::warn_of_overflow(const StepRecord& row) {
    const bool is_static = resolve(config_.precision).scaler == ScalerMode::constant;
    if (!is_static || outcome_of(row) != StepOutcome::overflowed ||
        std::exchange(warned_overflow_, true))
        return;
    warn(msg("The gradients overflowed at step {}, at a static loss scale of {}, and were applied: "
             "a static scaler skips nothing. Lower the static scale or use a dynamic one.",
             row.step, power_text(static_cast<double>(row.loss_scale))),
         row.step);
}

void RunAlerts::warn_of_lost_updates(const StepRecord& row) {
    if (std::isnan(row.lost_update_share) || resolve(config_.precision).master_weights) return;
    constexpr double weight = 0.05;  // mean of about the last twenty steps
    state_.lost_share += weight * (static_cast<double>(row.lost_update_share) - state_.lost_share);
    if (state_.lost_share <= 0.5 || std::exchange(state_.warned_lost, true)) return;
    warn(msg("{} % of the weight updates vanish: they are smaller than half a unit in the last "
             "place of the 16-bit weights. Master weights in fp32 would keep them.",
             std::lround(state_.lost_share * 100)),
         row.step);
}

void RunAlerts::check_scale(const CompletedStep& step) const {
    const StepRecord& row = step.row;
    if (row.found_inf == 0) return;
    if (step.next_loss_scale == 0) {
        throw Error(
            ErrorCode::training,
            msg("The loss scale fell to 0 at step {}: every step overflows.", row.step),
            std::isfinite(row.loss) ? msg("Lower the learning rate, or train in bf16.")
                                    : course_.advice());
    }
    if (config_.scaler.min_scale > 0 &&
        static_cast<double>(row.loss_scale) <= config_.scaler.min_scale) {
        throw Error(ErrorCode::training,
                    msg("The loss scale fell below its minimum of {} at step {}: the gradients "
                        "overflow even there.",
                        config_.scaler.min_scale, row.step),
                    std::isfinite(row.loss)
                        ? msg("Lower scaler.min_scale or the learning rate, or train in bf16.")
                        : course_.advice());
    }
}

}  // namespace engine
