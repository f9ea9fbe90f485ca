#include "feed/event_feed.h"

#include <QDeadlineTimer>
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/record/speed.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "feed/run_track.h"
#include "text/precision_title.h"

namespace ui {

using engine::RunState;

namespace {

constexpr int turnEvery = 33;    // ms
constexpr int frameEvery = 250;  // ms: figures that change faster cannot be read
constexpr int sliceMs = 4;       // reading rows of stored runs may take this long a turn

/// The last row that an event is about; 0: none.
std::int64_t rowOf(const engine::Event& event) {
    if (const auto* epoch = std::get_if<engine::EpochDone>(&event)) return epoch->step;
    if (const auto* scale = std::get_if<engine::ScaleChanged>(&event)) return scale->step;
    if (const auto* saved = std::get_if<engine::CheckpointSaved>(&event)) return saved->step;
    if (const auto* examined = std::get_if<engine::StepExamined>(&event)) return examined->step;
    if (const auto* resumed = std::get_if<engine::RunResumed>(&event)) return resumed->step;
    if (const auto* warning = std::get_if<engine::RunWarning>(&event)) return warning->step;
    if (const auto* done = std::get_if<engine::RunDone>(&event)) return done->steps;
    return 0;
}

/// The plan of the group that each of the runs keeps, so that those that a kill prevents can be
/// begun later.
std::string groupPlanOf(const std::vector<engine::RunConfig>& configs,
                        const std::optional<engine::TwinOptions>& twin = std::nullopt) {
    engine::GroupPlan plan;
    for (const auto& config : configs) plan.runs.push_back({config});
    plan.twin = twin;
    return engine::group_plan_json(plan);
}

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
    sinceRow_.start();
    sinceFrame_.start();
}

EventFeed::~EventFeed() = default;

engine::ReadingShare EventFeed::reading() const {
    for (const auto& session : sessions_) {
        const engine::ReadingShare share = session->reading();
        if (session->state() == RunState::preparing && share.total > 0) return share;
    }
    return {};
}

engine::ExaminationProgress EventFeed::examination() const {
    for (const auto& session : sessions_) {
        const engine::ExaminationProgress found = session->examination();
        if (found.step > 0) return found;
    }
    return {};
}

void EventFeed::setStore(std::shared_ptr<engine::RunStore> store) {
    store_ = std::move(store);
    emit storeChanged();
}

void EventFeed::clear() {
    sessions_.clear();
    twin_.reset();
    live_.clear();
    keepFollowed();
    hidden_.clear();
}

void EventFeed::openSession(const engine::RunConfig& config,
                            const engine::SessionOptions& options) {
    sessions_.push_back(std::make_unique<engine::Session>(config, thread_, store_, options));
    live_.push_back(std::make_shared<RunTrack>(std::string(), config));
}

void EventFeed::replaceExperiment(const std::function<void()>& make) {
    clear();
    if (!store_) {
        throw engine::Error(engine::ErrorCode::io,
                            engine::msg("There is no folder to keep the run in."),
                            engine::msg("Choose one that you may write to."));
    }
    thread();
    try {
        make();
    } catch (...) {
        clear();
        updateState();
        emit tracksChanged();
        throw;
    }
    name();
    updateState();
    emit tracksChanged();
    timer_.start();
}

void EventFeed::open(const std::vector<engine::RunConfig>& configs, const std::string& group,
                     const std::filesystem::path& dataOf) {
    replaceExperiment([&] {
        engine::SessionOptions options;
        options.pause_when_disk_full = true;  // somebody is there to make room and go on
        options.group = group;
        if (configs.size() > 1) options.turns = engine::new_run_group();
        const bool compared = configs.size() > 1 && !engine::is_sweep_group(group);
        if (compared && !group.empty()) options.group_plan = groupPlanOf(configs);
        options.data_of = dataOf;
        options.data_use = engine::DataUse::sweep;
        for (const auto& config : configs) openSession(config, options);
    });
}

void EventFeed::openTwin(const std::vector<engine::RunConfig>& configs, const std::string& group,
                         const engine::TwinOptions& options) {
    replaceExperiment([&] {
        twin_ = std::make_shared<engine::Twin>(options);
        engine::SessionOptions session;
        session.pause_when_disk_full = true;
        session.group = group;
        session.twin = twin_;
        session.group_plan = groupPlanOf(configs, options);
        for (const auto& config : configs) {
            openSession(config, session);
            session.twin_side = engine::Twin::Side::other;
        }
    });
}

engine::DataChanged EventFeed::dataChanged() const {
    using engine::DataChanged;
    DataChanged out = DataChanged::no;
    for (const auto& session : sessions_) {
        const DataChanged each = session->data_changed();
        if (each == DataChanged::no) return each;
        out = std::max(out, each);
    }
    return out;
}

void EventFeed::openResumed(const std::vector<engine::GroupMemberPlan>& members, bool acceptData) {
    replaceExperiment([&] {
        const std::string turns = members.size() > 1 ? engine::new_run_group() : std::string();
        for (const engine::GroupMemberPlan& member : members) {
            engine::SessionOptions options = member.options();
            options.pause_when_disk_full = true;
            options.accept_data = acceptData;
            if (member.twin) twin_ = member.twin;
            if (!member.twin) options.turns = turns;
            const engine::ResumePlan& plan = member.plan;
            openSession(plan.config, options);
            // A new run repeats its parent's events, or has none yet.
            if (member.is_new || !plan.continuation.in_place) continue;
            for (const auto& event : engine::events_up_to(plan.step, store_->events(member.run.run)))
                live_.back()->apply(event);
        }
    });
}

void EventFeed::post(engine::Command command) {
    for (auto& session : sessions_) session->post(command);
    if (!sessions_.empty()) timer_.start();
}

std::vector<std::shared_ptr<RunTrack>> EventFeed::tracks() const {
    auto all = live_;
    std::erase_if(all, [this](const auto& track) { return hidden_.contains(track->run()); });
    all.insert(all.end(), stored_.begin(), stored_.end());
    return all;
}

std::vector<std::shared_ptr<RunTrack>> EventFeed::everyTrack() const {
    auto all = live_;
    all.insert(all.end(), stored_.begin(), stored_.end());
    return all;
}

bool EventFeed::isOnScreen(const std::shared_ptr<RunTrack>& track) const {
    return std::ranges::find(live_, track) != live_.end() ||
           std::ranges::find(stored_, track) != stored_.end();
}

std::vector<std::shared_ptr<RunTrack>> EventFeed::statusTracks() const {
    if (!live_.empty()) return live_;
    auto tracks = stored_;
    std::erase_if(tracks, [](const auto& track) { return !track->followed; });
    return tracks;
}

void EventFeed::setHidden(const std::string& run, bool hidden) {
    if (hidden) {
        hidden_.insert(run);
    } else {
        hidden_.erase(run);
    }
    name();
    emit tracksChanged();
    timer_.start();
}

double EventFeed::sinceLastRow() const { return static_cast<double>(sinceRow_.elapsed()) * 1e-3; }

void EventFeed::name() {
    std::vector<std::string> presets;
    for (const auto& track : tracks()) presets.push_back(track->precision());
    const std::vector<RunHue> hues = runHues(presets);
    auto hue = hues.begin();
    std::map<QString, int> titles;
    for (const auto& track : tracks()) {
        track->hue = *hue++;
        const bool again = titles[untaggedTitle(*track)]++ > 0;
        track->tag = again ? QString::fromStdString(track->run()) : QString();
    }
}

void EventFeed::turn() {
    const bool changed = drainSessions();
    const bool written = drainFollowed();
    notePublished();
    if (frameIsDue()) beginFrame();
    if (changed) updateState();
    const bool over = std::all_of(live_.begin(), live_.end(),
                                  [](const auto& track) { return ended(track->state()); });
    const bool quiet = over && followed_.empty() && !changed && !written;
    if (quiet && !unread() && !behind_ && !drawing_ && pending_.empty()) timer_.stop();
}

bool EventFeed::drainSessions() {
    bool changed = false;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const auto track = live_[i];
        for (const auto& event : sessions_[i]->drain()) {
            changed = true;
            takeEvent(i, event);
            // A slot may have opened another experiment.
            if (i >= live_.size() || live_[i] != track) return true;
        }
    }
    return changed;
}

