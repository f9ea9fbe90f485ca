#pragma once

#include <QString>

#include "engine/record/event.h"
#include "engine/record/step_record.h"

namespace ui {

/// The kind of an event: decides icon and colour, and the filter of the list.
enum class EventKind { grown, skipped, epoch, started, saved, done, warning, failed };

/// An event in plain words: what happened, then what it means.
struct EventText {
    EventKind kind = EventKind::started;
    std::int64_t step = 0;  ///< 0: belongs to no step
    QString what;
    QString meaning;
};

/// The text for an event of a run with these settings. `what` is empty for events that the list
/// does not show (changes of state). `metrics`: the task's, the primary one first.
EventText describeEvent(const engine::Event& event, const engine::RunConfig& config,
                        const std::vector<engine::Metric>& metrics = {});

/// Words for the skips of consecutive steps, from `first` to `last`: one row in the list.
EventText describeSkips(const engine::ScaleChanged& first, const engine::ScaleChanged& last);

/// Why a step went as it did, for the panel of the selected step.
struct StepReason {
    enum class Tone { good, neutral, caution, bad };
    Tone tone = Tone::neutral;
    QString headline;
    QString body;
};
/// `scale`: the event of this step's skip or growth, or null; `after`: the scale of the next step,
/// NaN if there is none yet; `fp16`: the run computes in FP16; `config`: its settings, null if the
/// program that trains it may not measure its gradients.
StepReason explainStep(const engine::StepRecord& row, const engine::ScaleChanged* scale,
                       double after, bool hasScaler, bool fp16 = false,
                       const engine::RunConfig* config = nullptr);

/// Adds the full stop that messages of the engine may lack, where another sentence follows.
QString sentence(const QString& text);
QString stateText(engine::RunState state);
/// How a run with these settings ended.
QString doneText(const engine::RunDone& done, const engine::RunConfig& config);
/// "diverged at step 23"; "diverged" for 0, a step that the record does not tell.
QString divergedText(std::int64_t step);

}  // namespace ui
