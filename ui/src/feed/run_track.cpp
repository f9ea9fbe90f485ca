#include "feed/run_track.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/error.h"
#include "text/precision_title.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::StepRecord;

namespace {

constexpr std::size_t chunk = 2048;  // rows read at a time: well under a millisecond
constexpr std::size_t mostEvents = 4000;
constexpr std::size_t mostEpochs = 1024;

class RecordSource final : public RowSource {
public:
    explicit RecordSource(engine::StepRecordReader reader) : reader_(std::move(reader)) {}
    std::int64_t size() const override { return reader_.size(); }
    StepRecord row(std::int64_t index) const override {
        StepRecord row{};
        read([&] { row = reader_.row(index); });
        return row;
    }
    void column(Figure figure, std::int64_t first, std::span<double> out) const override {
        if (!read([&] { readColumn(figure, first, out); }))
            std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
    }
    void xColumn(XKind kind, std::int64_t first, std::span<double> out) const override {
        if (!read([&] { readX(kind, first, out); })) std::fill(out.begin(), out.end(), 0.0);
    }
    engine::Message problem() const override { return problem_; }
    engine::StepRecordReader reader() const override { return reader_; }

private:
    /// False if the record could not be read, now or before: another program cut its file short.
    template <typename F>
    bool read(F&& f) const {
        if (!problem_.empty()) return false;
        try {
            f();
            return true;
        } catch (const engine::Error& error) {
            problem_ = error.message();
            return false;
        }
    }

    void readColumn(Figure figure, std::int64_t first, std::span<double> out) const {
        switch (figure) {
            case Figure::loss:
                return reader_.column(&StepRecord::loss, first, out);
            case Figure::accuracy:
                return reader_.column(&StepRecord::accuracy, first, out);
            case Figure::lossScale:
                return reader_.column(&StepRecord::loss_scale, first, out);
            case Figure::skipped:
                return reader_.column(&StepRecord::found_inf, first, out);
            case Figure::ceiling:
                return reader_.column(&StepRecord::scale_ceiling, first, out);
            case Figure::gradNorm:
                return reader_.column(&StepRecord::grad_norm, first, out);
            case Figure::samplesPerS:
                return reader_.column(&StepRecord::samples_per_s, first, out);
            case Figure::memory:
                return reader_.column(&StepRecord::memory_bytes, first, out);
            case Figure::learningRate:
                return reader_.column(&StepRecord::lr, first, out);
        }
    }

    void readX(XKind kind, std::int64_t first, std::span<double> out) const {
        if (kind == XKind::update) return reader_.column(&StepRecord::updates, first, out);
        if (kind == XKind::sample) return reader_.column(&StepRecord::samples, first, out);
        return reader_.column(&StepRecord::elapsed_s, first, out);
    }

    engine::StepRecordReader reader_;
    mutable engine::Message problem_;
};

class ListSource final : public RowSource {
public:
    explicit ListSource(std::vector<StepRecord> rows) : rows_(std::move(rows)) {}
    std::int64_t size() const override { return std::ssize(rows_); }
    StepRecord row(std::int64_t index) const override {
        return rows_.at(static_cast<std::size_t>(index));
    }
    void column(Figure figure, std::int64_t first, std::span<double> out) const override {
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = value(figure, rows_.at(static_cast<std::size_t>(first) + i));
        }
    }
    void xColumn(XKind kind, std::int64_t first, std::span<double> out) const override {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const auto& row = rows_.at(static_cast<std::size_t>(first) + i);
            out[i] = kind == XKind::update   ? static_cast<double>(row.updates)
                     : kind == XKind::sample ? static_cast<double>(row.samples)
                                             : row.elapsed_s;
        }
    }

private:
    static double value(Figure figure, const StepRecord& row) {
        switch (figure) {
            case Figure::loss:
                return static_cast<double>(row.loss);
            case Figure::accuracy:
                return static_cast<double>(row.accuracy);
            case Figure::lossScale:
                return static_cast<double>(row.loss_scale);
            case Figure::skipped:
                return row.found_inf;
            case Figure::ceiling:
                return static_cast<double>(row.scale_ceiling);
            case Figure::gradNorm:
                return static_cast<double>(row.grad_norm);
            case Figure::samplesPerS:
                return static_cast<double>(row.samples_per_s);
            case Figure::memory:
                return static_cast<double>(row.memory_bytes);
            case Figure::learningRate:
                return static_cast<double>(row.lr);
        }
        return 0;
    }
    std::vector<StepRecord> rows_;
};

}  // namespace