void EventFeed::takeEvent(std::size_t session, const engine::Event& event) {
    const auto track = live_[session];
    if (std::holds_alternative<engine::StateChanged>(event)) {
        track->apply(event);  // buttons do not wait for a frame
    } else if (std::holds_alternative<engine::RunStarted>(event)) {
        track->apply(event);
        track->setSource(recordSource(sessions_[session]->record()));
        name();
        emit tracksChanged();
    } else {
        pending_.push_back({track, event});
    }
}

void EventFeed::notePublished() {
    std::int64_t now = 0;
    for (const auto& track : statusTracks()) now += track->published();
    if (std::exchange(published_, now) != now) sinceRow_.restart();
}

bool EventFeed::unread() const {
    const auto all = everyTrack();
    return std::any_of(all.begin(), all.end(),
                       [](const auto& track) { return track->rows() < track->published(); });
}

bool EventFeed::frameIsDue() const {
    if (drawing_) return false;
    const auto all = everyTrack();
    const bool news = !pending_.empty() || unread();
    const bool none =
        std::all_of(all.begin(), all.end(), [](const auto& t) { return t->rows() == 0; });
    return news && (none || sinceFrame_.elapsed() >= frameEvery) && (!canBegin_ || canBegin_());
}

void EventFeed::beginFrame() {
    sinceFrame_.restart();
    const bool grew = readRows(false);
    const bool happened = deliverEvents();
    if (!grew && !happened) return;
    drawing_ = true;
    emit rowsArrived();
    if (!canBegin_ || canBegin_()) finishFrame();  // nothing to paint
}

