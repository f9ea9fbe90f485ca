#include "feed/event_feed.h"

#include <QDeadlineTimer>
#include <algorithm>
#include <map>
#include <utility>

#include "text/precision_title.h"

namespace ui {

namespace {

constexpr int turnEvery = 33;    // ms
constexpr int frameEvery = 250;  // ms: figures that change faster cannot be read
constexpr int sliceMs = 4;       // reading rows of stored runs may take this long a turn

/// Gives the runs on screen hues and tags by which they differ.
void tellApart(const TrackList& tracks) {
    std::vector<std::string> presets;
    for (const auto& track : tracks) presets.push_back(track->precision());
    const std::vector<RunHue> hues = runHues(presets);
    auto hue = hues.begin();
    std::map<QString, int> titles;
    for (const auto& track : tracks) {
        track->hue = *hue++;
        const bool again = titles[untaggedTitle(*track)]++ > 0;
        track->tag = again ? QString::fromStdString(track->run()) : QString();
    }
}

}  // namespace

EventFeed::EventFeed(QObject* parent) : QObject(parent) {
    timer_.setInterval(turnEvery);
    connect(&timer_, &QTimer::timeout, this, &EventFeed::turn);
    connect(&experiment_, &Experiment::cleared, this, &EventFeed::leaveScreen);
    connect(&experiment_, &Experiment::replaced, this, [this] {
        tellApart(tracks());
        experiment_.updateState();
        emit tracksChanged();
        timer_.start();
    });
    connect(&experiment_, &Experiment::posted, this, [this] { timer_.start(); });
    connect(&experiment_, &Experiment::runStarted, this, &EventFeed::showTracks);
    connect(&experiment_, &Experiment::stateChanged, this, &EventFeed::stateChanged);
    sinceRow_.start();
    sinceFrame_.start();
}

EventFeed::~EventFeed() = default;

void EventFeed::setStore(std::shared_ptr<engine::RunStore> store) {
    experiment_.setStore(std::move(store));
    emit storeChanged();
}

/// A new experiment takes the screen, and what other processes are writing stays on it.
void EventFeed::leaveScreen() {
    stored_.keepFollowed();
    hidden_.clear();
    dropEventsOffScreen();
}

void EventFeed::showTracks() {
    tellApart(tracks());
    emit tracksChanged();
}

void EventFeed::dropEventsOffScreen() {
    const TrackList all = everyTrack();
    pending_.keepOnly(
        [&](const auto& track) { return std::ranges::find(all, track) != all.end(); });
}

void EventFeed::showStored(const std::vector<engine::RunSummary>& runs) {
    std::vector<engine::RunSummary> others;
    for (const auto& summary : runs) {
        const bool ours = std::ranges::any_of(
            liveTracks(), [&](const auto& track) { return track->run() == summary.run; });
        if (!ours) others.push_back(summary);
    }
    stored_.show(others, *store());
    // With nothing running, what was chosen takes the whole screen.
    if (!runs.empty() && ended(state()) && others.size() == runs.size()) experiment_.end();
    dropEventsOffScreen();
    showTracks();
    timer_.start();
}

TrackList EventFeed::tracks() const {
    TrackList all = liveTracks();
    std::erase_if(all, [this](const auto& track) { return hidden_.contains(track->run()); });
    all.insert(all.end(), stored_.tracks().begin(), stored_.tracks().end());
    return all;
}

TrackList EventFeed::everyTrack() const {
    TrackList all = liveTracks();
    all.insert(all.end(), stored_.tracks().begin(), stored_.tracks().end());
    return all;
}

TrackList EventFeed::statusTracks() const {
    if (!liveTracks().empty()) return liveTracks();
    TrackList tracks = stored_.tracks();
    std::erase_if(tracks, [](const auto& track) { return !track->followed; });
    return tracks;
}

void EventFeed::setHidden(const std::string& run, bool hidden) {
    if (hidden) {
        hidden_.insert(run);
    } else {
        hidden_.erase(run);
    }
    showTracks();
    timer_.start();
}

double EventFeed::sinceLastRow() const { return static_cast<double>(sinceRow_.elapsed()) * 1e-3; }

void EventFeed::turn() {
    const bool changed = experiment_.drain(pending_);
    const bool written = drainStored();
    notePublished();
    if (frameIsDue()) beginFrame();
    if (changed) experiment_.updateState();
    const bool over =
        std::ranges::all_of(liveTracks(), [](const auto& track) { return ended(track->state()); });
    const bool quiet = over && !stored_.follows() && !changed && !written;
    if (quiet && !unread() && !behind_ && !drawing_ && pending_.empty()) timer_.stop();
}

bool EventFeed::drainStored() {
    const StoredRuns::News news = stored_.drain(pending_);
    if (news.began) showTracks();
    if (news.ended) emit followedEnded();
    return news.any;
}

void EventFeed::notePublished() {
    std::int64_t now = 0;
    for (const auto& track : statusTracks()) now += track->published();
    if (std::exchange(published_, now) != now) sinceRow_.restart();
}

bool EventFeed::unread() const {
    const TrackList all = everyTrack();
    return std::any_of(all.begin(), all.end(),
                       [](const auto& track) { return track->rows() < track->published(); });
}

bool EventFeed::frameIsDue() const {
    if (drawing_) return false;
    const TrackList all = everyTrack();
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
    const auto now = pending_.takeDue();
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
    const TrackList all = everyTrack();
    std::vector<std::int64_t> published;
    for (const auto& track : all) published.push_back(track->published());
    for (std::size_t i = 0; i < all.size(); ++i) {
        // All of the experiment's rows: they are few, and its runs are shown at one step.
        const auto& deadline = whole || i < liveTracks().size() ? unlimited : slice;
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

}  // namespace ui
