#include "commands/cluster_jobs.h"

#include <algorithm>
#include <utility>

#include "commands/commands.h"
#include "feed/event_feed.h"

namespace ui {

ClusterJobs::ClusterJobs(EventFeed* feed, Commands* commands, QObject* parent)
    : QObject(parent), feed_(feed), commands_(commands) {
    connect(&timer_, &QTimer::timeout, this, [this] { follow(true); });
}

ClusterJobs::~ClusterJobs() {
    stopSubmitting();
    closing_.request_stop();
}

void ClusterJobs::submit(const std::optional<std::string>& batch) {
    if (stop_.stop_requested()) stop_ = {};
    start({Kind::submit, [batch, stop = stop_.get_token(),
                          closing = closing_.get_token()](engine::RunStore& store) {
               return engine::submit_jobs(store, batch, stop, closing);
           }});
}

void ClusterJobs::cancel(std::int64_t id) {
    start({Kind::cancel, [id, closing = closing_.get_token()](engine::RunStore& store) {
               engine::cancel_job(store, id, closing);
               return engine::follow_jobs(store, closing);
           }});
}

void ClusterJobs::follow(bool anyLive) {
    if (!anyLive) return timer_.stop();
    timer_.start(followEvery);
    const bool waits =
        std::ranges::any_of(waiting_, [](const Work& work) { return work.kind == Kind::follow; });
    if (waits) return;
    start({Kind::follow, [closing = closing_.get_token()](engine::RunStore& store) {
               return engine::follow_jobs(store, closing);
           }});
}

void ClusterJobs::start(Work work) {
    busy_ = busy_ || work.kind != Kind::follow;
    waiting_.push_back(std::move(work));
    next();
}

void ClusterJobs::next() {
    const auto store = feed_->store();
    if (running_ || waiting_.empty() || !store) return;
    running_ = true;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    inBackground(
        this, [store, run = work.run] { return run(*store); },
        [this, kind = work.kind](const Outcome<Changes>& outcome) { end(kind, outcome); });
}

void ClusterJobs::end(Kind kind, const Outcome<Changes>& outcome) {
    running_ = false;
    busy_ =
        std::ranges::any_of(waiting_, [](const Work& work) { return work.kind != Kind::follow; });
    // Following fails again and again, as while the queue is on a disk that is away.
    const bool told = kind == Kind::follow && std::exchange(told_, outcome.error.has_value());
    if (outcome.error && !told) commands_->report(*outcome.error);
    if (outcome.error && kind == Kind::submit) emit failed();
    if (outcome.result) emit changed(*outcome.result);
    next();
}

}  // namespace ui
