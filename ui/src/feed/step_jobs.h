#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/base/error.h"
#include "engine/instruments/captured_step.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {

class EventFeed;
class RunTrack;

/// The way of a replay to its step, shared by the compute thread, which counts, and the GUI thread,
/// which reads and cancels.
class Replay {
public:
    /// For the engine: called with the steps that are left; throws Error(state) once cancelled.
    static std::function<void(std::int64_t)> counter(const std::shared_ptr<Replay>& replay) {
        return [replay](std::int64_t left) {
            replay->check();
            if (replay->total_ < left) replay->total_ = left;
            replay->left_ = left;
        };
    }
    /// Throws Error(state) once cancelled.
    void check() const {
        if (cancelled_) throw engine::Error(engine::ErrorCode::state, engine::msg("Cancelled."));
    }
    void cancel() { cancelled_ = true; }
    bool isCancelled() const { return cancelled_; }

    /// Steps to compute on the way; 0: none, or not known yet.
    std::int64_t total() const { return total_; }
    /// Number of steps that are computed.
    std::int64_t done() const { return std::max<std::int64_t>(total_ - left_, 0); }

private:
    std::atomic<std::int64_t> total_ = 0, left_ = 0;
    std::atomic<bool> cancelled_ = false;
};

/// Which step instruments look at.
struct StepSource {
    std::shared_ptr<RunTrack> track;  ///< null: the first step of `settings`
    std::int64_t step = 0;            ///< of the run; 0: the one to come of a run that is live
    engine::RunConfig settings;
};

/// Computes something about a copy of a step off the GUI thread, one job at a time. A job runs
/// between the steps of the experiment, which waits for it. GUI thread.
class StepJobs final : public QObject {
    Q_OBJECT
public:
    explicit StepJobs(EventFeed* feed, QObject* parent = nullptr);
    /// Gives up a job that runs.
    ~StepJobs() override;

    bool busy() const { return busy_; }
    /// Why the last job failed; empty if it did not.
    QString problem() const { return problem_.text(); }
    /// "Computing the steps before it again: 40 of 79 · 0:03 left"; empty while no step is.
    QString progress();
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

    /// The words of progress() for a replay.
    static QString textOf(const Replay& replay, TimeLeft& left);

signals:
    /// A job began, came further or ended.
    void stateChanged();

private:
    using Work = std::function<void(const engine::CapturedStep&)>;
    struct Job;
    void start(const StepSource& source, const std::optional<engine::CapturedStep>& known,
               Work work, Work take);
    void compute(const std::shared_ptr<Job>& job);
    void finish(const Job& job);

    EventFeed* feed_;
    bool busy_ = false;
    bool abandoned_ = false;
    Failure problem_;
    std::shared_ptr<Replay> replay_ = std::make_shared<Replay>();
    TimeLeft left_;
    QTimer timer_;
};

}  // namespace ui
