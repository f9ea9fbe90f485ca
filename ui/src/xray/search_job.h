#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "engine/instruments/precision_search.h"
#include "feed/step_jobs.h"

namespace ui {

/// A precision search on a copy of a step, on a thread of its own: training goes on beside it, at
/// less than its speed. It ends with this object, after the trial in progress. GUI thread.
class SearchJob final : public QObject {
    Q_OBJECT
public:
    explicit SearchJob(EventFeed* feed, QObject* parent = nullptr);

    struct Question {
        engine::RunConfig config;         ///< of the run that is searched
        std::optional<double> tolerance;  ///< without one the search chooses its own
        std::int64_t confirmSteps = 0;
    };
    /// `known` is an existing copy of the step; otherwise it is copied from `source`.
    void start(const StepSource& source, const std::optional<engine::CapturedStep>& known,
               Question question);
    void cancel();
    bool running() const { return running_; }
    bool stopping() const { return running_ && stopped_; }
    /// The question that was asked last.
    const std::optional<Question>& asked() const { return asked_; }

    struct Progress {
        std::vector<engine::PrecisionTrial> trials;
        std::int64_t confirmed = 0, toConfirm = 0;  ///< steps of the confirming trainings
    };
    Progress progress() const { return task_.progress(); }
    /// The step that was searched; 0: not yet.
    std::int64_t step() const { return step_; }
    const std::optional<engine::FoundPrecision>& found() const { return found_; }
    /// Why it failed; empty if it did not.
    const QString& problem() const { return problem_; }

signals:
    void progressed();
    void ended();

private:
    using Task = BackgroundTask<Progress, engine::FoundPrecision>;
    void search(const engine::CapturedStep& step);
    void end(const QString& problem);

    StepJobs* jobs_;
    Task task_;
    bool running_ = false, stopped_ = false;
    std::optional<Question> asked_;
    std::int64_t step_ = 0;
    std::optional<engine::FoundPrecision> found_;
    QString problem_;
};

}  // namespace ui
