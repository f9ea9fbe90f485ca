#include "skips/skips_model.h"

#include <algorithm>
#include <utility>

#include "commands/commands.h"
#include "engine/base/error.h"
#include "engine/instruments/capsule.h"
#include "feed/background_task.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "view/view.h"

namespace ui {

namespace {

constexpr int progressEvery = 150;  // ms

}  // namespace

SkipsModel::SkipsModel(const Context& context, QObject* parent)
    : QObject(parent), context_(context) {
    timer_.setInterval(progressEvery);
    connect(&timer_, &QTimer::timeout, this, [this] {
        updateWatch();
        emit progressed();
    });
    connect(context_.feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
                if (track != track_ || !std::holds_alternative<engine::StepExamined>(event)) return;
                stale_ = true;
                readList();
            });
    connect(context_.feed, &EventFeed::tracksChanged, this, &SkipsModel::refresh);
    // tracksChanged precedes the start of a new experiment, so its first step is watched too.
    connect(context_.feed, &EventFeed::tracksChanged, this, &SkipsModel::updateWatch);
    connect(context_.feed, &EventFeed::stateChanged, this, &SkipsModel::updateWatch);
    connect(context_.feed, &EventFeed::figuresDue, this, &SkipsModel::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &SkipsModel::examineIfIdle);
    connect(this, &SkipsModel::stepChanged, this, &SkipsModel::examineIfIdle);
    connect(context_.link, &PlotLink::selectedChanged, this, [this] {
        refresh();
        trial_.reset();
        readPicture();
        emit stepChanged();
    });
    refresh();
}

SkipsModel::~SkipsModel() = default;

void SkipsModel::refresh() {
    const auto track = selectedTrack(context_);
    const std::filesystem::path folder =
        track && track->started() ? track->started()->folder : std::string();
    if (track != track_ || folder != folder_) {
        track_ = track;
        folder_ = folder;
        skips_ = {};
        tried_.clear();
        expectedOf_ = 0;
        known_.reset();
        trial_.reset();
        problem_ = {};
        picture_ = {};
        pictured_ = 0;
        emit listChanged();
        emit stepChanged();
    }
    if (folder_.empty() || track_->rows() == 0) return;
    if (!isRead()) readList();
    if (std::exchange(counted_, track_->rows()) != track_->rows()) emit stepsCounted();
}

std::int64_t SkipsModel::newerSteps() const {
    return skips_.steps > 0 && track_ ? std::max<std::int64_t>(0, track_->rows() - skips_.steps)
                                      : 0;
}

/// A long list of a run that stays broken grows with every step: it is read once a second.
bool SkipsModel::isRead() const {
    if (!known_) return false;
    if (*known_ == badSteps(*track_)) return true;
    constexpr std::size_t longList = 1000;
    const bool wait = skips_.list.size() > longList && !track_->done() && !track_->failed();
    return wait && sinceRead_.isValid() && sinceRead_.elapsed() < 1000;
}

/// Reads the whole record, so it runs in the background, and only if there are new skips.
void SkipsModel::readList() {
    if (reading_) return;
    reading_ = true;
    stale_ = false;
    const BadSteps read = badSteps(*track_);
    sinceRead_.start();
    const auto folder = folder_;
    inBackground(
        this,
        [folder] { return engine::list_skips(folder); },
        [this, folder, read](Outcome<engine::SkipList> found) {
            reading_ = false;
            if (folder != folder_) return;
            known_ = read;  // a record that cannot be read is not read again at every frame
            if (found.result) {
                skips_ = std::move(*found.result);
                readPicture();
                emit listChanged();
                emit stepChanged();
            }
            if (stale_) readList();
        });
}

/// Reads the picture of the report, if it has one, in the background.
void SkipsModel::readPicture() {
    const auto* here = report();
    const std::int64_t step = here != nullptr ? here->step : 0;
    if (step == pictured_) return;
    pictured_ = step;
    picture_ = {};
    if (step == 0) return;
    inBackground(
        this,
        [file = engine::skip_picture(folder_, step)] {
            return QImage(QString::fromStdString(file.string()));
        },
        [this, step](const QImage& image) {
            if (step != pictured_) return;
            if (image.isNull()) {  // written after the report: the next reading of the list sees it
                pictured_ = 0;
                return;
            }
            picture_ = image;
            emit stepChanged();
        });
}

std::vector<std::int64_t> SkipsModel::recurrences(std::int64_t sample) const {
    const auto found =
        std::ranges::find(skips_.recurring, sample, &engine::RecurringSample::sample);
    if (found == skips_.recurring.end()) return {};
    std::vector<std::int64_t> out = found->steps;
    if (const auto* here = step()) std::erase(out, here->step);
    return out;
}

void SkipsModel::setVisible(bool visible) {
    visible_ = visible;
    if (visible)
        timer_.start();
    else
        timer_.stop();
    updateWatch();
    examineIfIdle();
}

bool SkipsModel::isLive() const {
    return context_.feed->live() && context_.feed->state() != engine::RunState::done &&
           context_.feed->state() != engine::RunState::failed;
}

bool SkipsModel::isPinned() const {
    return std::ranges::any_of(context_.feed->liveTracks(),
                               [](const auto& track) { return track->config().instruments.armed; });
}

bool SkipsModel::needsArming() const {
    return isLive() && std::ranges::any_of(context_.feed->liveTracks(), [](const auto& track) {
               return track->started() && track->started()->device.starts_with("cuda");
           });
}

bool SkipsModel::watches() const { return isLive() && (watching_ || isPinned()); }

void SkipsModel::setArmed(bool armed) {
    armed_ = armed;
    updateWatch();
    emit stateChanged();
}

