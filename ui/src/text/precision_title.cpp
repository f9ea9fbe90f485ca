#include "text/precision_title.h"

#include <QCoreApplication>

#include "engine/record/event.h"
#include "engine/settings/catalog.h"
#include "text/language.h"

namespace ui {
namespace {

struct RunTitle {
    Q_DECLARE_TR_FUNCTIONS(RunTitle)
public:
    static QString withScaling(const engine::PrecisionConfig& precision);
};

QString RunTitle::withScaling(const engine::PrecisionConfig& precision) {
    const QString title = precisionTitle(precision.preset);
    if (!precision.scaler) return title;
    const engine::ScalerMode scaler = *precision.scaler;
    if (scaler == engine::resolve({.preset = precision.preset}).scaler) return title;
    if (scaler == engine::ScalerMode::off) return tr("%1, no scaling").arg(title);
    if (scaler == engine::ScalerMode::constant) return tr("%1, static scale").arg(title);
    return tr("%1, dynamic scale").arg(title);
}

}  // namespace

QString programName(const engine::RunOrigin& origin) {
    return QString::fromStdString(origin.program).section(u' ', 0, 0);
}

QString precisionTitle(const std::string& preset) {
    return engineText(engine::title_of(engine::precisions(), preset));
}

QString precisionTitle(const engine::PrecisionConfig& precision) {
    return RunTitle::withScaling(precision);
}

QString modelTitle(const engine::ModelConfig& model) {
    const auto kind = engine::find_model(model);
    const bool named = kind != nullptr && kind->from_text && !model.path.empty();
    return named ? QString::fromStdString(engine::model_name(model))
                 : engineText(engine::title_of(engine::models(), model.kind));
}

QString taskTitle(const engine::RunConfig& config) {
    return engineText(engine::title_of(engine::datasets(), config.dataset.kind)) + u" · "_s +
           modelTitle(config.model);
}

}  // namespace ui
