#include "window/preset_menu.h"

#include <QInputDialog>
#include <QMessageBox>

#include "commands/commands.h"
#include "engine/base/error.h"
#include "engine/runs/settings_presets.h"
#include "models/settings_model.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"
#include "text/setting_text.h"

namespace ui {

PresetMenu::PresetMenu(const Context& context, QWidget* parent)
    : QMenu(tr("Presets"), parent), context_(context) {
    setToolTipsVisible(true);
    connect(this, &QMenu::aboutToShow, this, &PresetMenu::fill);
}

void PresetMenu::fill() {
    clear();
    const auto presets = engine::list_settings_presets();
    // Not a section: the style sheet draws its line alone.
    if (!presets.empty()) addAction(tr("Your settings"))->setEnabled(false);
    for (const auto& preset : presets) addPreset(preset, QString::fromStdString(preset.name));
    addAction(tr("Examples"))->setEnabled(false);
    for (const auto& example : engine::list_example_settings())
        addPreset(example, u"example "_s + QString::fromStdString(example.name));
    addSeparator();
    auto* save = addAction(tr("Save the settings as a preset…"));
    save->setEnabled(context_.settings->errors().empty());
    connect(save, &QAction::triggered, this, &PresetMenu::askForName);
    if (presets.empty()) return;
    auto* doomed = addMenu(tr("Delete a preset"));
    for (const auto& preset : presets) {
        const QString name = QString::fromStdString(preset.name);
        connect(doomed->addAction(QString(name).replace(u'&', u"&&"_s)), &QAction::triggered, this,
                [this, name] { remove(name); });
    }
}

void PresetMenu::addPreset(const engine::SettingsPreset& preset, const QString& objectName) {
    auto* action = addAction(QString::fromStdString(preset.name).replace(u'&', u"&&"_s));
    action->setObjectName(objectName);
    const auto& errors = preset.parsed.errors;
    action->setEnabled(errors.empty());
    action->setToolTip(errors.empty() ? QString::fromStdString(preset.file.string())
                                      : settingErrorText(errors.front()));
    connect(action, &QAction::triggered, this, [this, parsed = preset.parsed] {
        context_.settings->load(parsed.config, stringList(parsed.compared), parsed.notes);
    });
}

void PresetMenu::askForName() {
    bool named = false;
    const QString name =
        QInputDialog::getText(parentWidget(), tr("Save the settings as a preset"),
                              tr("Name, as in: halftone train NAME"), QLineEdit::Normal, {}, &named)
            .trimmed();
    if (!named || name.isEmpty()) return;
    if (engine::find_settings_preset(name.toStdString()) &&
        QMessageBox::question(parentWidget(), tr("Save the settings as a preset"),
                              tr("Replace the preset %1?").arg(name)) != QMessageBox::Yes)
        return;
    save(name);
}

void PresetMenu::save(const QString& name) {
    try {
        engine::save_settings_preset(name.toStdString(),
                                     context_.settings->toJson().toStdString());
        context_.commands->report({tr("The settings are saved as %1.").arg(name),
                                   tr("File > Presets loads them; so does: halftone train \"%1\"")
                                       .arg(name),
                                   engine::ErrorCode::settings, true});
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

void PresetMenu::remove(const QString& name) {
    if (QMessageBox::question(parentWidget(), tr("Delete a preset"),
                              tr("Delete the preset %1?").arg(name)) != QMessageBox::Yes)
        return;
    try {
        engine::delete_settings_preset(name.toStdString());
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

}  // namespace ui
