#pragma once

#include <QElapsedTimer>
#include <QImage>
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "engine/instruments/skips.h"
#include "engine/session/session.h"
#include "feed/bad_steps.h"
#include "feed/step_jobs.h"
#include "text/format.h"
#include "text/language.h"
#include "view/context.h"

namespace ui {

class RunTrack;

/// The skipped and non-finite steps of the selected run, and the examination of one of them, which
/// runs on the compute thread. While the page is open, a run on a CPU examines its faults as they
/// happen. On a GPU that costs a synchronisation a step, so the user must enable it. GUI thread.
class SkipsModel final : public QObject {
    Q_OBJECT
public:
    explicit SkipsModel(const Context& context, QObject* parent = nullptr);
    ~SkipsModel() override;

    const std::shared_ptr<RunTrack>& track() const { return track_; }
    /// The skips as of the last bad step; newerSteps() came after it, none of them bad.
    const engine::SkipList& skips() const { return skips_; }
    std::int64_t newerSteps() const;
    /// Index of the step on show; -1: none.
    int current() const;
    void select(int index);
    const engine::SkippedStep* step() const;
    /// Report on the step on show; null until it was examined.
    const engine::SkipReport* report() const;
    /// The images of the report's samples, as engine::skip_picture(); null for other data.
    const QImage& picture() const { return picture_; }
    /// The steps other than the one on show that the sample recurs in.
    std::vector<std::int64_t> recurrences(std::int64_t sample) const;
    /// The last step that was computed again with a change.
    const std::optional<engine::StepTrial>& trial() const { return trial_; }

    bool busy() const { return task_.running(); }
    /// "Computing the steps before it again: 40 of 79 · 0:03 left"; empty while no step is.
    QString progress() {
        return busy() ? task_.progress().replay.text(task_.stopped(), left_) : QString();
    }
    /// Gives up what is computed.
    void cancel();
    /// Seconds that an examination of the step on show is expected to take; 0: unknown.
    double expectedSeconds() const;
    QString problem() const { return problem_.text(); }
    /// Progress of the run's own examination as it trains, or of examine(); step 0: none.
    engine::ExaminationProgress checking() const;
    void examine();
    /// Examines the step on show, once, if the page is open and nothing trains on this machine.
    void examineIfIdle();
    void retry(const engine::RetryChange& change);
    void saveCapsule(const QString& file);

    /// The page is on screen.
    void setVisible(bool visible);
    /// Whether the experiment trains on a GPU, so that a watch is to be asked for.
    bool needsArming() const;
    /// Asks for it until the window closes.
    void setArmed(bool armed);
    /// Whether the experiment's faults are examined as they happen.
    bool watches() const;

signals:
    void listChanged();
    /// newerSteps() is another.
    void stepsCounted();
    void stepChanged();
    void stateChanged();
    /// Some operations were checked.
    void progressed();

private:
    void refresh();
    void readList();
    bool isRead() const;
    void readPicture();
    void updateWatch();
    bool isLive() const;
    bool isPinned() const;
    struct Progress {
        ReplayProgress replay;
        std::int64_t operations = 0;  ///< of examine() so far
    };
    using Task = BackgroundTask<Progress, bool>;
    /// Runs work(options) between the steps of the experiment, then done(result) here unless it
    /// failed. The options count its way to the step and give it up once cancelled.
    template <typename Work, typename Done>
    void run(Work work, Done done);

    Context context_;
    std::shared_ptr<RunTrack> track_;
    std::filesystem::path folder_;
    std::int64_t counted_ = 0;       ///< rows of the record at the last stepsCounted()
    std::optional<BadSteps> known_;  ///< that the list was read with; nothing: it was not read
    QElapsedTimer sinceRead_;
    bool reading_ = false;
    bool stale_ = false;  ///< a step was examined since the list was read
    engine::SkipList skips_;
    QImage picture_;
    std::int64_t pictured_ = 0;  ///< the step of picture_
    std::optional<engine::StepTrial> trial_;
    Failure problem_;
    QTimer timer_;
    bool visible_ = false, armed_ = false;
    bool watching_ = false;          ///< as posted to the sessions of watched_
    const void* watched_ = nullptr;  ///< the experiment's first track
    std::int64_t examined_ = 0;  ///< the step that examine() is at; 0: none
    TimeLeft left_;
    Task task_;
    std::set<std::int64_t> tried_;  ///< steps that examineIfIdle() began
    /// Cache of expectedSeconds().
    mutable std::int64_t expectedOf_ = 0, replayed_ = 0;
};

}  // namespace ui