/// Sends the command to the sessions of an experiment once, and again to those of the next one.
void SkipsModel::updateWatch() {
    const auto& live = context_.feed->liveTracks();
    const void* const experiment = live.empty() ? nullptr : live.front().get();
    if (experiment != watched_) {
        watched_ = experiment;
        watching_ = false;
    }
    const bool wanted = isLive() && (needsArming() ? armed_ : visible_);
    if (wanted == watching_) return;
    watching_ = wanted;
    if (context_.feed->live())
        context_.feed->experiment().post(wanted ? engine::Command::watch_skips
                                                : engine::Command::unwatch_skips);
    emit stateChanged();
}

engine::ExaminationProgress SkipsModel::checking() const {
    if (examined_ > 0) {
        const auto* here = report();
        return {examined_, task_.progress().operations, here != nullptr ? here->operations : 0};
    }
    return context_.feed->experiment().examination();
}

int SkipsModel::current() const {
    const auto& list = skips_.list;
    if (list.empty()) return -1;
    const std::int64_t selected = context_.link->selected();
    const auto found = std::ranges::find(list, selected, &engine::SkippedStep::step);
    if (found != list.end()) return static_cast<int>(found - list.begin());
    // Where the fault began, else the newest of the benign ones.
    const auto bad = engine::first_bad_step(skips_);
    return bad ? static_cast<int>(*bad) : static_cast<int>(std::ssize(list)) - 1;
}

void SkipsModel::select(int index) {
    if (index < 0 || index >= static_cast<int>(skips_.list.size())) return;
    context_.link->select(skips_.list[static_cast<std::size_t>(index)].step, track_);
}

const engine::SkippedStep* SkipsModel::step() const {
    const int at = current();
    return at < 0 ? nullptr : &skips_.list[static_cast<std::size_t>(at)];
}

const engine::SkipReport* SkipsModel::report() const {
    const auto* here = step();
    return here != nullptr && here->report ? &*here->report : nullptr;
}

template <typename Work, typename Done>
void SkipsModel::run(Work work, Done done) {
    if (busy()) return;
    problem_ = {};
    left_ = {};
    auto result = std::make_shared<std::optional<
        std::invoke_result_t<Work&, const engine::SkipOptions&, Task::Link&>>>();
    task_.start(
        [work = std::move(work), result](Task::Link& link) {
            engine::SkipOptions options;
            options.replay = [&link](std::int64_t left) {
                link.check();
                link.report([left](Progress& progress) { progress.replay.note(left); });
            };
            *result = work(options, link);
            return true;
        },
        [this, result, done = std::move(done)](const Outcome<bool>& outcome) {
            examined_ = 0;
            problem_ = outcome.stopped() ? Failure(engine::msg("Cancelled.")) : outcome.failure();
            if (outcome.result) done(std::move(**result));
            emit stateChanged();
            examineIfIdle();  // another step may have been selected meanwhile
        },
        context_.feed->betweenSteps());
    emit stateChanged();
}

void SkipsModel::cancel() {
    task_.stop();
    emit stateChanged();
}

double SkipsModel::expectedSeconds() const {
    constexpr double computations = 12;  // of the step: as it was, in FP32, at other scales
    const auto* here = step();
    if (here == nullptr || !track_ || track_->rows() == 0) return 0;
    if (expectedOf_ != here->step) {
        expectedOf_ = here->step;
        try {
            replayed_ = engine::steps_to_replay(folder_, here->step);
        } catch (const std::exception&) {
            replayed_ = here->step - 1;
        }
    }
    return (static_cast<double>(replayed_) + computations) * track_->latest().step_ms / 1000;
}

void SkipsModel::examineIfIdle() {
    const auto* here = step();
    if (!visible_ || here == nullptr || report() != nullptr || busy()) return;
    if (context_.feed->experiment().isTraining() || tried_.contains(here->step)) return;
    tried_.insert(here->step);
    examine();
}

void SkipsModel::examine() {
    const auto* here = step();
    if (here == nullptr || busy()) return;
    examined_ = here->step;
    run(
        [folder = folder_, number = here->step](engine::SkipOptions options, Task::Link& link) {
            options.operation = [&link](std::int64_t done) {
                link.check();
                link.report([done](Progress& progress) { progress.operations = done; });
            };
            return engine::examine_skip(folder, number, options);
        },
        [this, folder = folder_](const engine::SkipReport& report) {
            if (folder != folder_) return;
            pictured_ = 0;
            for (auto& each : skips_.list) {
                if (each.step == report.step) each.report = report;
            }
            readPicture();
            emit listChanged();
            emit stepChanged();
        });
}

void SkipsModel::retry(const engine::RetryChange& change) {
    const auto* here = step();
    if (here == nullptr) return;
    run(
        [folder = folder_, number = here->step, change](const engine::SkipOptions& options,
                                                        Task::Link&) {
            return engine::retry_step(folder, number, change, options);
        },
        [this](const engine::StepTrial& trial) {
            trial_ = trial;
            emit stepChanged();
        });
}

void SkipsModel::saveCapsule(const QString& file) {
    const auto* here = step();
    if (here == nullptr || file.isEmpty()) return;
    run(
        [folder = folder_, number = here->step, path = std::filesystem::path(file.toStdString())](
            const engine::SkipOptions& options, Task::Link&) {
            return engine::write_capsule(folder, number, path, options);
        },
        [this, file](std::int64_t) {
            context_.commands->report(
                {tr("Saved as %1.").arg(file), {}, engine::ErrorCode::io, true, file});
        });
}

}  // namespace ui
