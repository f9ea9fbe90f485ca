#include "commands/queue_runner.h"

#include <QTimer>

#include "commands/commands.h"
#include "engine/run_store.h"
#include "engine/sweep.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"

namespace ui {

using engine::DoneReason;
using engine::QueueState;
using engine::RunState;

namespace {

constexpr int endWithin = 3000;  // ms

bool isOver(RunState state) {
    return state == RunState::idle || state == RunState::done || state == RunState::failed;
}

/// A sweep into a folder of its own has the folder behind its id.
std::string sweepOf(const std::string& batch) { return batch.substr(0, batch.find(' ')); }

QueueState stateOf(DoneReason reason) {
    if (reason == DoneReason::stopped) return QueueState::waiting;
    const bool failed = reason == DoneReason::failed || reason == DoneReason::diverged;
    return failed ? QueueState::failed : QueueState::done;
}

}  // namespace

QueueRunner::QueueRunner(EventFeed* feed, Commands* commands, QObject* parent)
    : QObject(parent), feed_(feed), commands_(commands) {
    connect(feed_, &EventFeed::storeChanged, this, &QueueRunner::openQueue);
    connect(feed_, &EventFeed::eventArrived, this, &QueueRunner::take);
    connect(feed_, &EventFeed::stateChanged, this, &QueueRunner::stateChanged);
    connect(feed_, &EventFeed::tracksChanged, this, &QueueRunner::noteRun);
    openQueue();
}

QueueRunner::~QueueRunner() { taken_.reset(); }

void QueueRunner::openQueue() {
    on_ = false;
    taken_.reset();
    track_.reset();
    queue_.reset();
    told_ = false;
    use([](engine::RunQueue&) {});
    emit changed();
}

template <typename F>
void QueueRunner::use(F&& f) {
    if (!feed_->store()) return;
    try {
        if (!queue_) queue_ = std::make_unique<engine::RunQueue>(feed_->store()->root());
        f(*queue_);
    } catch (const engine::Error& error) {
        if (queue_ || !std::exchange(told_, true)) commands_->report(error);
    }
}

std::vector<engine::QueuedRun> QueueRunner::runs() {
    std::vector<engine::QueuedRun> out;
    use([&](engine::RunQueue& queue) { out = queue.list(); });
    return out;
}

void QueueRunner::add(const std::vector<engine::QueueEntry>& entries) {
    use([&](engine::RunQueue& queue) { queue.add(entries); });
    emit changed();
}

void QueueRunner::remove(const std::vector<std::int64_t>& ids) {
    for (const std::int64_t id : ids) use([&](engine::RunQueue& queue) { queue.remove(id); });
    emit changed();
}

void QueueRunner::move(std::int64_t id, std::int64_t before) {
    use([&](engine::RunQueue& queue) { queue.move(id, before); });
    emit changed();
}

void QueueRunner::runAgain(std::int64_t id) {
    use([&](engine::RunQueue& queue) { queue.reset(id); });
    emit changed();
}

void QueueRunner::start() {
    on_ = true;
    emit changed();
    next();
}

void QueueRunner::pause() { turnOff(); }

void QueueRunner::turnOff() {
    on_ = false;
    emit changed();
}

void QueueRunner::next() {
    if (!on_ || taken_ || !isOver(feed_->state())) return;
    use([this](engine::RunQueue& queue) { taken_ = queue.take(); });
    if (!taken_) return turnOff();
    const auto before = earlierTry();
    if (before &&
        (before->state == "done" || before->state == "failed" || before->state == "diverged")) {
        // It ended, and its process died at once after that.
        return finish(before->state == "done" ? QueueState::done : QueueState::failed, before->run);
    }
    const engine::QueueEntry& entry = taken_->queued().entry;
    if (!before) {
        std::filesystem::path data;
        if (!entry.batch.empty()) {
            use([&](engine::RunQueue& queue) {
                data = engine::ended_run_with_data(queue.list(entry.batch), entry, *feed_->store());
            });
        }
        return begun(commands_->train(entry.config, sweepOf(entry.batch), data));
    }
    const auto then = [self = QPointer(this), id = taken_->queued().id](bool goesOn) {
        const bool awaited = self && self->taken_ && self->taken_->queued().id == id;
        if (awaited) self->begun(goesOn);
    };
    commands_->resume(*before, then);
}

void QueueRunner::begun(bool success) {
    if (!success) {
        taken_.reset();
        return turnOff();
    }
    track_ = feed_->liveTracks().front();
    emit changed();
}

std::optional<engine::RunSummary> QueueRunner::earlierTry() {
    const engine::QueuedRun& queued = taken_->queued();
    if (queued.run.empty()) return std::nullopt;
    std::optional<engine::RunSummary> found;
    use([&](engine::RunQueue&) { found = feed_->store()->find(queued.run); });
    if (!found || found->config != queued.entry.config || found->state == "running")
        return std::nullopt;
    return found;
}

void QueueRunner::take(const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
    if (!taken_ || track != track_) return;
    noteRun();
    if (const auto* done = std::get_if<engine::RunDone>(&event))
        finish(stateOf(done->reason), done->run);
}

/// A session that ends before it trains posts no end event: its data cannot be read, or it was
/// stopped.
void QueueRunner::stateChanged() {
    if (!isOver(feed_->state())) return;
    noteRun();
    const bool unbegun = track_ && track_->run().empty() && feed_->state() != RunState::idle;
    if (unbegun) finish(QueueState::waiting, {});
    // A run that goes on has a name from before. The end of one that trained arrives by then.
    QTimer::singleShot(endWithin, this, [this, ended = std::weak_ptr(track_)] {
        const bool same = track_ && track_ == ended.lock();
        if (same && isOver(feed_->state())) finish(QueueState::waiting, {});
    });
    // The slots of this change come first.
    QTimer::singleShot(0, this, &QueueRunner::next);
}

/// From its start on the queue knows the run: it goes on with it after a crash.
void QueueRunner::noteRun() {
    if (!track_ || track_->run().empty() || taken_->queued().run == track_->run()) return;
    use([this](engine::RunQueue&) { taken_->set_run(track_->run()); });
}

void QueueRunner::finish(QueueState state, const std::string& run) {
    use([&](engine::RunQueue&) {
        if (!run.empty()) taken_->set_run(run);
        taken_->finish(state);
    });
    taken_.reset();
    track_.reset();
    if (state == QueueState::waiting) return turnOff();
    emit changed();
    QTimer::singleShot(0, this, &QueueRunner::next);
}

}  // namespace ui
