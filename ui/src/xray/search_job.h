#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
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
    ~SearchJob() override;

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
    bool stopping() const;
    /// The question that was asked last.
    const std::optional<Question>& asked() const { return asked_; }

    /// Trials so far.
    const std::vector<engine::PrecisionTrial>& trials() const { return trials_; }
    /// Steps of the confirming trainings; 0 of 0 before them.
    std::int64_t confirmed() const { return confirmed_; }
    std::int64_t toConfirm() const { return toConfirm_; }
    /// The step that was searched; 0: not yet.
    std::int64_t step() const { return step_; }
    const std::optional<engine::FoundPrecision>& found() const { return found_; }
    /// Why it failed; empty if it did not.
    const QString& problem() const { return problem_; }

signals:
    void progressed();
    void ended();

private:
    struct Shared;  ///< what the search's thread and this object share
    void search(const engine::CapturedStep& step, const engine::PrecisionSearchOptions& options);
    void poll();
    void end();

    StepJobs* jobs_;
    QTimer timer_;
    std::shared_ptr<Shared> shared_;
    bool running_ = false;
    std::optional<Question> asked_;
    std::vector<engine::PrecisionTrial> trials_;
    std::int64_t confirmed_ = 0, toConfirm_ = 0, step_ = 0;
    std::optional<engine::FoundPrecision> found_;
    QString problem_;
};

}  // namespace ui
