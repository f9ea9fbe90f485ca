#include <QCoreApplication>
#include <QPointer>
#include <algorithm>
#include <utility>

#include "feed/event_feed.h"
#include "feed/run_track.h"

namespace ui {

using engine::RunState;

/// Work that takes one turn.
class EventFeed::Job final : public engine::Turn {
public:
    Job(std::function<void()> work, std::function<void()> ended)
        : work_(std::move(work)), ended_(std::move(ended)) {}
    bool run_turn() override {
        if (!work_) return false;
        std::exchange(work_, nullptr)();
        ended_();
        return false;
    }

private:
    std::function<void()> work_, ended_;
};

engine::ComputeThread& EventFeed::thread() {
    if (!thread_) thread_ = std::make_shared<engine::ComputeThread>();
    return *thread_;
}

void EventFeed::compute(QObject* context, std::function<void()> work, std::function<void()> done) {
    const QPointer<QObject> alive(context);
    const QPointer<EventFeed> self(this);
    auto slot = std::make_shared<std::weak_ptr<Job>>();
    auto finish = [alive, self, slot, done = std::move(done)] {
        if (!self) return;
        if (const auto job = slot->lock()) {
            self->thread_->remove(job.get());
            std::erase(self->jobs_, job);
        }
        if (alive) done();
    };
    auto job = std::make_shared<Job>(std::move(work), [finish = std::move(finish)] {
        QMetaObject::invokeMethod(QCoreApplication::instance(), finish, Qt::QueuedConnection);
    });
    *slot = job;
    jobs_.push_back(job);
    thread().add(job);
    thread().wake();
}

bool EventFeed::hasNextStep(const RunTrack* track) const {
    const bool ours = std::ranges::any_of(live_, [&](const auto& t) { return t.get() == track; });
    if (!ours) return false;
    switch (track->state()) {
        case RunState::preparing:
        case RunState::training:
        case RunState::evaluating:
        case RunState::paused:
            return true;
        default:
            return false;
    }
}

void EventFeed::captureNextStep(const RunTrack* track, QObject* context,
                                std::function<void(engine::NextStepCapture)> done) {
    const auto found =
        std::ranges::find_if(live_, [&](const auto& each) { return each.get() == track; });
    const QPointer<QObject> alive(context);
    const auto answer = [alive, done = std::move(done)](engine::NextStepCapture capture) {
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [alive, done, capture = std::move(capture)] {
                if (alive) done(capture);
            },
            Qt::QueuedConnection);
    };
    if (found == live_.end())
        return answer({{}, engine::msg("The run has ended, so there is no next step.")});
    sessions_[static_cast<std::size_t>(found - live_.begin())]->capture_next_step(answer);
}

}  // namespace ui
