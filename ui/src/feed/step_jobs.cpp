#include "feed/step_jobs.h"

#include <filesystem>
#include <utility>

#include "feed/event_feed.h"
#include "feed/run_track.h"

namespace ui {

using engine::CapturedStep;

struct StepJobs::Job {
    std::filesystem::path folder;  ///< of the run; empty: the settings
    std::int64_t step = 0;
    engine::RunConfig settings;
    std::optional<CapturedStep> captured;
    Work work, take;

    /// On the compute thread.
    CapturedStep run(Task::Link& link) {
        const auto count = [&link](std::int64_t left) {
            link.check();
            link.report([left](ReplayProgress& progress) { progress.note(left); });
        };
        if (!captured) {
            captured = folder.empty() ? engine::capture_first_step(settings)
                                      : engine::capture_step(folder, step, count);
        }
        const engine::WorkScope scope(link.watcher());
        link.check();
        work(*captured);
        return *captured;
    }
};

QString ReplayProgress::text(bool cancelled, TimeLeft& time) const {
    if (cancelled) return StepJobs::tr("Cancelling…");
    if (total == 0) return {};
    const std::int64_t done = std::max<std::int64_t>(total - left, 0);
    return time.behind(StepJobs::tr("Computing the steps before it again: %1 of %2")
                           .arg(count(done), count(total)),
                       static_cast<double>(done) / static_cast<double>(total));
}

StepJobs::StepJobs(EventFeed* feed, QObject* parent)
    : QObject(parent), feed_(feed), task_([this] { emit stateChanged(); }, 250) {}

void StepJobs::cancel() {
    cancelled_ = true;
    task_.stop();
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
    cancelled_ = abandoned_ = false;
    problem_ = {};
    left_ = {};
    auto job = std::make_shared<Job>();
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
        finish(*job, {{}, engine::Error(engine::ErrorCode::state, capture.problem)});
    });
}

void StepJobs::compute(const std::shared_ptr<Job>& job) {
    task_.start([job](Task::Link& link) { return job->run(link); },
                [this, job](const Outcome<CapturedStep>& outcome) { finish(*job, outcome); },
                feed_->betweenSteps());
    if (cancelled_) task_.stop();
}

void StepJobs::finish(const Job& job, const Outcome<CapturedStep>& outcome) {
    busy_ = false;
    if (!abandoned_) problem_ = outcome.failure();
    if (!abandoned_ && outcome.stopped()) problem_ = Failure(engine::msg("Cancelled."));
    if (outcome.result) job.take(*outcome.result);
    emit stateChanged();
}

}  // namespace ui
