// The state of a lesson's runs on the command bar and the status line.
#include <algorithm>

#include "lab/lessons/lesson_runs.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"

namespace ui {

using namespace Qt::StringLiterals;

ButtonStates LessonRuns::buttons() const {
    const bool some = lesson_ && !lesson_->runs.empty();
    const bool checks = lesson_ && !lesson_->checks.empty();
    const bool under = phase_ == Phase::running || phase_ == Phase::paused;
    const QString none = tr("This lesson trains nothing.");
    const auto state = [](bool enabled, const QString& why) {
        return ButtonState{enabled, enabled ? QString() : why};
    };
    ButtonStates out;
    const QString why = !some && !checks                  ? none
                        : !some && phase_ == Phase::ended ? tr("The answers are below.")
                        : under                           ? tr("The lesson's runs are in progress.")
                                                          : lock_;
    out.compare = state(why.isEmpty(), why);
    out.start = state(false, tr("The lesson's runs start together."));
    const QString idle = some ? tr("Nothing is running.") : none;
    out.pauseResumes = phase_ == Phase::paused || askedPause_;
    out.pause = state(under, idle);
    const bool first = some && phase_ == Phase::notRun && why.isEmpty();
    out.step = state(phase_ == Phase::paused || askedPause_ || first,
                     phase_ == Phase::running ? tr("Pause first, then go step by step.")
                     : lock_.isEmpty()        ? idle
                                              : lock_);
    out.stop = state(under, idle);
    out.demonstrate = state(false, tr("Leave the Lab first."));
    return out;
}

QString LessonRuns::startText() const {
    if (lesson_ && lesson_->runs.empty()) return tr("Check answers");
    return phase_ == Phase::ended ? tr("Run again") : tr("Run lesson");
}

QString LessonRuns::title(const RunTrack& track) const { return track.tag; }

QString LessonRuns::status() const {
    if (!lesson_) return {};
    const QString name =
        tr("<b>Lesson</b> %1").arg(QString::fromStdString(lesson_->title).toHtmlEscaped());
    std::int64_t rows = 0;
    for (const auto& track : tracks_) rows = std::max(rows, track->rows());
    switch (phase_) {
        case Phase::notRun:
            return name;
        case Phase::running:
        case Phase::paused: {
            const QString word = phase_ == Phase::paused
                                     ? tr("paused at step %1").arg(count(rows))
                                     : tr("step %1 of %2").arg(count(rows), count(plannedSteps()));
            const QString pace =
                lesson_->pace > 0
                    ? u" · "_s + tr("paced at %1 steps/s").arg(plainText(lesson_->pace))
                    : QString();
            return name + u" · "_s + word + pace;
        }
        case Phase::ended:
            break;
    }
    return name + u" · "_s +
           tr("ended at step %1; the runs are discarded unless kept").arg(count(rows));
}

}  // namespace ui
