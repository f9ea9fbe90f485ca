#include "text/event_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "engine/record/scale_outlook.h"
#include "engine/record/step_outcome.h"
#include "text/format.h"
#include "text/language.h"
#include "text/metric_text.h"

namespace ui {

using engine::ScaleChanged;

namespace {

using Metrics = std::vector<engine::Metric>;

/// The metrics of a part in the order of the task, the primary one first: a stored event has lost
/// that order.
std::vector<engine::MetricValue> inOrder(const engine::PartFigures& part, const Metrics& metrics) {
    std::vector<engine::MetricValue> out;
    const auto has = [](const auto& list, const std::string& key) {
        return std::ranges::any_of(list, [&](const auto& each) { return each.key == key; });
    };
    for (const engine::Metric& metric : metrics) {
        if (has(part.metrics, metric.key)) out.push_back({metric.key, part.of(metric.key)});
    }
    for (const engine::MetricValue& value : part.metrics) {
        if (!has(metrics, value.key)) out.push_back(value);
    }
    return out;
}

struct EventWords {
    Q_DECLARE_TR_FUNCTIONS(EventWords)
public:
    static EventText scale(const ScaleChanged& e);
    static EventText epoch(const engine::EpochDone& e, const Metrics& metrics);
    static EventText done(const engine::RunDone& e, const engine::RunConfig& config,
                          const Metrics& metrics);
    static EventText started(const engine::RunStarted& e);
    static EventText resumed(const engine::RunResumed& e);
    static EventText examined(const engine::StepExamined& e);
    static EventText saved(const engine::CheckpointSaved& e);
    static EventText skips(const ScaleChanged& first, const ScaleChanged& last);
    static QString health(const ScaleChanged& e);
    static QString outlook(std::int64_t more);
    static StepReason skippedForever(const engine::StepRecord& row);
    static QString state(engine::RunState state);
    static QString reason(const engine::RunDone& done, const engine::RunConfig& config);
    static QString diverged(std::int64_t step) {
        return step > 0 ? tr("diverged at step %1").arg(count(step)) : tr("diverged");
    }
    static StepReason skipped(const engine::StepRecord& row, const ScaleChanged* scale,
                              double after);
    static StepReason applied(const engine::StepRecord& row, const ScaleChanged* scale,
                              bool scaled);
    static StepReason unscaled(const engine::StepRecord& row);
    static StepReason overflowed(const engine::RunConfig& config);
};

/// Outlook of a skip that leaves `more` to the usual scale.
QString EventWords::outlook(std::int64_t more) {
    const QString usual = powerOfTwo(static_cast<double>(engine::usual_loss_scale));
    return more == 1 ? tr("One more skip would lower it to %1, the default.").arg(usual)
                     : tr("About %1 more skips would lower it to %2, the default.")
                           .arg(count(more), usual);
}

QString EventWords::health(const ScaleChanged& e) {
    switch (e.kind) {
        case ScaleChanged::Kind::skipped_calibrating:
            if (const std::int64_t more = engine::skips_to_usual_scale(e); more > 0)
                return joined({tr("Calibrating: the scale was still too large."), outlook(more)});
            return tr("Calibrating: the scaler is still looking for a scale that fits.");
        case ScaleChanged::Kind::skipped_normal:
            return tr("Normal: the scale had grown past the largest safe one.");
        case ScaleChanged::Kind::skipped_persistent:
            if (!e.loss)
                return tr("Persistent: the gradients are not finite even at scale %1, so look for "
                          "a NaN in the backward pass.")
                    .arg(powerOfTwo(static_cast<double>(e.from)));
            return tr("Persistent: lowering the scale cannot fix a NaN in the forward pass.");
        case ScaleChanged::Kind::grown:
            break;
    }
    return {};
}

EventText EventWords::scale(const ScaleChanged& e) {
    const double from = static_cast<double>(e.from);
    const double to = static_cast<double>(e.to);
    if (e.kind == ScaleChanged::Kind::grown) {
        return {EventKind::grown,
                e.step,
                tr("%1 clean steps: scale %2 → %3.")
                    .arg(count(e.clean_steps), powerOfTwo(from), powerOfTwo(to)),
                {}};
    }
    const QString cause =
        e.loss ? tr("Skipped: the loss is %1.").arg(significant(static_cast<double>(*e.loss)))
               : tr("Skipped: a gradient overflowed.");
    const QString effect = e.to < e.from
                               ? tr("Scale %1 → %2.").arg(powerOfTwo(from), powerOfTwo(to))
                               : tr("The scale stays at %1.").arg(powerOfTwo(from));
    return {EventKind::skipped, e.step, joined({cause, effect}), health(e)};
}

EventText EventWords::skips(const ScaleChanged& first, const ScaleChanged& last) {
    const QString what =
        tr("Skipped %1–%2, %3 times.")
            .arg(count(first.step), count(last.step), count(last.step - first.step + 1));
    const auto from = static_cast<double>(first.from);
    const auto to = static_cast<double>(last.to);
    const QString effect = last.to < first.from
                               ? tr("Scale %1 → %2.").arg(powerOfTwo(from), powerOfTwo(to))
                               : tr("The scale stays at %1.").arg(powerOfTwo(from));
    const QString cause =
        last.loss ? tr("The loss is %1.").arg(significant(static_cast<double>(*last.loss)))
                  : QString();
    return {EventKind::skipped, first.step, joined({what, effect}), joined({cause, health(last)})};
}

EventText EventWords::epoch(const engine::EpochDone& e, const Metrics& metrics) {
    QString what = e.epoch_ended ? tr("Epoch %1 done.").arg(e.epoch)
                                 : tr("Tested at step %1.").arg(count(e.step));
    if (const auto shown = inOrder(e.test, metrics); !shown.empty()) {
        const auto& [key, value] = shown.front();
        const QString text = metricValue(metricOf(key), value);
        if (!std::isnan(value))
            what = joined(
                {what, key == "accuracy"
                           ? tr("Test accuracy %1.").arg(text)
                           : spaced(tr("Test %1 %2.").arg(metricInline(metricOf(key)), text))});
    }
    QString meaning = tr("Training loss %1").arg(significant(e.train.loss));
    if (!std::isnan(e.validation.loss))
        meaning += tr(", validation loss %1").arg(significant(e.validation.loss));
    if (e.test.known()) meaning += tr(", test loss %1").arg(significant(e.test.loss));
    return {EventKind::epoch, e.step, what,
            meaning + tr(", took %1.").arg(milliseconds(1e3 * e.seconds))};
}

EventText EventWords::started(const engine::RunStarted& e) {
    if (e.origin) {
        QStringList parts;
        for (const std::string& part : {e.origin->model, e.origin->dataset, e.origin->optimizer}) {
            if (!part.empty()) parts << QString::fromStdString(part);
        }
        return {EventKind::started, 0,
                tr("Run %1 is trained by %2.")
                    .arg(QString::fromStdString(e.run), QString::fromStdString(e.origin->program)),
                parts.join(QStringLiteral(" · "))};
    }
    return {EventKind::started, 0,
            tr("Run %1 started on %2.")
                .arg(QString::fromStdString(e.run), QString::fromStdString(e.device).toUpper()),
            tr("%1 parameters, %2 training %3.")
                .arg(count(e.parameters), count(e.train_samples), unitName(e.unit))};
}

EventText EventWords::resumed(const engine::RunResumed& e) {
    const QString what = e.parent.empty()
                             ? tr("Resumed after step %1.").arg(count(e.step))
                             : tr("Continues run %2 after step %1.")
                                   .arg(count(e.step), QString::fromStdString(e.parent));
    QStringList restored;
    for (const auto& part : e.restored) restored << engineText(part);
    return {EventKind::started, e.step, what, joined(restored)};
}

EventText EventWords::saved(const engine::CheckpointSaved& e) {
    return {EventKind::saved, e.step,
            e.best ? tr("Checkpoint saved, the best so far.") : tr("Checkpoint saved."),
            tr("%1, written in %2.").arg(bytes(e.bytes), milliseconds(1e3 * e.seconds))};
}

EventText EventWords::examined(const engine::StepExamined& e) {
    return {
        e.cause == "scale_too_large" ? EventKind::skipped : EventKind::warning, e.step,
        engineText(e.verdict),
        e.damaged_at == 0 ? QString() : tr("Step %1 damaged the state.").arg(count(e.damaged_at))};
}

EventText EventWords::done(const engine::RunDone& e, const engine::RunConfig& config,
                           const Metrics& metrics) {
    QString meaning = tr("%1 steps, %2 skipped").arg(count(e.steps), count(e.skipped));
    if (e.replaced_samples > 0)
        meaning += tr(", %1 damaged samples replaced").arg(count(e.replaced_samples));
    for (const auto& [key, value] : inOrder(e.test, metrics)) {
        if (std::isnan(value)) continue;
        const QString text = metricValue(metricOf(key), value);
        meaning += key == "accuracy"
                       ? tr(", test accuracy %1").arg(text)
                       : spaced(tr(", test %1 %2").arg(metricInline(metricOf(key)), text));
    }
    return {EventKind::done, e.steps, reason(e, config), meaning + tr(".")};
}

QString EventWords::reason(const engine::RunDone& done, const engine::RunConfig& config) {
    const bool failed = done.reason == engine::DoneReason::failed;
    if (done.diverged_at != 0 && !failed) {
        return tr("Diverged: the loss is NaN or infinite from step %1 on.")
            .arg(count(done.diverged_at));
    }
    switch (done.reason) {
        case engine::DoneReason::epochs:
            return config.epochs == 1 ? tr("Finished 1 epoch.")
                                      : tr("Finished %1 epochs.").arg(count(config.epochs));
        case engine::DoneReason::max_steps:
            return tr("Finished %1 steps, the limit.").arg(count(done.steps));
        case engine::DoneReason::stopped:
            return tr("Stopped on request. The run is kept.");
        case engine::DoneReason::early_stopping:
            return tr("Ended early: the metric has stopped improving.");
        case engine::DoneReason::diverged:
            return tr("Diverged: the loss stayed NaN or infinite.");
        case engine::DoneReason::failed:
            return tr("Ended by an error.");
    }
    return {};
}

QString EventWords::state(engine::RunState state) {
    switch (state) {
        case engine::RunState::idle:
            return tr("Ready");
        case engine::RunState::preparing:
            return tr("Preparing");
        case engine::RunState::training:
            return tr("Training");
        case engine::RunState::paused:
            return tr("Paused");
        case engine::RunState::evaluating:
            return tr("Evaluating");
        case engine::RunState::stopping:
            return tr("Stopping");
        case engine::RunState::done:
            return tr("Done");
        case engine::RunState::failed:
            return tr("Failed");
    }
    return {};
}

/// The scale fell and fell, and the loss is finite.
StepReason EventWords::skippedForever(const engine::StepRecord& row) {
    return {StepReason::Tone::bad, tr("Skip after skip: not the scale."),
            tr("Many steps in a row were skipped, and the gradients are not finite even at scale "
               "%1. Look for a NaN in the backward pass.")
                .arg(powerOfTwo(static_cast<double>(row.loss_scale)))};
}

StepReason EventWords::skipped(const engine::StepRecord& row, const ScaleChanged* scale,
                               double after) {
    StepReason out;
    const double used = static_cast<double>(row.loss_scale);
    const bool forward = !std::isfinite(row.loss);
    const bool early = scale != nullptr && scale->kind == ScaleChanged::Kind::skipped_calibrating;
    const bool persistent =
        scale != nullptr && scale->kind == ScaleChanged::Kind::skipped_persistent;
    if (forward) {
        out = {
            StepReason::Tone::bad, tr("The forward pass already broke."),
            tr("The loss itself is %1, so no loss scale can fix it. Look for inputs, weights or a "
               "learning rate that are too large.")
                .arg(significant(static_cast<double>(row.loss)))};
    } else if (persistent) {
        out = skippedForever(row);
    } else {
        out = {StepReason::Tone::good,
               early ? tr("Benign: the scaler is still looking for a scale that fits.")
                     : tr("Benign: the scale was too large."),
               tr("At scale %1 a gradient exceeded 65,504, the largest FP16 number.")
                   .arg(powerOfTwo(used))};
    }
    QStringList effects{out.body, tr("The weights did not change.")};
    if (!std::isnan(after) && after < used)
        effects << tr("The scale went down to %1.").arg(powerOfTwo(after));
    if (const std::int64_t more = early ? engine::skips_to_usual_scale(*scale) : 0; more > 0)
        effects << outlook(more);
    out.body = joined(effects);
    return out;
}

StepReason EventWords::applied(const engine::StepRecord& row, const ScaleChanged* scale,
                               bool scaled) {
    if (!std::isfinite(row.loss)) {
        return {StepReason::Tone::bad, tr("The loss is not finite."),
                tr("It is %1. Only a dynamic scaler skips such a step, and this run has none: the "
                   "weights are damaged.")
                    .arg(significant(static_cast<double>(row.loss)))};
    }
    if (scale != nullptr && scale->kind == ScaleChanged::Kind::grown) {
        return {StepReason::Tone::good, tr("Applied, and the scale grew."),
                tr("%1 clean steps filled the growth interval: the scale goes from %2 to %3.")
                    .arg(count(scale->clean_steps), powerOfTwo(static_cast<double>(scale->from)),
                         powerOfTwo(static_cast<double>(scale->to)))};
    }
    if (row.lost_update_share > 0.25f) {
        return {StepReason::Tone::caution, tr("Applied, but many updates were lost."),
                tr("%1 of the weight updates are smaller than half a unit in the last place of the "
                   "weight, so rounding discards them.")
                    .arg(percent(static_cast<double>(row.lost_update_share)))};
    }
    if (!scaled)
        return {StepReason::Tone::neutral, tr("Applied."), tr("This run needs no loss scale.")};
    return {StepReason::Tone::neutral, tr("Applied."),
            tr("All gradients were finite, so the weights moved.")};
}

/// A step whose gradients were not finite and that nothing skipped.
StepReason EventWords::overflowed(const engine::RunConfig& config) {
    const bool isStatic = engine::resolve(config.precision).scaler == engine::ScalerMode::constant;
    return {StepReason::Tone::bad, tr("The gradients overflowed, and the step was applied."),
            joined({isStatic ? tr("A static scaler skips nothing: the weights of these gradients "
                                  "are no numbers from here on.")
                             : tr("Only a dynamic scaler skips such a step: the weights of these "
                                  "gradients are no numbers from here on."),
                    engineText(engine::applied_overflow_advice(config))})};
}

/// A step applied in FP16 without loss scaling.
StepReason EventWords::unscaled(const engine::StepRecord& row) {
    const QString why = tr("FP16 rounds a gradient of 2⁻²⁵ or less to 0.");
    if (!(row.grad_zero_share > 0.5f)) {
        return {StepReason::Tone::neutral, tr("Applied without loss scaling."), why};
    }
    return {StepReason::Tone::caution, tr("Applied, but most gradients are 0."),
            joined({tr("%1 of the gradients are exactly 0, so these weights cannot learn.")
                        .arg(percent(static_cast<double>(row.grad_zero_share))),
                    why, tr("Loss scaling keeps small gradients in range.")})};
}

}  // namespace

EventText describeEvent(const engine::Event& event, const engine::RunConfig& config,
                        const std::vector<engine::Metric>& metrics) {
    if (const auto* scale = std::get_if<ScaleChanged>(&event)) return EventWords::scale(*scale);
    if (const auto* epoch = std::get_if<engine::EpochDone>(&event))
        return EventWords::epoch(*epoch, metrics);
    if (const auto* start = std::get_if<engine::RunStarted>(&event))
        return EventWords::started(*start);
    if (const auto* resumed = std::get_if<engine::RunResumed>(&event))
        return EventWords::resumed(*resumed);
    if (const auto* saved = std::get_if<engine::CheckpointSaved>(&event))
        return EventWords::saved(*saved);
    if (const auto* examined = std::get_if<engine::StepExamined>(&event))
        return EventWords::examined(*examined);
    if (const auto* done = std::get_if<engine::RunDone>(&event))
        return EventWords::done(*done, config, metrics);
    if (const auto* warning = std::get_if<engine::RunWarning>(&event)) {
        return {EventKind::warning, warning->step, sentence(engineText(warning->message)), {}};
    }
    if (const auto* alarm = std::get_if<engine::ScaleAlarm>(&event))
        return {EventKind::warning, alarm->step, sentence(engineText(alarm->hint)), {}};
    if (const auto* failed = std::get_if<engine::RunFailed>(&event)) {
        return {EventKind::failed, 0, sentence(engineText(failed->message)),
                engineText(failed->hint)};
    }
    return {};
}

EventText describeSkips(const ScaleChanged& first, const ScaleChanged& last) {
    return EventWords::skips(first, last);
}

StepReason explainStep(const engine::StepRecord& row, const ScaleChanged* scale, double after,
                       bool hasScaler, bool fp16, const engine::RunConfig* config) {
    if (row.found_inf != 0) return EventWords::skipped(row, scale, after);
    if (config != nullptr && engine::outcome_of(row) == engine::StepOutcome::overflowed)
        return EventWords::overflowed(*config);
    const bool updatesLost = row.lost_update_share > 0.25f;
    if (fp16 && !hasScaler && !updatesLost && std::isfinite(row.loss)) {
        return EventWords::unscaled(row);
    }
    return EventWords::applied(row, scale, hasScaler);
}

QString sentence(const QString& text) {
    const bool ends = text.isEmpty() || QStringView(u".。?？!！").contains(text.back());
    return ends ? text : text + EventWords::tr(".");
}

QString stateText(engine::RunState state) { return EventWords::state(state); }
QString doneText(const engine::RunDone& done, const engine::RunConfig& config) {
    return EventWords::reason(done, config);
}
QString divergedText(std::int64_t step) { return EventWords::diverged(step); }

}  // namespace ui
