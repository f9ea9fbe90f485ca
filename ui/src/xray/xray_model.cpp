#include "xray/xray_model.h"

#include <fstream>
#include <sstream>

#include "engine/error.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "plots/plot_link.h"
#include "text/language.h"
#include "text/refusal_text.h"
#include "view/selection.h"

namespace ui {

namespace {

/// The newest trace in the run's folder; nothing if there is none that can be read.
std::optional<engine::Xray> keptTrace(const std::filesystem::path& folder, std::int64_t step) {
    std::error_code error;
    const auto file = engine::xray_file(folder, step);
    if (!std::filesystem::exists(file, error)) return std::nullopt;
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    try {
        return engine::xray_from_json(text.str());
    } catch (const engine::Error&) {
        return std::nullopt;  // it is computed anew when it is asked for
    }
}

QString sentence(const engine::Error& error) {
    const QString said = engineText(error.message());
    const QString hint = engineText(error.hint());
    return hint.isEmpty() ? said : joined({said, hint});
}

}  // namespace

XrayModel::XrayModel(const Context& context, QObject* parent) : QObject(parent), context_(context) {
    connect(context_.feed, &EventFeed::tracksChanged, this, &XrayModel::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &XrayModel::refresh);
    connect(context_.link, &PlotLink::selectedChanged, this, &XrayModel::refresh);
    refresh();
}

std::int64_t XrayModel::wantedStep() const {
    const std::int64_t selected = context_.link->selected();
    return selected > 0 ? selected : track_ ? std::max<std::int64_t>(1, track_->rows()) : 1;
}

void XrayModel::refresh() {
    const auto track = selectedTrack(context_);
    const std::filesystem::path folder =
        track && track->started() ? track->started()->folder : std::string();
    if (track == track_ && folder == folder_) return;
    track_ = track;
    folder_ = folder;
    trace_.reset();
    experiment_.reset();
    problem_.clear();
    if (!folder_.empty()) trace_ = keptTrace(folder_, wantedStep());
    emit traceChanged();
    emit experimentChanged();
}

template <typename Result>
void XrayModel::compute(std::function<Result()> work, std::function<void(Result)> take) {
    if (busy_) return;
    busy_ = true;
    problem_.clear();
    emit stateChanged();
    struct Outcome {
        std::optional<Result> result;
        QString problem;
    };
    auto outcome = std::make_shared<Outcome>();
    context_.feed->compute(
        this,
        [outcome, work = std::move(work)] {
            try {
                outcome->result = work();
            } catch (const engine::Error& error) {
                outcome->problem = sentence(error);
            } catch (const std::exception& error) {
                outcome->problem = QString::fromUtf8(error.what());
            }
        },
        [this, outcome, take = std::move(take)] {
            busy_ = false;
            problem_ = outcome->problem;
            if (outcome->result) take(std::move(*outcome->result));
            emit stateChanged();
        });
}

void XrayModel::traceStep() {
    const std::filesystem::path folder = folder_;
    const std::int64_t step = wantedStep();
    const engine::RunConfig config = context_.settings->config();
    compute<engine::Xray>(
        [folder, step, config] {
            if (folder.empty()) return engine::xray_first_step(config);
            engine::Xray trace = engine::xray_step(folder, step);
            engine::save_xray(folder, trace);
            return trace;
        },
        [this, folder](engine::Xray trace) {
            if (folder != folder_) return;  // another run was selected meanwhile
            trace_ = std::move(trace);
            experiment_.reset();
            emit traceChanged();
            emit experimentChanged();
        });
}

void XrayModel::tryForced(const std::string& key, engine::ForcedType type) {
    if (!trace_) return;
    const std::filesystem::path folder = folder_;
    const std::int64_t step = trace_->step;
    const engine::RunConfig config = context_.settings->config();
    const engine::ForcedTypes forced{{key, type}};
    compute<engine::XrayExperiment>(
        [folder, step, config, forced] {
            return folder.empty() ? engine::try_forced(config, forced)
                                  : engine::try_forced(folder, step, forced);
        },
        [this](engine::XrayExperiment experiment) {
            experiment_ = std::move(experiment);
            emit experimentChanged();
        });
}

void XrayModel::keep() {
    if (!experiment_) return;
    engine::RunConfig config = track_ ? track_->config() : context_.settings->config();
    for (const auto& [key, type] : experiment_->forced) config.precision.force[key] = type;
    context_.settings->load(config);
}

void XrayModel::forgetExperiment() {
    experiment_.reset();
    emit experimentChanged();
}

}  // namespace ui
