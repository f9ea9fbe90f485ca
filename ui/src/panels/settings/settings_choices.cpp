#include "panels/settings/settings_choices.h"

#include <QCoreApplication>

#include "engine/settings/catalog.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct SettingsChoices {
    Q_DECLARE_TR_FUNCTIONS(SettingsChoices)
};

}  // namespace

std::vector<Choice> presetChoices(const SettingsModel& settings) {
    std::vector<Choice> presets = catalogChoices(u"precision.preset"_s);
    for (Choice& preset : presets) preset.why = settings.lacking(preset.value);
    return presets;
}

std::vector<Choice> deviceChoices(const std::vector<DeviceCheck::Device>& devices) {
    std::vector<Choice> choices = catalogChoices(u"device"_s);
    choices.pop_back();  // "cuda": each GPU is listed by its number
    for (const auto& device : devices)
        choices.push_back({device.value, device.value.toUpper(), device.name});
    return choices;
}

std::vector<Choice> modelChoices(const QString& dataset) {
    const auto* chosen = engine::find_dataset(dataset.toStdString());
    std::vector<Choice> models;
    for (Choice& choice : catalogChoices(u"model.kind"_s)) {
        const auto* model = engine::find_kind(engine::models(), choice.value.toStdString());
        if (chosen != nullptr && model->takes(*chosen)) models.push_back(choice);
    }
    return models;
}

std::vector<Choice> targetChoices(const SettingsModel& settings) {
    std::vector<Choice> out{{{}, SettingsChoices::tr("Last column"), {}}};
    const auto* read = settings.data();
    if (read == nullptr) return out;
    for (const auto& column : read->columns) {
        const QString name = QString::fromStdString(column.name);
        out.push_back({name, name, {}});
    }
    return out;
}

}  // namespace ui
