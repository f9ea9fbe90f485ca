#pragma once

#include <QObject>
#include <QString>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/instruments/captured_step.h"
#include "feed/background_task.h"
#include "text/format.h"

namespace ui {

class EventFeed;
class RunTrack;

/// How far a replay is on its way to a step.
struct ReplayProgress {
    std::int64_t total = 0;  ///< steps to compute on the way; 0: none, or not known yet
    std::int64_t left = 0;

    void note(std::int64_t steps) {
        total = std::max(total, steps);
        left = steps;
    }
    /// "Computing the steps before it again: 40 of 79 · 0:03 left"; empty while no step is.
    QString text(bool cancelled, TimeLeft& time) const;
};

/// Which step instruments look at.
struct StepSource {
    std::shared_ptr<RunTrack> track;  ///< null: the first step of `settings`
    std::int64_t step = 0;            ///< of the run; 0: the one to come of a run that is live
    engine::RunConfig settings;
};

/// Computes something about a copy of a step off the GUI thread, one job at a time. A job runs
/// between the steps of the experiment, which waits for it, and is given up with this object. GUI
/// thread.
class StepJobs final : public QObject {
    Q_OBJECT
public:
    explicit StepJobs(EventFeed* feed, QObject* parent = nullptr);

    bool busy() const { return busy_; }
    /// Why the last job failed; empty if it did not.
    QString problem() const { return problem_.text(); }
    /// As ReplayProgress::text().
    QString progress() {
        return busy_ ? task_.progress().text(cancelled_, left_) : QString();
    }
    /// Gives up the job: between the steps before its own, and within a trace between operations.
    void cancel();
    /// Gives up a job that nobody waits for any more: it ends without a problem.
    void abandon();

    /// Computes work(step) on the compute thread, then calls take(result, step) here. `known` is an
    /// existing copy of the step; without one the step is copied from `source`. Does nothing while
    /// a job runs. work() may throw engine::Error.
    template <typename Result>
    void run(const StepSource& source, const std::optional<engine::CapturedStep>& known,
             std::function<Result(const engine::CapturedStep&)> work,
             std::function<void(Result, const engine::CapturedStep&)> take) {
        auto result = std::make_shared<std::optional<Result>>();
        start(
            source, known,
            [result, work = std::move(work)](const engine::CapturedStep& step) {
                *result = work(step);
            },
            [result, take = std::move(take)](const engine::CapturedStep& step) {
                take(std::move(**result), step);
            });
    }

signals:
    /// A job began, came further or ended.
    void stateChanged();

private:
    using Task = BackgroundTask<ReplayProgress, engine::CapturedStep>;
    using Work = std::function<void(const engine::CapturedStep&)>;
    struct Job;
    void start(const StepSource& source, const std::optional<engine::CapturedStep>& known,
               Work work, Work take);
    void compute(const std::shared_ptr<Job>& job);
    void finish(const Job& job, const Outcome<engine::CapturedStep>& outcome);

    EventFeed* feed_;
    bool busy_ = false;
    bool cancelled_ = false, abandoned_ = false;
    Failure problem_;
    TimeLeft left_;
    Task task_;
};

}  // namespace ui