void EventFeed::finishFrame() {
    if (!std::exchange(drawing_, false)) return;
    emit figuresDue();
}

bool EventFeed::deliverEvents() {
    // A run that ended publishes no more rows: deliver all that is left of it.
    std::deque<Pending> later;
    std::set<const RunTrack*> waiting;  // those that have events among them
    std::vector<Pending> now;
    for (auto& each : pending_) {
        const RunTrack& track = *each.track;
        const bool held = waiting.contains(&track);
        const bool whole = ended(track.state()) && track.rows() == track.published();
        const bool due = !held && (whole || rowOf(each.event) <= track.rows());
        if (due) {
            now.push_back(std::move(each));
        } else {
            waiting.insert(&track);
            later.push_back(std::move(each));
        }
    }
    pending_ = std::move(later);
    for (const auto& [track, event] : now) {
        track->apply(event);
        emit eventArrived(track, event);
    }
    return !now.empty();
}

bool EventFeed::readRows(bool whole) {
    const QDeadlineTimer unlimited(QDeadlineTimer::Forever);
    const QDeadlineTimer slice(sliceMs, Qt::PreciseTimer);
    bool grew = false;
    behind_ = false;
    const auto all = everyTrack();
    std::vector<std::int64_t> published;
    for (const auto& track : all) published.push_back(track->published());
    for (std::size_t i = 0; i < all.size(); ++i) {
        // All of the experiment's rows: they are few, and its runs are shown at one step.
        const auto& deadline = whole || i < live_.size() ? unlimited : slice;
        const std::int64_t before = all[i]->rows();
        behind_ = all[i]->catchUp(deadline, published[i]) || behind_;
        grew = grew || all[i]->rows() > before;
        reportError(all[i]);
    }
    return grew;
}

void EventFeed::readAll() { readRows(true); }

void EventFeed::reportError(const std::shared_ptr<RunTrack>& track) {
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
