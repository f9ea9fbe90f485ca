#include "xray/xray_model.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "plots/plot_link.h"
#include "view/view.h"
#include "xray/search_job.h"

namespace ui {

using engine::CapturedStep;
using engine::Xray;

namespace {

namespace fs = std::filesystem;

std::optional<Xray> readTrace(const fs::path& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    try {
        return engine::xray_from_json(text.str());
    } catch (const engine::Error&) {
        return std::nullopt;  // it is computed anew when it is asked for
    }
}

/// The trace of the step in the run's folder, else the newest one there.
std::optional<Xray> keptTrace(const fs::path& folder, std::int64_t step) {
    std::error_code error;
    const fs::path wanted = engine::xray_file(folder, step);
    if (fs::exists(wanted, error)) return readTrace(wanted);
    std::int64_t newest = 0;
    for (const auto& entry : fs::directory_iterator(wanted.parent_path(), error)) {
        const std::string name = entry.path().stem().string();
        std::int64_t number = 0;
        std::from_chars(name.data(), name.data() + name.size(), number);
        newest = std::max(newest, number);
    }
    if (newest == 0) return std::nullopt;
    return readTrace(engine::xray_file(folder, newest));
}

/// A trace that cannot be stored is shown all the same.
void keepTrace(const fs::path& folder, const Xray& trace) {
    if (folder.empty()) return;
    try {
        engine::save_xray(folder, trace);
    } catch (const engine::Error&) {
    }
}

}  // namespace

XrayModel::XrayModel(const Context& context, QObject* parent)
    : QObject(parent), context_(context), jobs_(new StepJobs(context.feed, this)) {
    connect(context_.feed, &EventFeed::tracksChanged, this, &XrayModel::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &XrayModel::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &XrayModel::stateChanged);
    connect(context_.link, &PlotLink::selectedChanged, this, &XrayModel::refresh);
    connect(context_.link, &PlotLink::selectedChanged, this, &XrayModel::stateChanged);
    connect(jobs_, &StepJobs::stateChanged, this, &XrayModel::stateChanged);
    connect(jobs_, &StepJobs::stateChanged, this, [this] {
        if (!busy() && std::exchange(changed_, false)) emit runReady();
    });
    refresh();
}

const std::optional<Xray>& XrayModel::trace() const {
    return view_ == XrayView::other ? other_ : own_;
}

std::string XrayModel::ownPrecision() const {
    if (own_) return own_->precision;
    return track_ ? track_->precision() : context_.settings->config().precision.preset;
}

std::string XrayModel::otherPrecision() const {
    const std::vector<std::string> presets = engine::default_precisions();
    return ownPrecision() == presets[0] ? presets[1] : presets[0];
}

bool XrayModel::tracesNext() const {
    return context_.link->selected() == 0 && track_ &&
           context_.feed->experiment().hasNextStep(track_.get());
}

StepSource XrayModel::wanted() const {
    StepSource source{track_, 0, context_.settings->config()};
    if (folder_.empty() && !tracesNext()) {
        source.track.reset();  // a run that failed before its first step
        return source;
    }
    if (tracesNext()) return source;
    const std::int64_t selected = context_.link->selected();
    source.step = selected > 0 ? selected : std::max<std::int64_t>(1, track_->rows());
    return source;
}

StepSource XrayModel::source() const {
    StepSource source = wanted();
    if (own_ && source.track) source.step = own_->step;
    return source;
}

void XrayModel::refresh() {
    const auto track = selectedTrack(context_);
    const fs::path folder = track && track->started() ? track->started()->folder : std::string();
    if (track == track_ && folder == folder_) return;
    const bool same = track == track_ && folder_.empty();  // the run has only got its folder
    track_ = track;
    folder_ = folder;
    if (same && own_) return;
    changed_ = busy();
    jobs_->abandon();
    clear();
    if (!folder_.empty()) own_ = keptTrace(folder_, wanted().step);
    emit traceChanged();
    emit experimentChanged();
    emit viewChanged();
    emit stateChanged();
    if (!changed_) emit runReady();
}

void XrayModel::clear() {
    captured_.reset();
    own_.reset();
    other_.reset();
    experiment_.reset();
    before_.reset();
    kept_ = false;
    view_ = XrayView::own;
}

void XrayModel::traceStep() {
    const std::shared_ptr<RunTrack> track = track_;
    jobs_->run<Xray>(
        wanted(), std::nullopt, [](const CapturedStep& step) { return engine::xray_step(step); },
        [this, track](Xray trace, const CapturedStep& step) {
            if (track != track_) return;  // another run was selected meanwhile
            const XrayView view = view_;
            clear();
            captured_ = step;
            own_ = std::move(trace);
            keepTrace(folder_, *own_);
            emit traceChanged();
            emit experimentChanged();
            emit viewChanged();
            setView(view);
        });
}

void XrayModel::traceIfShort() {
    constexpr double most = 1000;         // ms of a step
    constexpr double maxIdle = 30'000;    // ms in all, with progress and cancel
    constexpr double maxWaiting = 6'000;  // ms in all where a run waits for it: no replay
    constexpr double computations = 6;    // of the step: to warm up, three untraced, the trace
    if (own_ || busy() || !problem().isEmpty() || !track_ || track_->rows() == 0) return;
    const StepSource source = wanted();
    std::int64_t before = 0;
    if (source.step > 0) {
        try {
            before = engine::steps_to_replay(folder_, source.step);
        } catch (const std::exception&) {
            return;  // the button says why
        }
    }
    const double each = track_->latest().step_ms;
    const double all = each * (static_cast<double>(before) + computations);
    const bool trains = context_.feed->experiment().isTraining();
    if (each > 0 && each < most && all < (trains ? maxWaiting : maxIdle)) traceStep();
}

void XrayModel::setView(XrayView view) {
    if (view == view_) return;
    if (view != XrayView::own && own_ && !other_) {
        if (busy()) return;
        view_ = view;
        emit viewChanged();
        return traceOther();
    }
    view_ = view;
    emit viewChanged();
    emit traceChanged();
}

void XrayModel::traceOther() {
    const std::shared_ptr<RunTrack> track = track_;
    const engine::PrecisionConfig precision{.preset = otherPrecision()};
    jobs_->run<Xray>(
        source(), captured_,
        [precision](const CapturedStep& step) { return engine::xray_step(step, precision); },
        [this, track](Xray trace, const CapturedStep& step) {
            if (track != track_ || !own_ || own_->step != step.step()) return;
            captured_ = step;
            other_ = std::move(trace);
            emit traceChanged();
        });
    emit traceChanged();  // nothing until it is there
}

void XrayModel::tryForced(const std::string& key, engine::ForcedType type) {
    if (!own_) return;
    const std::shared_ptr<RunTrack> track = track_;
    const engine::ForcedTypes forced{{key, type}};
    jobs_->run<engine::XrayExperiment>(
        source(), captured_,
        [forced](const CapturedStep& step) { return engine::try_forced(step, forced); },
        [this, track](engine::XrayExperiment experiment, const CapturedStep& step) {
            if (track != track_ || !own_ || own_->step != step.step()) return;
            captured_ = step;
            experiment_ = std::move(experiment);
            before_.reset();
            kept_ = false;
            emit experimentChanged();
        });
}

const engine::RunConfig& XrayModel::runConfig() const {
    return track_ ? track_->config() : context_.settings->config();
}

void XrayModel::keep() {
    if (!experiment_) return;
    engine::RunConfig config = runConfig();
    for (const auto& [key, type] : experiment_->forced) config.precision.force[key] = type;
    before_ = context_.settings->config();
    context_.settings->load(config);
    kept_ = true;
    emit experimentChanged();
}

void XrayModel::keep(const engine::FoundPrecision& found, engine::RunConfig config) {
    config.precision = {};
    config.precision.force = found.force;
    context_.settings->load(config);
}

void XrayModel::forgetExperiment() {
    if (kept_ && before_) context_.settings->load(*before_);
    before_.reset();
    kept_ = false;
    experiment_.reset();
    emit experimentChanged();
}

SearchJob* XrayModel::search() {
    if (search_ == nullptr) search_ = new SearchJob(context_.feed, this);
    return search_;
}

void XrayModel::endSearch() {
    if (search_ != nullptr) std::exchange(search_, nullptr)->deleteLater();
}

}  // namespace ui
