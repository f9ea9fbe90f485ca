// Choices that the settings panel lists for the data, the device and the findings of the moment.
#include "engine/settings/catalog.h"
#include "panels/settings/lint_list.h"
#include "panels/settings/settings_panel.h"
#include "text/language.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

/// One line with a link to each invalid field; the reasons are shown below the fields. Settings of
/// a file that have no effect follow.
void SettingsPanel::refreshFindings() {
    QStringList links;
    for (const auto& error : context_.settings->errors()) {
        const QString path = QString::fromStdString(error.field);
        const QString name = context_.settings->label(path);
        links << u"<a href='%1'>%2</a>"_s.arg(path.toHtmlEscaped(), name.toHtmlEscaped());
    }
    const QString mark =
        u"<span style='color:%1'>✕</span> "_s.arg(context_.theme->tokens().bad.name());
    QStringList lines;
    if (!links.isEmpty()) lines << mark + tr("Not valid: %1").arg(links.join(u" · "_s));
    for (const auto& note : context_.settings->notes()) lines << engineText(note).toHtmlEscaped();
    findings_->setText(lines.join(u"<br>"_s));
    findingsBox_->setVisible(!lines.isEmpty());
}

void SettingsPanel::refreshPresets() {
    std::vector<Choice> presets = catalogChoices(u"precision.preset"_s);
    QStringList why;
    for (Choice& preset : presets) {
        preset.why = context_.settings->lacking(preset.value);
        why << preset.why;
    }
    if (why == lacking_) return;
    lacking_ = why;
    single_->setChoices(std::move(presets));
}

void SettingsPanel::listDevices(const std::vector<DeviceCheck::Device>& devices) {
    std::vector<Choice> choices = catalogChoices(u"device"_s);
    choices.pop_back();  // "cuda": each GPU is listed by its number
    for (const auto& device : devices)
        choices.push_back({device.value, device.value.toUpper(), device.name});
    device_->setChoices(std::move(choices));
    lint_->setCards(devices.size());
}

/// Models that take the chosen data set.
void SettingsPanel::refreshModels() {
    const SettingsModel& settings = *context_.settings;
    const QString kind = settings.text(u"dataset.kind"_s);
    if (kind == modelsFor_) return;
    modelsFor_ = kind;
    const auto* chosen = engine::find_dataset(kind.toStdString());
    const std::string input = chosen != nullptr ? chosen->input : std::string();
    std::vector<Choice> models;
    for (Choice& choice : catalogChoices(u"model.kind"_s)) {
        for (const auto& info : engine::models()) {
            if (info.kind != choice.value.toStdString()) continue;
            const bool takes =
                std::find(info.inputs.begin(), info.inputs.end(), input) != info.inputs.end();
            if (takes) models.push_back(choice);
        }
    }
    model_->setChoices(models);
    // A model that does not take the new data would only be refused: pick one that does.
    const bool fits = std::any_of(models.begin(), models.end(), [&](const Choice& choice) {
        return choice.value == settings.text(u"model.kind"_s);
    });
    if (!fits && !models.empty()) context_.settings->set(u"model.kind"_s, models.front().value);
}

/// The columns of the table; without one just what is set.
std::vector<Choice> SettingsPanel::targetChoices() const {
    std::vector<Choice> out{{{}, tr("Last column"), {}}};
    const auto* read = context_.settings->data();
    if (read == nullptr) return out;
    for (const auto& column : read->columns) {
        const QString name = QString::fromStdString(column.name);
        out.push_back({name, name, {}});
    }
    return out;
}

/// The fields that name columns of the table offer them.
void SettingsPanel::refreshTargets() {
    const QStringList columns = context_.settings->tableColumns();
    if (columns != columns_) {
        columns_ = columns;
        for (auto* field : columnFields_) field->setColumns(columns);
    }
    if (target_ == nullptr || context_.settings->data() == nullptr) return;
    const QString key = context_.settings->dataKey();
    if (key == targetsFor_) return;
    targetsFor_ = key;
    target_->setChoices(targetChoices());
}

}  // namespace ui
