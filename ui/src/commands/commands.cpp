#include "commands/commands.h"

#include <QCoreApplication>
#include <algorithm>

#include "commands/demonstration.h"
#include "commands/path_opener.h"
#include "commands/run_actor.h"
#include "engine/runs/run_group.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "models/settings_checks.h"
#include "models/settings_model.h"
#include "text/event_text.h"
#include "text/language.h"
#include "text/setting_text.h"

namespace ui {

using engine::Command;
using engine::RunState;

Commands::Commands(EventFeed* feed, SettingsModel* settings, QObject* parent)
    : QObject(parent),
      feed_(feed),
      settings_(settings),
      works_(new FileWorks(this)),
      paths_(new PathOpener(this, feed, settings)),
      workers_(QCoreApplication::applicationFilePath()) {
    connect(works_, &FileWorks::told, this, &Commands::failed);
    followWorkers();
    connect(feed_, &EventFeed::stateChanged, this, &Commands::stateChanged);
    connect(feed_, &EventFeed::tracksChanged, this, &Commands::announceButtons);
    connect(settings_, &SettingsModel::changed, this, &Commands::announceButtons);
}

Commands::~Commands() { trial_.request_stop(); }

void Commands::followWorkers() {
    connect(&workers_, &WorkerLaunch::changed, this, &Commands::announceButtons);
    connect(&workers_, &WorkerLaunch::began, this, [this](const QString& folder) {
        try {
            paths_->openRun(folder);
        } catch (const engine::Error& error) {
            report(error);
        }
    });
    connect(&workers_, &WorkerLaunch::ended, this,
            [this](const QString& text, const QString& hint) {
                if (!text.isEmpty()) report(Problem{text, hint, engine::ErrorCode::training});
                announceButtons();
            });
}

QString Commands::settingError(const engine::SettingError& error) const {
    return settingErrorText(error, settings_->label(QString::fromStdString(error.field)));
}

ButtonStates Commands::buttons() const { return actor_ ? actor_->buttons() : experimentButtons(); }

RunActor* Commands::actor() const { return actor_; }

void Commands::setActor(RunActor* actor) {
    if (actor == actor_) return;
    if (actor_) disconnect(actor_, nullptr, this, nullptr);
    actor_ = actor;
    if (actor != nullptr) {
        connect(actor, &RunActor::buttonsChanged, this, &Commands::announceButtons);
        connect(actor, &QObject::destroyed, this, [this] {
            emit actorChanged();
            announceButtons();
        });
    }
    emit actorChanged();
    announceButtons();
}

bool Commands::experimentRuns() const {
    const RunState state = feed_->state();
    return feed_->live() && (state == RunState::training || state == RunState::preparing ||
                             state == RunState::evaluating);
}

void Commands::pauseExperiment() {
    const ButtonStates now = experimentButtons();
    if (!now.pause.enabled || now.pauseResumes) return;
    asked_ = PendingCommand::pause;
    feed_->experiment().post(Command::pause);
    announceButtons();
}

ButtonStates Commands::experimentButtons() const {
    if (workers_.running()) return workerButtons(workers_.stopping());
    if (trying_) return trialButtons();
    RunStatus now;
    now.state = feed_->state();
    now.live = feed_->live();
    now.shown = !feed_->tracks().empty();
    now.asked = asked_;
    const auto& errors = settings_->errors();
    if (!errors.empty()) now.settings = settingError(errors.front());
    // The precision of the single run plays no part in a comparison.
    const auto blocks = [](const engine::SettingError& error) {
        return !QString::fromStdString(error.field).startsWith(u"precision."_s);
    };
    const auto first = std::find_if(errors.begin(), errors.end(), blocks);
    now.comparison = first == errors.end() ? settings_->comparisonProblem() : settingError(*first);
    if (settings_->config().workers > 1 && now.comparison.isEmpty())
        now.comparison = tr("Several workers train one run: use Start, or set the workers to 1.");
    return buttonStates(now);
}

void Commands::stateChanged() {
    const RunState state = feed_->state();
    const bool answered = (asked_ == PendingCommand::pause && state == RunState::paused) ||
                          (asked_ == PendingCommand::resume && state == RunState::training) ||
                          state == RunState::done || state == RunState::failed ||
                          state == RunState::idle;
    if (answered) asked_ = PendingCommand::nothing;
    // Short epochs go from training to evaluating and back many times a second.
    if (buttons() != told_) announceButtons();
}

void Commands::announceButtons() {
    told_ = buttons();
    emit buttonsChanged();
}

bool Commands::launch(const std::vector<engine::RunConfig>& configs, bool oneStep,
                      const std::string& group) {
    const bool compares = group.empty() && configs.size() > 1;
    return launch(
        [&] { feed_->experiment().open(configs, compares ? engine::new_run_group() : group); },
        oneStep ? Command::step : Command::start);
}

bool Commands::launch(const std::function<void()>& open, engine::Command first) {
    asked_ = PendingCommand::nothing;
    resumed_ = {};
    ++attempts_;
    endTrial();
    bool opened = false;
    try {
        open();
        feed_->experiment().post(first);
        opened = true;
        emit started();
    } catch (const engine::Error& error) {
        report(error);
    }
    announceButtons();
    return opened;
}

void Commands::startTwin(const engine::TwinOptions& options) {
    emit settingsNeeded();
    auto configs = settings_->comparisonConfigs();
    if (configs.size() < 2) {
        report(Problem{tr("A twin needs two precisions."),
                       tr("Add one under Compared, such as FP32 beside AMP FP16.")});
        return;
    }
    configs.resize(2);
    if (experimentButtons().compare.enabled)
        launch([&] { feed_->experiment().openTwin(configs, engine::new_run_group(), options); },
               Command::start);
}

void Commands::compare() {
    if (actor_) return actor_->start();
    emit settingsNeeded();
    if (buttons().compare.enabled) launch(settings_->comparisonConfigs(), false);
}

void Commands::start() {
    if (actor_) return;  // its start is the first button
    emit settingsNeeded();
    if (!buttons().start.enabled) return;
    if (settings_->config().workers > 1)
        workers_.start(settings_->config());
    else if (trialLimit_.count() == 0)
        launch({settings_->config()}, false);
    else
        tryFirstSteps(settings_->config());
}

void Commands::endTrial() {
    trying_ = false;
    trial_.request_stop();
}

void Commands::tryFirstSteps(const engine::RunConfig& config) {
    using Findings = std::vector<engine::LintFinding>;
// At -Og GCC 12 takes the empty constructor of a member for a reader of the object.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
    std::stop_source stop;
#pragma GCC diagnostic pop
    trial_ = stop;
    trying_ = true;
    const auto begin = [this, config, attempt = ++attempts_](const Findings& findings) {
        if (!trying_ || attempt != attempts_) return;  // stopped, too late, or another run began
        if (!launch({config}, false) || findings.empty()) return;
        emit hazardsFound(config, findings);
        const engine::LintFinding& worst = findings.front();
        report({sentence(engineText(worst.sentence)), engineText(worst.reason),
                engine::ErrorCode::settings, true});
    };
    std::optional<engine::DatasetPreview> data;
    if (settings_->data() != nullptr) data = sizesOf(*settings_->data());
    inBackground(
        this,
        [config, data = std::move(data), stop = stop.get_token()]() -> Findings {
            if (!engine::is_quick_to_measure(config, {.data = data ? &*data : nullptr})) return {};
            return engine::lint_measured(config, stop);
        },
        [begin](const Outcome<Findings>& found) {
            begin(found.result.value_or(Findings{}));  // the run itself says what is wrong
        });
    QTimer::singleShot(trialLimit_, this, [begin] { begin({}); });
    announceButtons();
}

bool Commands::train(const std::vector<engine::RunConfig>& configs, const std::string& group,
                     const std::filesystem::path& dataOf) {
    return launch([&] { feed_->experiment().open(configs, group, dataOf); }, Command::start);
}

void Commands::togglePause() {
    if (actor_) return actor_->togglePause();
    const ButtonStates now = buttons();
    if (!now.pause.enabled) return;
    asked_ = now.pauseResumes ? PendingCommand::resume : PendingCommand::pause;
    feed_->experiment().post(now.pauseResumes ? Command::resume : Command::pause);
    announceButtons();
}

void Commands::step() {
    if (actor_) return actor_->step();
    emit settingsNeeded();
    if (!buttons().step.enabled) return;
    const bool under = buttons().pause.enabled;
    if (under) {
        asked_ = PendingCommand::pause;
        feed_->experiment().post(Command::step);
        announceButtons();
    } else {
        launch(settings_->comparisonConfigs(), true);
    }
}

void Commands::validate() {
    if (!actor_ && buttons().pause.enabled) feed_->experiment().post(Command::validate_now);
}

void Commands::saveCheckpoint() {
    if (!actor_ && buttons().pause.enabled) feed_->experiment().post(Command::checkpoint);
}

void Commands::resume(const engine::RunSummary& run, std::function<void(bool)> then,
                      const ResumeChoice& choice) {
    resumeAll({run}, choice, std::move(then));
}

void Commands::resumeGroup(const std::vector<engine::RunSummary>& runs,
                           std::function<void(bool)> then) {
    resumeAll(runs, std::nullopt, std::move(then));
}

void Commands::resumeAll(const std::vector<engine::RunSummary>& runs,
                         const std::optional<ResumeChoice>& choice,
                         std::function<void(bool)> then) {
    const auto answer = [then = std::move(then)](bool begun) {
        if (then) then(begun);
    };
    if (feed_->live() && experimentButtons().pause.enabled) {
        report({tr("A run is in progress."), tr("Stop it before you resume another one."),
                engine::ErrorCode::state, true});
        return answer(false);
    }
    endTrial();
    inBackground(
        this,
        [runs, choice, store = feed_->store()] {
            return planResume(runs, choice ? &*choice : nullptr, store.get());
        },
        [this, runs, answer, attempt = ++attempts_](const Outcome<ResumePlans>& planned) {
            answer(attempt == attempts_ && goOn(runs, planned));
        });
}

bool Commands::goOn(const std::vector<engine::RunSummary>& runs,
                    const Outcome<ResumePlans>& planned) {
    asked_ = PendingCommand::nothing;
    bool opened = false;
    try {
        if (planned.error) throw *planned.error;
        const ResumePlans& members = *planned.result;
        std::vector<engine::RunSummary> ended = runs;
        for (const auto& member : members) {
            for (const auto& note : member.plan.notes)
                report({sentence(engineText(note)), tr("An earlier checkpoint is used."),
                        engine::ErrorCode::data, true});
            std::erase_if(ended, [&](const auto& other) { return other.run == member.run.run; });
        }
        resumed_ = {members, std::move(ended)};
        openResumed(false);
        opened = true;
    } catch (const engine::Error& error) {
        report(error);
    }
    announceButtons();
    return opened;
}

void Commands::openResumed(bool acceptData) {
    feed_->experiment().openResumed(resumed_.members, acceptData);
    feed_->showStored(resumed_.ended);  // what the others are compared with
    feed_->experiment().post(Command::start);
    emit started();
}

void Commands::runFailed(const engine::RunFailed& failed) {
    const engine::DataChanged changed = feed_->experiment().dataChanged();
    // The halves of a twin were coupled once; the command line couples them anew.
    const bool twin = std::ranges::any_of(
        resumed_.members, [](const auto& member) { return member.twin != nullptr; });
    if (resumed_.members.empty() || twin || changed == engine::DataChanged::no)
        return report(engine::Error(failed.code, failed.message, failed.hint));
    const QString what = engineText(failed.message);
    report({what, tr("Put the data back as they were, or resume the run once more and go on with "
                     "these."),
            failed.code});
    emit dataChanged(what, changed == engine::DataChanged::samples);
}

void Commands::goOnWithData() {
    const engine::DataChanged changed = feed_->experiment().dataChanged();
    if (resumed_.members.empty() || changed == engine::DataChanged::no) return;  // another one runs
    asked_ = PendingCommand::nothing;
    // A new run repeats the events of the run that it goes on from.
    if (changed == engine::DataChanged::samples)
        for (auto& member : resumed_.members) member.plan.continuation.in_place = false;
    try {
        openResumed(true);
    } catch (const engine::Error& error) {
        report(error);
    }
    announceButtons();
}

void Commands::openPath(const QString& path) { paths_->open(path); }

void Commands::openPaths(const QStringList& paths) { paths_->openAll(paths); }

void Commands::openData(const QString& path) { paths_->openData(path); }

void Commands::watchFolder(const QString& folder) { paths_->watch(folder); }

QString Commands::takeLessons() { return paths_->takeLessons(); }

QString Commands::takeNetwork() { return paths_->takeNetwork(); }

bool Commands::hasLessons() const { return paths_->hasLessons(); }

void Commands::editSettings(const engine::RunConfig& config) {
    settings_->load(config);
    emit settingsWanted();
}

void Commands::stop() {
    if (actor_) return actor_->stop();
    if (!buttons().stop.enabled) return;
    if (workers_.running()) return workers_.stop();
    if (trying_) {
        endTrial();
        return announceButtons();
    }
    asked_ = PendingCommand::stop;
    feed_->experiment().post(Command::stop);
    announceButtons();
}

void Commands::demonstrate() {
    if (experimentButtons().demonstrate.enabled) launch(lossScalingRuns(), false);
}

void Commands::report(const engine::Error& error) {
    const Failure failure(error);
    emit failed({failure.sentence(), failure.hint(), error.code(), false, {}, false, failure});
}

}  // namespace ui
