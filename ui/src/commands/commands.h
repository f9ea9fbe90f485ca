#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "commands/button_states.h"
#include "commands/file_works.h"
#include "commands/resume_plan.h"
#include "commands/worker_launch.h"
#include "engine/base/error.h"
#include "engine/record/twin.h"
#include "engine/runs/run_store.h"
#include "engine/session/session.h"
#include "engine/settings/run_config.h"
#include "engine/verdict/lint.h"
#include "feed/background_task.h"

namespace ui {

class EventFeed;
class PathOpener;
class RunActor;
class SettingsModel;

/// The actions of buttons, menus, keys and drops. GUI thread.
class Commands final : public QObject {
    Q_OBJECT
public:
    Commands(EventFeed* feed, SettingsModel* settings, QObject* parent = nullptr);
    ~Commands() override;

    void compare();
    /// Starts one run of the settings. Where that is quick their first steps are tried before, on a
    /// model that is thrown away: hazards that only a step shows are reported, and the run starts.
    void start();
    /// The longest that a start waits for the trial; 0: there is none.
    void setTrialLimit(std::chrono::milliseconds limit) { trialLimit_ = limit; }
    /// Starts the first two of the compared precisions in lockstep.
    void startTwin(const engine::TwinOptions& options);
    /// Starts one run, or several that take turns, as part of a sweep or comparison if there is a
    /// `group`. False, with the reason reported, if that fails.
    bool train(const std::vector<engine::RunConfig>& configs, const std::string& group = {},
               const std::filesystem::path& dataOf = {});
    void togglePause();
    void step();
    void stop();
    /// Starts the runs that show what loss scaling is for.
    void demonstrate();
    /// Tests on the test set after the step in flight.
    void validate();
    /// Saves a checkpoint of each run after the step in flight.
    void saveCheckpoint();
    /// Continues a run of the history from its last checkpoint, which is read off the GUI thread
    /// first. Calls `then` with whether the run continues; if it cannot, the reason was reported. A
    /// run that is started in the meantime takes precedence.
    void resume(const engine::RunSummary& run, std::function<void(bool begun)> then = {},
                const ResumeChoice& choice = {});
    /// Resumes the runs of a comparison: those that were stopped, killed or failed continue in
    /// turns, beside the others.
    void resumeGroup(const std::vector<engine::RunSummary>& runs,
                     std::function<void(bool begun)> then = {});
    /// The runs that were to be resumed go on with the data as they are now (dataChanged).
    void goOnWithData();
    /// A run of the experiment failed. Reports why, and asks where the data have changed and can be
    /// accepted.
    void runFailed(const engine::RunFailed& failed);
    /// Tells the window of a run whose process died, or of the runs of its comparison, so that it
    /// can offer to resume them.
    void offerToResume(const std::vector<engine::RunSummary>& runs) { emit resumeOffered(runs); }
    /// Opens a dropped or named path: data, settings, a run's folder or a file that holds a run.
    void openPath(const QString& path);
    /// Opens several at once: runs among them are shown over one another.
    void openPaths(const QStringList& paths);
    /// A file or folder that was chosen as data. Its content decides what it is, as for openPath();
    /// where it says nothing, it becomes the path of the chosen data set, which then says what is
    /// wrong with it.
    void openData(const QString& path);
    /// Follows the run that another program writes in this folder, as soon as there is one.
    void watchFolder(const QString& folder);

    /// Shows the page of this name (pages/registry.cpp).
    void showPage(const QString& name) { emit pageWanted(name); }
    /// The last path given to openPath() for the Lab, once; empty: none.
    QString takeLessons();
    bool hasLessons() const;
    /// The last network's file given to openPath(), once; empty: none.
    QString takeNetwork();
    /// Puts these settings into the panel, ready to be changed.
    void editSettings(const engine::RunConfig& config);

    /// Button states of the actor, or without one of the experiment.
    ButtonStates buttons() const;
    /// From now on the five buttons act on these runs instead of the experiment; null: on the
    /// experiment again.
    void setActor(RunActor* actor);
    /// Null: the buttons act on the experiment.
    RunActor* actor() const;
    /// An experiment trains or is being prepared: not paused, not ended.
    bool experimentRuns() const;
    /// Pauses the experiment, whatever the buttons act on.
    void pauseExperiment();
    void report(const Problem& problem) { emit failed(problem); }
    void report(const engine::Error& error);
    /// Files that are written or read off the GUI thread. What they say is reported.
    FileWorks* works() const { return works_; }

signals:
    /// The data of the runs that were to be resumed have changed: goOnWithData() accepts them.
    /// `what`: how they differ. `asNewRun`: the runs go on as new ones.
    void dataChanged(const QString& what, bool asNewRun);
    void resumeOffered(const std::vector<engine::RunSummary>& runs);
    void buttonsChanged();
    /// The buttons act on other runs.
    void actorChanged();
    void failed(const ui::Problem& problem);
    /// A file that holds a whole run was opened.
    void runFileOpened(const QString& file);
    /// A run's folder was opened.
    void runOpened(const QString& folder);
    void runsOpened(const QStringList& folders);
    void pageWanted(const QString& name);
    /// A lesson, or a folder or zip of lessons, was opened.
    void lessonsOpened();
    /// A network's text was opened.
    void networkOpened();
    /// The settings panel is to have the focus.
    void settingsWanted();
    /// A run is about to start from the settings: what is still being typed goes into them now.
    void settingsNeeded();
    /// An experiment was started.
    void started();
    /// Hazards that the first steps of these settings show.
    void hazardsFound(const engine::RunConfig& config,
                      const std::vector<engine::LintFinding>& findings);

private:
    /// Why a setting is refused, with the field's name in front.
    QString settingError(const engine::SettingError& error) const;
    /// Several runs are a comparison.
    bool launch(const std::vector<engine::RunConfig>& configs, bool oneStep,
                const std::string& group = {});
    /// Posts a command to the experiment that `open` creates. False, with the reason reported, if
    /// that fails.
    bool launch(const std::function<void()>& open, engine::Command first);
    void tryFirstSteps(const engine::RunConfig& config);
    void endTrial();
    void followWorkers();
    ButtonStates experimentButtons() const;
    bool goOn(const std::vector<engine::RunSummary>& runs, const Outcome<ResumePlans>& planned);
    void resumeAll(const std::vector<engine::RunSummary>& runs,
                   const std::optional<ResumeChoice>& choice,
                   std::function<void(bool begun)> then);
    /// Runs that go on, and those of their comparison that have ended.
    struct Resumed {
        std::vector<engine::GroupMemberPlan> members;
        std::vector<engine::RunSummary> ended;
    };
    void openResumed(bool acceptData);
    void stateChanged();
    void announceButtons();

    EventFeed* feed_;
    SettingsModel* settings_;
    FileWorks* works_;
    PathOpener* paths_;
    WorkerLaunch workers_;  ///< a run of several processes, beside the experiment
    QPointer<RunActor> actor_;
    PendingCommand asked_ = PendingCommand::nothing;
    Resumed resumed_;  ///< the experiment; without members it was not resumed
    int attempts_ = 0;  ///< at starting a run: the last one counts
    std::chrono::milliseconds trialLimit_{1000};
    std::stop_source trial_;
    bool trying_ = false;  ///< a start waits for its trial
    ButtonStates told_;
};

}  // namespace ui
