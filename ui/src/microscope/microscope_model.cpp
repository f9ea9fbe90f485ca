#include "microscope/microscope_model.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/instruments/microscope.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "view/view.h"

namespace ui {

using engine::HistogramKind;
using engine::HistogramRecordReader;
using engine::ValueType;

namespace {

constexpr std::size_t driftSlice = 160;  // samples: 3 to 5 ms

}  // namespace

MicroscopeModel::MicroscopeModel(const Context& context, QObject* parent)
    : QObject(parent), context_(context), jobs_(new StepJobs(context.feed, this)) {
    connect(context_.feed, &EventFeed::tracksChanged, this, &MicroscopeModel::refreshTrack);
    connect(context_.feed, &EventFeed::figuresDue, this, &MicroscopeModel::refreshFile);
    connect(context_.feed, &EventFeed::figuresDue, this, &MicroscopeModel::refreshScale);
    connect(this, &MicroscopeModel::contentChanged, this,
            [this] { scaleIsNow_ = isScaleNow(); });
    connect(context_.link, &PlotLink::selectedChanged, this, &MicroscopeModel::refreshTrack);
    connect(context_.link, &PlotLink::layerChanged, this, [this] {
        drift_ = {};
        driftSamples_ = 0;
        emit layerChanged();
    });
    driftTimer_.setSingleShot(true);
    driftTimer_.setInterval(0);
    connect(&driftTimer_, &QTimer::timeout, this, [this] {
        growDrift();
        emit driftGrew();
    });
    connect(jobs_, &StepJobs::stateChanged, this, &MicroscopeModel::stateChanged);
    connect(context_.feed, &EventFeed::stateChanged, this, &MicroscopeModel::stateChanged);
    connect(context_.link, &PlotLink::selectedChanged, this, &MicroscopeModel::stateChanged);
    refreshTrack();
}

MicroscopeModel::~MicroscopeModel() = default;

void MicroscopeModel::clear() {
    reader_.reset();
    shown_.reset();
    sample_.reset();
    computed_.clear();
    layers_.clear();
    total_ = {};
    problem_ = {};
    dragged_ = 0;
    drift_ = {};
    driftSamples_ = 0;
}

void MicroscopeModel::refreshTrack() {
    const auto track = selectedTrack(context_);
    const auto started = track ? track->started() : std::nullopt;
    const std::filesystem::path folder = started ? started->folder : std::string();
    if (track != track_ || folder != folder_) {
        track_ = track;
        folder_ = folder;
        clear();
        open();
        emit contentChanged();
    }
    refreshSample();
}

void MicroscopeModel::open() {
    if (folder_.empty() || reader_) return;
    try {
        if (HistogramRecordReader::exists(folder_)) reader_ = HistogramRecordReader::open(folder_);
    } catch (const engine::Error& error) {
        problem_ = Failure(error);
    }
}

void MicroscopeModel::refreshFile() {
    if (!reader_) {
        refreshTrack();  // the run may have started since
        open();
        if (reader_) refreshSample();
        return;
    }
    try {
        if (!reader_->refresh()) return;
    } catch (const engine::Error& error) {
        problem_ = Failure(error);
        return;
    }
    growDrift();
    refreshSample();
    emit driftGrew();
}

/// Shows what was computed for the selected step, or while none is selected for the displayed step:
/// the shadow pass if it is wanted, else the step itself if the run has no sample of it.
bool MicroscopeModel::showComputed() {
    const std::int64_t selected = context_.link->selected();
    const auto own = computed_.find(selected > 0 || !sample_ ? selected : sample_->step);
    if (own == computed_.end()) return false;
    if (!shadowWanted_ && reader_) {
        const auto kept = reader_->nearest(own->first);
        if (kept && reader_->samples()[*kept].step == own->first) return false;
        // A run that goes on is followed again.
        if (kept && selected == 0 && reader_->samples().back().step > own->first) return false;
    }
    const auto& wanted = shadowWanted_ ? own->second.shadow : own->second.measured;
    if (sample_ && *sample_ == wanted) return true;
    shown_.reset();
    show(wanted);
    emit contentChanged();
    return true;
}

void MicroscopeModel::refreshSample() {
    if (showComputed()) return;
    const std::int64_t selected = context_.link->selected();
    if (!reader_ || reader_->samples().empty()) return;
    const std::int64_t step = selected > 0 ? selected : reader_->samples().back().step;
    auto wanted = reader_->nearest(step);
    if (shadowWanted_) {
        const auto shadow = reader_->nearest(step, /*shadow=*/true);
        if (shadow &&
            (!wanted || reader_->samples()[*shadow].step == reader_->samples()[*wanted].step))
            wanted = shadow;
    }
    if (!wanted || wanted == shown_) return;
    shown_ = wanted;
    if (readSample()) emit contentChanged();
}

bool MicroscopeModel::readSample() {
    try {
        show(reader_->read(*shown_));
    } catch (const engine::Error& error) {
        problem_ = Failure(error);
        return false;
    }
    return true;
}

void MicroscopeModel::show(engine::HistogramSample sample) {
    sample_ = std::move(sample);
    layers_.clear();
    for (const auto& layer : sample_->layers) {
        if (layer.kind == kind_) layers_.push_back(&layer);
    }
    total_ = sample_->total(kind_);
}

QString MicroscopeModel::emptiness() const {
    if (!problem_.isEmpty()) return problem_.text();
    if (!track_) return tr("Start a run, or open one with histograms.");
    if (sample_ && !layers_.empty()) return {};
    if (sample_) return tr("This sample holds no values of this kind.");
    const engine::HistogramInterval every = track_->config().instruments.histograms_every;
    const engine::RunState state = track_->state();
    const bool over = state == engine::RunState::done || state == engine::RunState::failed;
    if (every.automatic && !over)
        return tr("The first histograms are taken at step %1.").arg(50);
    if (every.automatic)
        return tr("The run ended before its first histograms. A shadow pass (P) counts one step.");
    if (every.steps > 0)
        return tr("The first histograms are taken at step %1.").arg(every.steps);
    return tr(
        "This run keeps no histograms. A shadow pass (P) counts one step; to keep them, set "
        "\"histograms every\" under Instruments and start it again.");
}

void MicroscopeModel::setKind(HistogramKind kind) {
    if (kind == kind_) return;
    kind_ = kind;
    dragged_ = 0;
    drift_ = {};
    driftSamples_ = 0;
    if (shown_)
        readSample();
    else if (sample_)
        show(*std::exchange(sample_, std::nullopt));
    emit contentChanged();
}

bool MicroscopeModel::hasShadow() const {
    if (!sample_) return false;
    if (computed_.contains(sample_->step)) return true;
    if (!reader_) return false;
    const auto found = reader_->nearest(sample_->step, /*shadow=*/true);
    return found && reader_->samples()[*found].step == sample_->step;
}

bool MicroscopeModel::shadowsNext() const {
    return context_.link->selected() == 0 && track_ &&
           context_.feed->experiment().hasNextStep(track_.get());
}

void MicroscopeModel::computeShadow() {
    if (busy() || !track_) return;
    const bool next = shadowsNext();
    if (!next && (folder_.empty() || track_->rows() == 0)) return;
    const std::int64_t selected = context_.link->selected();
    StepSource source{track_, 0, track_->config()};
    if (!next) source.step = selected > 0 ? selected : sample_ ? sample_->step : track_->rows();
    jobs_->run<Computed>(
        source, std::nullopt,
        [](const engine::CapturedStep& step) {
            return Computed{engine::shadow_histograms(step), engine::step_histograms(step)};
        },
        [this, next, track = track_](Computed found, const engine::CapturedStep& step) {
            if (track != track_) return;  // another run was selected meanwhile
            computed_[step.step()] = found;
            shadowWanted_ = true;
            if (!next) context_.link->select(step.step(), track_);
            shown_.reset();
            show(std::move(found.shadow));
            emit contentChanged();
        });
}

void MicroscopeModel::setShadowWanted(bool wanted) {
    shadowWanted_ = wanted;
    shown_.reset();
    refreshSample();
}

int MicroscopeModel::selected() const {
    const std::string layer = context_.link->layer().toStdString();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (layers_[i]->layer == layer) return static_cast<int>(i);
    }
    return layers_.empty() ? -1 : 0;
}

