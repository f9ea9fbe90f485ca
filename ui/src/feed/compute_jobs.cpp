#include "feed/compute_jobs.h"

#include <QCoreApplication>
#include <QPointer>
#include <utility>

namespace ui {

/// Work that takes one turn.
class ComputeJobs::Job final : public engine::Turn {
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

const std::shared_ptr<engine::ComputeThread>& ComputeJobs::thread() {
    if (!thread_) thread_ = std::make_shared<engine::ComputeThread>();
    return thread_;
}

void ComputeJobs::run(QObject* context, std::function<void()> work, std::function<void()> done) {
    const QPointer<QObject> alive(context);
    const QPointer<ComputeJobs> self(this);
    // finish() removes the job that calls it: the slot names the job, which is made after finish().
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
    thread()->add(job);
    thread()->wake();
}

}  // namespace ui
