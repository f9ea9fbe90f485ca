#pragma once

#include <QDeadlineTimer>
#include <QString>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/record/event.h"
#include "engine/record/figures.h"
#include "engine/record/step_record.h"
#include "engine/runs/followed_run.h"
#include "engine/settings/run_config.h"
#include "feed/row_source.h"
#include "series/series_pyramid.h"
#include "series/x_axis.h"

namespace engine {
struct Verdict;
}

namespace ui {

/// Distinguishes a run from others beside it: a dash, or a colour of its own.
struct RunHue {
    int own = -1;  ///< the n-th colour that is no precision's; -1: that of the run's precision
    bool dashed = false;
    bool operator==(const RunHue&) const = default;
};

/// The colour of a precision means that precision alone. Two runs of one precision share its
/// colour, and the second is dashed. From three runs of one precision on, precision is not what
/// the runs differ in: all get colours of their own, and a dash when those are used up.
std::vector<RunHue> runHues(const std::vector<std::string>& precisions);

/// Nothing more comes from a run in this state.
inline bool ended(engine::RunState state) {
    return state == engine::RunState::done || state == engine::RunState::failed;
}

/// One run as the window shows it: its settings, its events, and pyramids over the rows read so
/// far. GUI thread.
class RunTrack {
public:
    RunTrack(std::string run, engine::RunConfig config);

    const std::string& run() const { return run_; }
    const engine::RunConfig& config() const { return config_; }
    const std::string& precision() const { return config_.precision.preset; }
    bool hasScaler() const;
    /// Origin of a run that another program trains.
    const std::optional<engine::RunOrigin>& origin() const { return origin_; }
    void setOrigin(const std::optional<engine::RunOrigin>& origin) { origin_ = origin; }
    /// Another process is writing it, or was while it was on screen.
    bool followed = false;
    engine::RunProcess writer;  ///< of a run that is followed
    /// Epochs that it will take; 0: unknown.
    std::int64_t plannedEpochs() const { return origin_ ? origin_->epochs : config_.epochs; }
    /// How it is drawn among the runs on screen.
    RunHue hue{};
    /// Distinguishes it from other runs on screen of the same precision; may be empty.
    QString tag;

    void setSource(std::shared_ptr<RowSource> source);
    /// The rows that were read so far, for another thread.
    engine::StepRecordReader reader() const;
    /// Rows that are in the record, read or not.
    std::int64_t published() const { return source_ ? source_->size() : 0; }
    /// Reads new rows, up to `limit` of them in all, until all are read or the deadline passes.
    /// True if rows remain.
    bool catchUp(const QDeadlineTimer& deadline,
                 std::int64_t limit = std::numeric_limits<std::int64_t>::max());
    /// Why rows of the record could not be read, once; empty if all could.
    engine::Message takeProblem();
    std::int64_t rows() const { return rows_; }
    /// The pyramid of a figure. Created by the first call, which reads all earlier rows: call it
    /// before there are many.
    const SeriesPyramid& series(Figure figure) const;
    /// Where its steps lie on x axes that do not count steps.
    const RowAxis& axis() const { return *axis_; }
    /// Row of a step (from 1) that was read.
    engine::StepRecord at(std::int64_t step) const;
    engine::StepRecord latest() const { return at(rows_); }
    /// As of the last row that was read, whatever else is on screen.
    engine::KeyFigures figures() const;
    /// The loss scale that follows a step; NaN for one that was not read.
    double scaleAfter(std::int64_t step) const;

    void apply(const engine::Event& event);
    /// The newest 4,000 or so; all are in the run's folder.
    const std::deque<engine::Event>& events() const { return events_; }
    engine::RunState state() const { return state_; }
    void setState(engine::RunState state) { state_ = state; }
    /// In order. If there are very many, only every second, fourth ... and the last are kept.
    const std::vector<engine::EpochDone>& epochs() const { return epochs_; }
    const std::optional<engine::RunStarted>& started() const { return started_; }
    const std::optional<engine::RunDone>& done() const { return done_; }
    const std::optional<engine::RunFailed>& failed() const { return failed_; }
    /// Metrics of its task; before it has started, of the task that its settings imply.
    const std::vector<engine::Metric>& metrics() const {
        return started_ ? started_->metrics : expectedMetrics_;
    }
    /// The metrics that the record has for each step.
    const std::vector<engine::Metric>& stepMetrics() const {
        return started_ ? started_->step_metrics : expectedMetrics_;
    }
    /// The column of a metric of its steps in the record; nothing if it has no such metric.
    std::optional<Figure> metricFigure(const std::string& key) const;
    /// Name of one sample: "images".
    const std::string& unit() const { return started_ ? started_->unit : expectedUnit_; }
    /// Steps that it will take; 0: unknown.
    std::int64_t plannedSteps() const;
    /// Where an x axis of steps ends: at the planned last step, after the end at the last one that
    /// was made.
    std::int64_t lastStep() const;

private:
    struct Series {
        Figure figure;
        std::unique_ptr<SeriesPyramid> data;  ///< stays where it is: plots hold on to it
    };
    SeriesPyramid emptySeries(Figure figure) const;
    engine::FigureRows readRows() const;
    void addEpoch(const engine::EpochDone& epoch);
    void updateStepsPerEpoch();

    std::string run_;
    engine::RunConfig config_;
    std::shared_ptr<RowSource> source_;
    mutable std::vector<Series> series_;  ///< that were asked for
    std::unique_ptr<RowAxis> axis_;
    std::int64_t rows_ = 0;
    bool problemTaken_ = false;
    engine::FigureEvents figureEvents_;
    std::deque<engine::Event> events_;
    engine::RunState state_ = engine::RunState::idle;
    std::vector<engine::EpochDone> epochs_;
    std::int64_t epochStride_ = 1;
    std::int64_t newestEpoch_ = -1;  ///< number of the last entry of epochs_ among all, from 0
    std::vector<engine::Metric> expectedMetrics_;
    std::string expectedUnit_;
    std::optional<engine::RunOrigin> origin_;
    std::optional<engine::RunStarted> started_;
    std::optional<engine::RunDone> done_;
    std::optional<engine::RunFailed> failed_;
    mutable std::vector<double> scratch_;
};

/// A run's name on screen: its precision; for another program's run that program's name in front;
/// and its tag if that is not unique.
QString trackTitle(const RunTrack& track);
/// trackTitle() without the tag.
QString untaggedTitle(const RunTrack& track);

using TrackList = std::vector<std::shared_ptr<RunTrack>>;

/// The run that counters and the loss-scale panel describe: the last one with a scaler, else the
/// first.
std::shared_ptr<RunTrack> focusTrack(const TrackList& tracks);

/// The engine's verdict on two runs on screen, over the rows that were read: the one of every page.
/// `from`: the first step that is judged, such as the one after a twin's resync.
engine::Verdict judgeTracks(const RunTrack& baseline, const RunTrack& other, std::int64_t from = 1);

}  // namespace ui
