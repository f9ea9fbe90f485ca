#include "commands/queue_runner.h"

#include <QTimer>
#include <algorithm>

#include "commands/cluster_jobs.h"
#include "commands/commands.h"
#include "engine/runs/run_group.h"
#include "engine/runs/sweep_run.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"

namespace ui {

using engine::QueueState;
using engine::RunState;

namespace {

constexpr int endWithin = 3000;  // ms

bool isOver(RunState state) {
    return state == RunState::idle || state == RunState::done || state == RunState::failed;
}

/// A sweep into a folder of its own has the folder behind its id.
std::string sweepOf(const std::string& batch) { return batch.substr(0, batch.find(' ')); }

}  // namespace

QueueRunner::QueueRunner(EventFeed* feed, Commands* commands, QObject* parent)
    : QObject(parent), feed_(feed), commands_(commands), jobs_(new ClusterJobs(feed, commands, this)) {
    connect(jobs_, &ClusterJobs::changed, this, &QueueRunner::takeChanges);
    connect(jobs_, &ClusterJobs::failed, this, &QueueRunner::turnOff);
    connect(feed_, &EventFeed::storeChanged, this, &QueueRunner::openQueue);
    connect(feed_, &EventFeed::eventArrived, this, &QueueRunner::take);
    connect(feed_, &EventFeed::stateChanged, this, &QueueRunner::stateChanged);
    connect(feed_, &EventFeed::tracksChanged, this, &QueueRunner::noteRuns);
    openQueue();
}

QueueRunner::~QueueRunner() { flights_.clear(); }

void QueueRunner::openQueue() {
    on_ = false;
    flights_.clear();
    queue_.reset();
    told_ = false;
    use([](engine::RunQueue&) {});
    // An earlier window may have submitted jobs.
    jobs_->follow(std::ranges::any_of(runs(), &engine::QueuedRun::has_live_job));
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
    std::vector<engine::QueueEntry> placed = entries;
    for (auto& entry : placed) entry.where = where_;
    use([&](engine::RunQueue& queue) { queue.add(placed); });
    emit changed();
    next();
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
    next();
}

void QueueRunner::moveTo(engine::QueuePlace where, const std::vector<std::int64_t>& ids) {
    for (const std::int64_t id : ids)
        use([&](engine::RunQueue& queue) { queue.set_where(id, where); });
    emit changed();
    next();
}

void QueueRunner::cancelJobs(const std::vector<std::int64_t>& ids) {
    for (const std::int64_t id : ids) jobs_->cancel(id);
}

bool QueueRunner::haveClusterWork() {
    const auto all = runs();
    const auto waits = [this](const engine::QueuedRun& run) {
        return run.state == QueueState::waiting && run.entry.where == engine::QueuePlace::slurm &&
               run.errors.empty() && (only_.empty() || run.entry.batch == only_);
    };
    if (!jobs_->isBusy() && std::ranges::any_of(all, waits))
        jobs_->submit(only_.empty() ? std::nullopt : std::optional(only_));
    return jobs_->isBusy() || std::ranges::any_of(all, &engine::QueuedRun::has_live_job);
}

void QueueRunner::takeChanges(const std::vector<engine::JobChange>& changes) {
    for (const engine::JobChange& change : changes) {
        if (change.state != QueueState::done && change.state != QueueState::failed) continue;
        if (!change.run.empty()) ended_.runs.push_back(change.run);
        done_ += change.state == QueueState::done ? 1 : 0;
        failed_ += change.state == QueueState::failed ? 1 : 0;
    }
    const bool anyLive = std::ranges::any_of(runs(), &engine::QueuedRun::has_live_job);
    const bool submitted = std::ranges::any_of(changes, [](const engine::JobChange& change) {
        return change.state == QueueState::submitted;
    });
    if (submitted || !anyLive) jobs_->follow(anyLive);
    emit changed();
    next();
}

void QueueRunner::start(const std::string& group) {
    only_.clear();
    for (const auto& run : runs()) {
        if (!group.empty() && sweepOf(run.entry.batch) == group) only_ = run.entry.batch;
    }
    on_ = true;
    ending_ = false;
    ended_ = {"queue", {}, {}, {}};
    done_ = failed_ = 0;
    emit changed();
    next();
}

bool QueueRunner::hasSweep(const std::string& group) {
    return std::ranges::any_of(runs(), [&](const engine::QueuedRun& run) {
        return sweepOf(run.entry.batch) == group && run.state != QueueState::done;
    });
}

void QueueRunner::restoreSweep(const std::vector<engine::RunSummary>& runs) {
    use([&](engine::RunQueue& queue) { engine::requeue_sweep(queue, runs); });
    emit changed();
}

void QueueRunner::pause() { turnOff(); }

void QueueRunner::turnOff() {
    on_ = false;
    jobs_->stopSubmitting();
    emit changed();
}

void QueueRunner::announceEnd(const std::string& state) {
    if (done_ + failed_ == 0 && state != "stopped") return;  // there was nothing to train
    ended_.state = state;
    ended_.reason = std::to_string(done_) + " done, " + std::to_string(failed_) + " failed";
    emit ended(ended_, done_, failed_);
}

void QueueRunner::next() {
    if (!on_) return;
    const bool onCluster = haveClusterWork();
    if (!flights_.empty() || !isOver(feed_->state())) return;
    takeNext();
    if (flights_.empty() && onCluster) return;
    if (flights_.empty()) {
        turnOff();
        return announceEnd(failed_ > 0 && done_ == 0 ? "failed" : "done");
    }
    std::vector<engine::RunSummary> earlier;
    for (std::size_t i = flights_.size(); i-- > 0;) {
        const auto before = earlierTry(flights_[i].taken.queued());
        if (!before) continue;
        const auto ended = engine::ended_state(*before);
        if (ended)
            finish(i, *ended, before->run);  // and its process died at once after that
        else
            earlier.insert(earlier.begin(), *before);
    }
    if (flights_.empty()) return;
    if (earlier.empty()) return begun(beginNew());
    resumeEarlier(earlier);
}

void QueueRunner::takeNext() {
    use([this](engine::RunQueue& queue) {
        auto taken = only_.empty() ? queue.take() : queue.take(only_);
        if (!taken) return;
        const std::string batch = taken->queued().entry.batch;
        flights_.push_back({std::move(*taken)});
        if (!engine::is_queued_comparison(batch)) return;
        while (auto another = queue.take(batch)) flights_.push_back({std::move(*another)});
    });
}

bool QueueRunner::beginNew() {
    const engine::QueueEntry entry = flights_.front().taken.queued().entry;
    std::filesystem::path data;
    if (!entry.batch.empty()) {
        use([&](engine::RunQueue& queue) {
            data = engine::ended_run_with_data(queue.list(entry.batch), entry, *feed_->store());
        });
    }
    std::vector<engine::RunConfig> configs;
    for (const Flight& flight : flights_) configs.push_back(flight.taken.queued().entry.config);
    return commands_->train(configs, sweepOf(entry.batch), data);
}

/// Runs of a comparison that were not begun yet wait for the next turn.
void QueueRunner::resumeEarlier(const std::vector<engine::RunSummary>& earlier) {
    std::erase_if(flights_, [&](const Flight& flight) {
        return std::ranges::find(earlier, flight.taken.queued().run, &engine::RunSummary::run) ==
               earlier.end();
    });
    const auto then = [self = QPointer(this),
                       id = flights_.front().taken.queued().id](bool goesOn) {
        const bool awaited =
            self && !self->flights_.empty() && self->flights_.front().taken.queued().id == id;
        if (awaited) self->begun(goesOn);
    };
    if (earlier.size() > 1)
        commands_->resumeGroup(earlier, then);
    else
        commands_->resume(earlier.front(), then);
}

void QueueRunner::begun(bool success) {
    const auto& tracks = feed_->liveTracks();
    if (!success || tracks.size() < flights_.size()) {
        flights_.clear();
        return turnOff();
    }
    for (std::size_t i = 0; i < flights_.size(); ++i) flights_[i].track = tracks[i];
    emit changed();
}

std::optional<engine::RunSummary> QueueRunner::earlierTry(const engine::QueuedRun& queued) {
    std::optional<engine::RunSummary> found;
    use([&](engine::RunQueue&) { found = engine::earlier_try(queued, *feed_->store()); });
    return found;
}

void QueueRunner::take(const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
    const auto at = std::ranges::find(flights_, track, &Flight::track);
    if (at == flights_.end()) return;
    noteRuns();
    if (const auto* done = std::get_if<engine::RunDone>(&event))
        finish(static_cast<std::size_t>(at - flights_.begin()), engine::queue_state(*done),
               done->run);
}

/// A session that ends before it trains posts no end event: its data cannot be read, or it was
/// stopped.
void QueueRunner::stateChanged() {
    if (!isOver(feed_->state())) return;
    noteRuns();
    const bool idle = feed_->state() == RunState::idle;
    for (std::size_t i = flights_.size(); i-- > 0;) {
        const auto& track = flights_[i].track;
        if (track && track->run().empty() && !idle) finish(i, QueueState::waiting, {});
    }
    // A run that goes on has a name from before. The end of one that trained arrives by then.
    std::vector<std::weak_ptr<RunTrack>> ended;
    for (const Flight& flight : flights_) ended.push_back(flight.track);
    QTimer::singleShot(endWithin, this, [this, ended] {
        if (!isOver(feed_->state())) return;
        for (std::size_t i = flights_.size(); i-- > 0;) {
            const bool same = std::ranges::any_of(ended, [&](const auto& each) {
                return flights_[i].track && each.lock() == flights_[i].track;
            });
            if (same) finish(i, QueueState::waiting, {});
        }
    });
    // The slots of this change come first.
    QTimer::singleShot(0, this, &QueueRunner::next);
}

/// From its start on the queue knows the run: it goes on with it after a crash.
void QueueRunner::noteRuns() {
    for (Flight& flight : flights_) {
        const auto& track = flight.track;
        if (!track || track->run().empty() || flight.taken.queued().run == track->run()) continue;
        use([&](engine::RunQueue&) { flight.taken.set_run(track->run()); });
    }
}

void QueueRunner::finish(std::size_t flight, QueueState state, const std::string& run) {
    use([&](engine::RunQueue&) {
        if (!run.empty()) flights_[flight].taken.set_run(run);
        flights_[flight].taken.finish(state);
    });
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(flight));
    if (!run.empty()) ended_.runs.push_back(run);
    done_ += state == QueueState::done ? 1 : 0;
    failed_ += state == QueueState::failed ? 1 : 0;
    ending_ = ending_ || state == QueueState::waiting;
    if (ending_ && flights_.empty()) {
        turnOff();
        return announceEnd("stopped");
    }
    emit changed();
    QTimer::singleShot(0, this, &QueueRunner::next);
}

}  // namespace ui
