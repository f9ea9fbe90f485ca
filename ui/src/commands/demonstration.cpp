#include "commands/demonstration.h"

#include <QFile>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"

namespace ui {

using namespace Qt::StringLiterals;

std::vector<engine::RunConfig> lossScalingRuns() {
    QFile file(u":/demonstrations/loss_scaling.json"_s);
    static_cast<void>(file.open(QIODevice::ReadOnly));  // compiled in, so always there
    const auto parsed = engine::parse_run_config(file.readAll().toStdString());
    if (!parsed.errors.empty()) {
        const auto& first = parsed.errors.front();
        throw engine::Error(engine::ErrorCode::settings,
                            engine::msg("{}: {} = {} is not valid.", file.fileName().toStdString(),
                                        first.field, first.value),
                            first.allowed);
    }
    std::vector<engine::RunConfig> runs(3, parsed.config);
    const std::vector<std::string> presets = engine::default_precisions();
    runs[0].precision.preset = presets[0];
    runs[1].precision.preset = runs[2].precision.preset = presets[1];
    runs[2].precision.scaler = engine::ScalerMode::off;
    return runs;
}

bool isLossScalingDemonstration(const TrackList& tracks) {
    static const auto settings = lossScalingRuns();
    auto runs = settings;
    if (tracks.size() < runs.size()) return false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const engine::RunConfig& shown = tracks[i]->config();
        runs[i].seed = shown.seed;
        runs[i].device = shown.device;
        if (!(runs[i] == shown)) return false;
    }
    return true;
}

}  // namespace ui
