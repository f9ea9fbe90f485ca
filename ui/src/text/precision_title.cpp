#include "text/precision_title.h"

#include <QCoreApplication>

#include "engine/settings/catalog.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct RunTitle {
    Q_DECLARE_TR_FUNCTIONS(RunTitle)
public:
    static QString withScaling(const engine::PrecisionConfig& precision);
};

QString RunTitle::withScaling(const engine::PrecisionConfig& precision) {
    const QString title = precisionTitle(precision.preset);
    if (!precision.scaler) return title;
    engine::PrecisionConfig preset;
    preset.preset = precision.preset;
    const engine::ScalerMode scaler = *precision.scaler;
    if (scaler == engine::resolve(preset).scaler) return title;
    if (scaler == engine::ScalerMode::off) return tr("%1, no scaling").arg(title);
    if (scaler == engine::ScalerMode::constant) return tr("%1, static scale").arg(title);
    return tr("%1, dynamic scale").arg(title);
}

}  // namespace

QString programName(const engine::RunOrigin& origin) {
    return QString::fromStdString(origin.program).section(u' ', 0, 0);
}

QString precisionTitle(const std::string& preset) {
    for (const auto& info : engine::precisions()) {
        if (info.preset == preset) return engineText(info.title);
    }
    return QString::fromStdString(preset);
}

QString precisionTitle(const engine::PrecisionConfig& precision) {
    return RunTitle::withScaling(precision);
}

QString taskTitle(const engine::RunConfig& config) {
    const auto* data = engine::find_dataset(config.dataset.kind);
    QString model = QString::fromStdString(config.model.kind);
    for (const auto& info : engine::models()) {
        if (info.kind == config.model.kind) model = engineText(info.title);
    }
    return (data != nullptr ? engineText(data->title)
                            : QString::fromStdString(config.dataset.kind)) +
           u" · "_s + model;
}

}  // namespace ui