const engine::LayerHistogram* MicroscopeModel::selectedLayer() const {
    const int at = selected();
    return at < 0 ? nullptr : layers_[static_cast<std::size_t>(at)];
}

void MicroscopeModel::select(int layer) {
    if (layer < 0 || layer >= static_cast<int>(layers_.size())) return;
    context_.link->selectLayer(
        QString::fromStdString(layers_[static_cast<std::size_t>(layer)]->layer));
}

const engine::NumberFormat& MicroscopeModel::format() const {
    if (format_ != nullptr) return *format_;
    const auto* layer = selectedLayer();
    if (layer != nullptr && layer->type == ValueType::bf16) return engine::bf16_format;
    return engine::fp16_format;
}

void MicroscopeModel::setFormat(const engine::NumberFormat& format) {
    format_ = &format;
    emit contentChanged();
}

bool MicroscopeModel::scaled() const {
    return kind_ == HistogramKind::gradients && track_ && track_->hasScaler() && sample_;
}

double MicroscopeModel::counted() const {
    return kind_ == HistogramKind::gradients && sample_ ? sample_->loss_scale : 1;
}

/// Scale of a shadow pass: that of the same step in its own precision.
double MicroscopeModel::scale() const {
    if (!scaled() || !sample_->shadow) return counted();
    const auto own = computed_.find(sample_->step);
    if (own != computed_.end()) return own->second.measured.loss_scale;
    const auto kept = reader_ ? reader_->nearest(sample_->step) : std::nullopt;
    const bool same = kept && reader_->samples()[*kept].step == sample_->step;
    return same ? reader_->samples()[*kept].loss_scale : counted();
}

