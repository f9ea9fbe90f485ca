#include "feed/step_jobs.h"

#include <filesystem>
#include <utility>

#include "engine/base/error.h"
#include "engine/io/work_scope.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "text/format.h"

namespace ui {

using engine::CapturedStep;

struct StepJobs::Job {
    std::filesystem::path folder;  ///< of the run; empty: the settings
    std::int64_t step = 0;
    engine::RunConfig settings;
    std::optional<CapturedStep> captured;
    Work work, take;
    Failure problem;
    std::shared_ptr<Replay> replay;

    /// On the compute thread.
    void run() {
        try {
            if (!captured) {
                captured = folder.empty() ? engine::capture_first_step(settings)
                                          : engine::capture_step(folder, step,
                                                                 Replay::counter(replay));
            }
            const engine::WorkScope scope([this](double) { replay->check(); });
            replay->check();
            work(*captured);
        } catch (const std::exception& error) {
            problem = Failure(error);
        }
    }
};

StepJobs::StepJobs(EventFeed* feed, QObject* parent) : QObject(parent), feed_(feed) {
    constexpr int often = 250;  // ms
    timer_.setInterval(often);
    connect(&timer_, &QTimer::timeout, this, &StepJobs::stateChanged);
}

StepJobs::~StepJobs() { replay_->cancel(); }

QString StepJobs::textOf(const Replay& replay, TimeLeft& left) {
    const std::int64_t total = replay.total(), done = replay.done();
    if (replay.isCancelled()) return tr("Cancelling…");
    if (total == 0) return {};
    return left.behind(tr("Computing the steps before it again: %1 of %2")
                           .arg(count(done), count(total)),
                       static_cast<double>(done) / static_cast<double>(total));
}

QString StepJobs::progress() { return busy_ ? textOf(*replay_, left_) : QString(); }

void StepJobs::cancel() {
    replay_->cancel();
    emit stateChanged();
}

void StepJobs::abandon() {
    if (!busy_) return;
    abandoned_ = true;
    cancel();
}

void StepJobs::start(const StepSource& source, const std::optional<CapturedStep>& known, Work work,
                     Work take) {
    if (busy_) return;
    busy_ = true;
    abandoned_ = false;
    problem_ = {};
    auto job = std::make_shared<Job>();
    job->replay = replay_ = std::make_shared<Replay>();
    left_ = {};
    timer_.start();
    job->captured = known;
    job->work = std::move(work);
    job->take = std::move(take);
    job->settings = source.settings;
    job->step = source.step;
    if (source.track && source.track->started()) job->folder = source.track->started()->folder;
    emit stateChanged();
    const RunTrack* const track = source.track.get();
    if (known || source.step > 0 || track == nullptr) return compute(job);
    feed_->experiment().captureNextStep(track, this, [this, job](engine::NextStepCapture capture) {
        job->captured = std::move(capture.step);
        if (job->captured) return compute(job);
        job->problem = Failure(capture.problem);
        finish(*job);
    });
}

void StepJobs::compute(const std::shared_ptr<Job>& job) {
    feed_->jobs().run(
        this, [job] { job->run(); }, [this, job] { finish(*job); });
}

void StepJobs::finish(const Job& job) {
    busy_ = false;
    timer_.stop();
    problem_ = abandoned_ ? Failure() : job.problem;
    if (job.problem.isEmpty()) job.take(*job.captured);
    emit stateChanged();
}

}  // namespace ui