std::shared_ptr<RowSource> recordSource(engine::StepRecordReader reader) {
    return std::make_shared<RecordSource>(std::move(reader));
}

std::shared_ptr<RowSource> listSource(std::vector<StepRecord> rows) {
    return std::make_shared<ListSource>(std::move(rows));
}

RunTrack::RunTrack(std::string run, engine::RunConfig config)
    : run_(std::move(run)), config_(std::move(config)) {
    setSource(nullptr);
}

bool RunTrack::hasScaler() const { return engine::resolve(config_.precision).scaler != "off"; }

void RunTrack::setSource(std::shared_ptr<RowSource> source) {
    source_ = std::move(source);
    series_.resize(figureCount);
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
    speed_ = {};
    for (int i = 0; i < figureCount; ++i) {
        const auto figure = static_cast<Figure>(i);
        SeriesPyramid fresh([rows = source_, figure](std::int64_t first, std::span<double> out) {
            rows->column(figure, first, out);
        });
        auto& series = series_[static_cast<std::size_t>(i)];
        if (series) {
            *series = std::move(fresh);
        } else {
            series = std::make_unique<SeriesPyramid>(std::move(fresh));
        }
    }
}

bool RunTrack::catchUp(const QDeadlineTimer& deadline, std::int64_t limit) {
    if (!source_) return false;
    const std::int64_t published = std::min(source_->size(), limit);
    while (rows_ < published) {
        if (deadline.hasExpired()) return true;
        scratch_.resize(std::min(chunk, static_cast<std::size_t>(published - rows_)));
        for (int i = 0; i < figureCount; ++i) {
            source_->column(static_cast<Figure>(i), rows_, scratch_);
            series_[static_cast<std::size_t>(i)]->append(scratch_);
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
    return *series_[static_cast<std::size_t>(figure)];
}

StepRecord RunTrack::at(std::int64_t step) const {
    if (step < 1 || step > rows_) return StepRecord{};
    return source_->row(step - 1);
}

void RunTrack::apply(const engine::Event& event) {
    events_.push_back(event);
    if (events_.size() > mostEvents) events_.pop_front();
    if (const auto* e = std::get_if<engine::RunStarted>(&event)) {
        started_ = *e;
        run_ = e->run;
        config_ = e->config;
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
    if (!epochs_.empty()) {
        steps = static_cast<double>(epochs_.back().step) /
                static_cast<double>(std::max<std::int64_t>(1, epochs_.back().epoch));
    } else if (started_ && config_.batch_size > 0) {
        const std::int64_t perStep =
            config_.batch_size * std::max<std::int64_t>(1, config_.accumulate);
        steps =
            std::ceil(static_cast<double>(started_->train_samples) / static_cast<double>(perStep));
    }
    axis_->setStepsPerEpoch(steps);
}

void RunTrack::addEpoch(const engine::EpochDone& epoch) {
    // The last entry is the newest epoch; it stays only if it is one of the stride.
    if (!epochs_.empty() && epochs_.back().epoch % epochStride_ != 0) epochs_.pop_back();
    epochs_.push_back(epoch);
    if (epochs_.size() < mostEpochs) return;
    epochStride_ *= 2;
    const auto newest = epochs_.back();
    std::erase_if(epochs_, [this](const auto& e) { return e.epoch % epochStride_ != 0; });
    if (epochs_.empty() || epochs_.back().epoch != newest.epoch) epochs_.push_back(newest);
}

std::int64_t RunTrack::plannedSteps() const {
    if (started_ && started_->steps_planned > 0) return started_->steps_planned;
    return config_.max_steps;
}

QString trackTitle(const RunTrack& track) {
    const QString title = precisionTitle(track.config().precision);
    return track.tag.isEmpty() ? title : title + u" · "_s + track.tag;
}

std::shared_ptr<RunTrack> focusTrack(const TrackList& tracks) {
    for (auto it = tracks.rbegin(); it != tracks.rend(); ++it) {
        if ((*it)->hasScaler()) return *it;
    }
    return tracks.empty() ? nullptr : tracks.front();
}

}  // namespace ui