bool MicroscopeModel::isScaleNow() const {
    return !scaled() || scale() == track_->figures().scale_now;
}

/// The scale of a training run changes while the sample stays.
void MicroscopeModel::refreshScale() {
    if (isScaleNow() != scaleIsNow_) emit contentChanged();
}

void MicroscopeModel::drag(double scale) {
    dragged_ = std::clamp(scale, 0x1p-24, 0x1p40);
    if (scale <= 0) dragged_ = 0;
    emit scaleDragged();
}

/// Reads the layer's samples that are not read yet: one slice now and the rest in later turns of
/// the event loop, so that changing the layer stays smooth for a run of any length.
void MicroscopeModel::growDrift() {
    const auto* layer = selectedLayer();
    if (!reader_ || layer == nullptr) return;
    if (layer->layer != driftLayer_ || reader_->samples().size() < driftSamples_) {
        drift_ = {};
        driftSamples_ = 0;
        driftLayer_ = layer->layer;
    }
    const auto samples = reader_->samples();
    const std::size_t first = driftSamples_;
    const std::size_t count = std::min(samples.size() - first, driftSlice);
    if (count == 0) return;
    try {
        const auto values = reader_->read(driftLayer_, kind_, first, count);
        for (std::size_t i = 0; i < count; ++i) {
            if (samples[first + i].shadow) continue;
            drift_.steps.push_back(samples[first + i].step);
            drift_.scales.push_back(
                kind_ == HistogramKind::gradients ? samples[first + i].loss_scale : 1);
            drift_.values.push_back(values[i]);
        }
        driftSamples_ = first + count;
        if (driftSamples_ < samples.size()) driftTimer_.start();
    } catch (const engine::Error& error) {
        problem_ = Failure(error);
    }
}

const Drift& MicroscopeModel::drift() {
    // One slice a turn, however often a turn asks; a layer that was just selected has none yet.
    if (!driftTimer_.isActive() || driftSamples_ == 0) growDrift();
    return drift_;
}

}  // namespace ui
