#include "ui/event_feed.h"

#include <QDeadlineTimer>
#include <algorithm>
#include <map>

#include "engine/error.h"
#include "feed/run_track.h"

namespace ui {

using engine::RunState;

namespace {

constexpr int turnEvery = 33;      // ms
constexpr int figuresEvery = 250;  // ms: faster than that cannot be read
constexpr int sliceMs = 4;         // reading rows may take this long a turn

bool ended(RunState state) { return state == RunState::done || state == RunState::failed; }

}  // namespace

RunState combined(const std::vector<RunState>& states) {
    for (const auto lively : {RunState::training, RunState::evaluating, RunState::preparing,
                              RunState::stopping, RunState::paused}) {
        if (std::find(states.begin(), states.end(), lively) != states.end()) return lively;
    }
    if (states.empty() || !std::all_of(states.begin(), states.end(), ended)) return RunState::idle;
    const bool allFailed =
        std::all_of(states.begin(), states.end(), [](RunState s) { return s == RunState::failed; });
    return allFailed ? RunState::failed : RunState::done;
}

EventFeed::EventFeed(QObject* parent) : QObject(parent) {
    timer_.setInterval(turnEvery);
    connect(&timer_, &QTimer::timeout, this, &EventFeed::turn);
    figures_.setSingleShot(true);
    figures_.setInterval(figuresEvery);
    connect(&figures_, &QTimer::timeout, this, &EventFeed::figuresDue);
    sinceRow_.start();
}

EventFeed::~EventFeed() = default;

void EventFeed::setStore(std::shared_ptr<engine::RunStore> store) {
    store_ = std::move(store);
    emit storeChanged();
}

void EventFeed::open(const std::vector<engine::RunConfig>& configs) {
    sessions_.clear();
    live_.clear();
    stored_.clear();
    if (!store_) {
        throw engine::Error(engine::ErrorCode::io,
                            engine::msg("There is no folder to keep the run in."),
                            engine::msg("Choose one that you may write to."));
    }
    if (!thread_) thread_ = std::make_shared<engine::ComputeThread>();
    engine::SessionOptions options;
    options.pause_when_disk_full = true;  // somebody is there to make room and go on
    try {
        for (const auto& config : configs) {
            sessions_.push_back(
                std::make_unique<engine::Session>(config, thread_, store_, options));
            live_.push_back(std::make_shared<RunTrack>(std::string(), config));
        }
    } catch (...) {
        sessions_.clear();
        live_.clear();
        updateState();
        emit tracksChanged();
        throw;
    }
    name();
    updateState();
    emit tracksChanged();
    timer_.start();
}

void EventFeed::post(engine::Command command) {
    for (auto& session : sessions_) session->post(command);
    if (!sessions_.empty()) timer_.start();
}

void EventFeed::showStored(const std::vector<engine::RunSummary>& runs) {
    std::vector<std::shared_ptr<RunTrack>> opened;
    for (const auto& summary : runs) {
        const bool onScreen = std::any_of(live_.begin(), live_.end(), [&](const auto& track) {
            return track->run() == summary.run;
        });
        if (onScreen) continue;
        auto track = std::make_shared<RunTrack>(summary.run, summary.config);
        for (const auto& event : store_->events(summary.run)) track->apply(event);
        const bool failed = summary.state == "failed" || summary.state == "diverged";
        track->setState(failed ? RunState::failed : RunState::done);
        track->setSource(recordSource(engine::StepRecordReader::open(summary.folder)));
        opened.push_back(std::move(track));
    }
    // With nothing running, what was chosen takes the whole screen.
    if (!runs.empty() && ended(state_) && opened.size() == runs.size()) {
        sessions_.clear();
        live_.clear();
        updateState();
    }
    stored_ = std::move(opened);
    name();
    emit tracksChanged();
    timer_.start();
}

std::vector<std::shared_ptr<RunTrack>> EventFeed::tracks() const {
    auto all = live_;
    all.insert(all.end(), stored_.begin(), stored_.end());
    return all;
}

double EventFeed::sinceLastRow() const { return static_cast<double>(sinceRow_.elapsed()) * 1e-3; }

void EventFeed::name() {
    std::map<std::string, int> seen;
    for (const auto& track : tracks()) {
        const int before = seen[track->precision()]++;
        track->dashed = before > 0;
        track->tag = before > 0 ? QString::fromStdString(track->run()) : QString();
    }
}

void EventFeed::turn() {
    const bool changed = drainSessions();
    if (!behind_) readRows();
    if (changed) updateState();
    const bool over = std::all_of(live_.begin(), live_.end(),
                                  [](const auto& track) { return ended(track->state()); });
    if (over && !changed && !behind_) timer_.stop();
}

bool EventFeed::drainSessions() {
    bool changed = false;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const auto track = live_[i];
        for (const auto& event : sessions_[i]->drain()) {
            changed = true;
            const bool first = std::holds_alternative<engine::RunStarted>(event);
            track->apply(event);
            if (first) {
                track->setSource(recordSource(sessions_[i]->record()));
                name();
                emit tracksChanged();  // who listens reads the track's events so far
            } else {
                emit eventArrived(track, event);
            }
            // A slot may have opened another experiment.
            if (i >= live_.size() || live_[i] != track) return true;
        }
    }
    if (changed && !figures_.isActive()) figures_.start();
    return changed;
}

void EventFeed::readRows() {
    const QDeadlineTimer deadline(sliceMs, Qt::PreciseTimer);
    bool more = false;
    bool grew = false;
    for (const auto& track : tracks()) {
        const std::int64_t before = track->rows();
        more = track->catchUp(deadline) || more;
        grew = grew || track->rows() > before;
        tellProblem(track);
    }
    if (grew) {
        sinceRow_.restart();
        emit rowsArrived();
        if (!figures_.isActive()) figures_.start();
    }
    behind_ = more;
    if (more) QTimer::singleShot(0, this, &EventFeed::readRows);
}

void EventFeed::tellProblem(const std::shared_ptr<RunTrack>& track) {
    const engine::Message problem = track->takeProblem();
    if (problem.empty()) return;
    const engine::RunWarning warning{track->run(), problem};
    track->apply(warning);
    emit eventArrived(track, warning);
}

void EventFeed::updateState() {
    std::vector<RunState> states;
    for (const auto& track : live_) states.push_back(track->state());
    const RunState now = combined(states);
    if (now == state_) return;
    state_ = now;
    emit stateChanged(now);
}

}  // namespace ui
