#include "xray/search_job.h"

#include <utility>

namespace ui {

SearchJob::SearchJob(EventFeed* feed, QObject* parent)
    : QObject(parent), jobs_(new StepJobs(feed, this)), task_([this] { emit progressed(); }) {
    // A step that could not be copied ends the job here; otherwise search() has taken over.
    connect(jobs_, &StepJobs::stateChanged, this, [this] {
        if (!jobs_->busy() && !jobs_->problem().isEmpty()) end(jobs_->problem());
    });
}

void SearchJob::cancel() {
    stopped_ = true;
    task_.stop();
}

void SearchJob::start(const StepSource& source, const std::optional<engine::CapturedStep>& known,
                      Question question) {
    if (running_) return;
    running_ = true;
    stopped_ = false;
    task_.drop();
    asked_ = std::move(question);
    found_.reset();
    problem_.clear();
    step_ = 0;
    if (known) return search(*known);
    jobs_->run<bool>(
        source, known, [](const engine::CapturedStep&) { return true; },
        [this](bool, const engine::CapturedStep& step) { search(step); });
}

void SearchJob::search(const engine::CapturedStep& step) {
    step_ = step.step();
    task_.start(
        [step, asked = *asked_](Task::Link& link) {
            engine::PrecisionSearchOptions options;
            options.tolerance = asked.tolerance;
            options.confirm_steps = asked.confirmSteps;
            options.on_trial = [&link](const engine::PrecisionTrial& trial) {
                link.report([&trial](Progress& progress) { progress.trials.push_back(trial); });
                return !link.stopped();
            };
            options.on_confirm = [&link](std::int64_t done, std::int64_t all) {
                link.report([done, all](Progress& progress) {
                    progress.confirmed = done;
                    progress.toConfirm = all;
                });
                return !link.stopped();
            };
            return engine::search_precision(step, options);
        },
        [this](Outcome<engine::FoundPrecision> outcome) {
            found_ = std::move(outcome.result);
            end(outcome.failure().sentence());
        });
    if (stopped_) task_.stop();
}

void SearchJob::end(const QString& problem) {
    if (!std::exchange(running_, false)) return;
    problem_ = problem;
    emit progressed();
    emit ended();
}

}  // namespace ui
