#include "feed/run_track.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "engine/verdict/verdict.h"
#include "text/precision_title.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::StepRecord;

namespace {

constexpr int ownColors = 5;  // Tokens::own

}  // namespace

std::vector<RunHue> runHues(const std::vector<std::string>& precisions) {
    std::map<std::string, int> counts;
    for (const std::string& each : precisions) ++counts[each];
    const bool other =
        std::ranges::any_of(counts, [](const auto& kind) { return kind.second > 2; });
    std::vector<RunHue> out;
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < precisions.size(); ++i) {
        const int at = static_cast<int>(i);
        out.push_back(other ? RunHue{at % ownColors, at / ownColors % 2 == 1}
                            : RunHue{-1, seen[precisions[i]]++ > 0});
    }
    return out;
}

namespace {

constexpr std::size_t chunk = 2048;  // rows read at a time: well under a millisecond
constexpr std::size_t maxEvents = 4000;
constexpr std::size_t maxEpochs = 1024;

}  // namespace

RunTrack::RunTrack(std::string run, engine::RunConfig config)
    : run_(std::move(run)),
      config_(std::move(config)),
      expectedMetrics_(engine::metrics_of(config_)),
      expectedUnit_(engine::sample_unit(config_)) {
    setSource(nullptr);
}

bool RunTrack::hasScaler() const {
    return engine::resolve(config_.precision).scaler != engine::ScalerMode::off;
}

void RunTrack::setSource(std::shared_ptr<RowSource> source) {
    source_ = std::move(source);
    rows_ = 0;
    RowAxis axis([rows = source_](XKind kind, std::int64_t first, std::span<double> out) {
        rows->xColumn(kind, first, out);
    });
    // In place, as the series below: plots hold on to those of a run.
    if (axis_) {
        *axis_ = std::move(axis);
    } else {
        axis_ = std::make_unique<RowAxis>(std::move(axis));
    }
    updateStepsPerEpoch();
    problemTaken_ = false;
    for (auto& each : series_) *each.data = emptySeries(each.figure);
}

SeriesPyramid RunTrack::emptySeries(Figure figure) const {
    return SeriesPyramid([rows = source_, figure](std::int64_t first, std::span<double> out) {
        rows->column(figure, first, out);
    });
}

bool RunTrack::catchUp(const QDeadlineTimer& deadline, std::int64_t limit) {
    if (!source_) return false;
    const std::int64_t published = std::min(source_->size(), limit);
    while (rows_ < published) {
        if (deadline.hasExpired()) return true;
        scratch_.resize(std::min(chunk, static_cast<std::size_t>(published - rows_)));
        for (auto& each : series_) {
            source_->column(each.figure, rows_, scratch_);
            each.data->append(scratch_);
        }
        rows_ += std::ssize(scratch_);
        axis_->grow(rows_);
    }
    return false;
}

engine::Message RunTrack::takeProblem() {
    if (!source_ || problemTaken_) return {};
    const engine::Message problem = source_->problem();
    problemTaken_ = !problem.empty();
    return problem;
}

engine::StepRecordReader RunTrack::reader() const {
    return source_ ? source_->reader().up_to(rows_) : engine::StepRecordReader();
}

const SeriesPyramid& RunTrack::series(Figure figure) const {
    const auto kept = std::ranges::find(series_, figure, &Series::figure);
    if (kept != series_.end()) return *kept->data;
    auto added = std::make_unique<SeriesPyramid>(emptySeries(figure));
    while (added->size() < rows_) {
        scratch_.resize(std::min(chunk, static_cast<std::size_t>(rows_ - added->size())));
        source_->column(figure, added->size(), scratch_);
        added->append(scratch_);
    }
    return *series_.emplace_back(figure, std::move(added)).data;
}

std::optional<Figure> RunTrack::metricFigure(const std::string& key) const {
    const auto& list = stepMetrics();
    const auto found = std::ranges::find(list, key, &engine::Metric::key);
    if (found == list.end()) return std::nullopt;
    return Figure(engine::metric_column(list, static_cast<std::size_t>(found - list.begin())));
}

StepRecord RunTrack::at(std::int64_t step) const {
    if (step < 1 || step > rows_) return StepRecord{};
    return source_->row(step - 1);
}

engine::FigureRows RunTrack::readRows() const {
    return {rows_, [this](std::int64_t index) { return at(index + 1); }};
}

engine::KeyFigures RunTrack::figures() const {
    return engine::key_figures(readRows(), figureEvents_);
}

double RunTrack::scaleAfter(std::int64_t step) const {
    return engine::scale_after(readRows(), figureEvents_, step);
}

