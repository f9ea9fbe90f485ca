#pragma once

#include <QStringList>
#include <memory>

#include "commands/run_actor.h"
#include "lab/lessons/lesson_worker.h"
#include "plots/plot_link.h"

namespace ui {

class Commands;

/// The runs of the open lesson, on which the command bar acts while the Lab is shown. GUI thread.
class LessonRuns final : public RunActor {
    Q_OBJECT
public:
    enum class Phase { notRun, running, paused, ended };

    explicit LessonRuns(Commands* commands, QObject* parent = nullptr);
    ~LessonRuns() override;

    /// Discards the runs of the former lesson. Null: no lesson is open. Emits nothing, since views
    /// still show that lesson: call announce() once they show this one.
    void setLesson(std::shared_ptr<const engine::Lesson> lesson);
    void announce();
    /// Sets the lesson in another language.
    void setWords(std::shared_ptr<const engine::Lesson> lesson) { lesson_ = std::move(lesson); }
    /// Why Run is locked ("Predict first"); empty: it is not.
    void setLock(const QString& why);
    /// Sets a knob of Try; trains again at once if the runs have started. Empty value: the lesson's
    /// own.
    void setKnob(const QString& path, const QString& value);
    const std::map<QString, QString>& knobs() const { return knobs_; }
    /// Discards the runs, their former ones and the knobs.
    void reset();
    /// Pauses the experiment that trains elsewhere, then starts.
    void pauseOthers();
    std::int64_t seed() const { return 1; }

    Phase phase() const { return phase_; }
    const LessonSnapshot& snapshot() const { return *now_; }
    /// Runs from before a knob was turned, the newest last; few.
    const std::vector<TrackList>& former() const { return former_; }
    /// Index in the lesson's runs of a name; -1: none.
    int indexOf(const std::string& name) const;
    /// Null before the runs have started.
    LessonWorker* worker() const { return worker_.get(); }
    /// The user ended the runs before their time.
    bool stopped() const { return stopped_; }
    /// Steps that the longest run will take; 0: unknown.
    std::int64_t plannedSteps() const;

    ButtonStates buttons() const override;
    QString startText() const override;
    void start() override;
    void togglePause() override;
    void step() override;
    void stop() override;
    TrackList tracks() const override { return tracks_; }
    PlotLink* link() const override { return link_; }
    QString title(const RunTrack& track) const override;
    QString status() const override;

signals:
    /// The runs begin: predictions are locked from now on.
    void began();
    /// notRun, running, paused, ended.
    void phaseChanged();
    /// snapshot() is new.
    void measured();
    /// Another experiment trains: Run waits for the user's word.
    void pauseOffered();
    /// The lesson cannot be run. A single run that fails is reported by snapshot().
    void failed(const engine::Message& problem, const engine::Message& hint);

private:
    void begin(LessonWorker::Command first);
    void checkAlone();
    void take(const LessonSnapshot& now);
    void makeTracks(const LessonSnapshot& now);
    void setPhase(Phase phase);
    void discard();

    Commands* commands_;
    PlotLink* link_;
    std::shared_ptr<const engine::Lesson> lesson_;
    std::unique_ptr<LessonWorker> worker_;
    std::shared_ptr<const LessonSnapshot> now_;
    TrackList tracks_;
    std::vector<TrackList> former_;
    std::map<QString, QString> knobs_;
    QString lock_;
    Phase phase_ = Phase::notRun;
    bool askedPause_ = false;
    bool stopped_ = false;
    bool toldProblem_ = false;
};

}  // namespace ui