void RunTrack::apply(const engine::Event& event) {
    figureEvents_.apply(event);
    events_.push_back(event);
    if (events_.size() > maxEvents) events_.pop_front();
    if (const auto* e = std::get_if<engine::RunStarted>(&event)) {
        started_ = *e;
        run_ = e->run;
        config_ = e->config;
        origin_ = e->origin;
        updateStepsPerEpoch();
    } else if (const auto* s = std::get_if<engine::StateChanged>(&event)) {
        state_ = s->state;
        events_.pop_back();  // the state is kept above; nobody reads its history
    } else if (const auto* d = std::get_if<engine::EpochDone>(&event)) {
        addEpoch(*d);
        updateStepsPerEpoch();
    } else if (const auto* f = std::get_if<engine::RunFailed>(&event)) {
        failed_ = *f;
    } else if (const auto* r = std::get_if<engine::RunDone>(&event)) {
        done_ = *r;
    }
}

void RunTrack::updateStepsPerEpoch() {
    double steps = 0;
    const auto ended = std::find_if(epochs_.rbegin(), epochs_.rend(), [](const auto& each) {
        return each.epoch_ended && each.epoch > 0;
    });
    if (ended != epochs_.rend()) {
        steps = static_cast<double>(ended->step) / static_cast<double>(ended->epoch);
    } else if (started_ && started_->steps_per_epoch > 0) {
        steps = static_cast<double>(started_->steps_per_epoch);
    } else if (started_ && !origin_ && config_.batch_size > 0) {  // of an earlier version
        std::int64_t perStep = config_.batch_size * std::max<std::int64_t>(1, config_.accumulate);
        if (started_->unit == "tokens") perStep *= config_.bptt;  // a window of each stream
        steps =
            std::ceil(static_cast<double>(started_->train_samples) / static_cast<double>(perStep));
    }
    axis_->setStepsPerEpoch(steps);
}

void RunTrack::addEpoch(const engine::EpochDone& epoch) {
    // The last entry is the newest one; it stays only if its number is one of the stride. An
    // epoch's own number does not do: many evaluations may be made within one epoch.
    if (!epochs_.empty() && newestEpoch_ % epochStride_ != 0) epochs_.pop_back();
    ++newestEpoch_;
    epochs_.push_back(epoch);
    if (epochs_.size() < maxEpochs) return;
    epochStride_ *= 2;
    for (std::size_t i = 1; 2 * i < maxEpochs; ++i) epochs_[i] = epochs_[2 * i];
    epochs_.resize(maxEpochs / 2);
    epochs_.push_back(epoch);
}

std::int64_t RunTrack::plannedSteps() const {
    if (started_ && started_->steps_planned > 0) return started_->steps_planned;
    return origin_ ? 0 : config_.max_steps;
}

std::int64_t RunTrack::lastStep() const {
    return ended(state_) ? std::max(rows_, published()) : std::max(plannedSteps(), rows_);
}

QString untaggedTitle(const RunTrack& track) {
    const QString title = precisionTitle(track.config().precision);
    return track.origin() ? programName(*track.origin()) + u' ' + title : title;
}

QString trackTitle(const RunTrack& track) {
    const QString title = untaggedTitle(track);
    return track.tag.isEmpty() ? title : title + u" · "_s + track.tag;
}

std::shared_ptr<RunTrack> focusTrack(const TrackList& tracks) {
    for (auto it = tracks.rbegin(); it != tracks.rend(); ++it) {
        if ((*it)->hasScaler()) return *it;
    }
    return tracks.empty() ? nullptr : tracks.front();
}

namespace {

engine::RunFigures judgedFigures(const RunTrack& track, const engine::Speed& speed,
                                 std::int64_t from) {
    engine::RunFigures figures;
    if (track.started()) figures = engine::figures_of(*track.started());
    figures.precision = track.precision();
    figures.record = track.reader();
    for (const auto& epoch : track.epochs())
        if (epoch.evaluated && epoch.step >= from)
            figures.tests.push_back({epoch.step, epoch.test});
    figures.speed = speed;
    figures.title = trackTitle(track).toStdString();
    figures.metric = track.metrics().empty() ? engine::Metric{} : track.metrics().front();
    figures.unit = track.unit();
    figures.ended = track.done().has_value();
    figures.first_step = from;
    return figures;
}

}  // namespace

engine::Verdict judgeTracks(const RunTrack& baseline, const RunTrack& other, std::int64_t from) {
    try {
        // The speeds are of the two alone: a third run on screen changes nothing between them.
        const auto speeds = engine::speeds({baseline.reader(), other.reader()});
        return engine::judge(judgedFigures(baseline, speeds[0], from),
                             judgedFigures(other, speeds[1], from));
    } catch (const engine::Error& error) {  // another program cut a record short
        return {engine::VerdictTone::neutral, error.message(), {}, {error.hint()}};
    }
}

}  // namespace ui
