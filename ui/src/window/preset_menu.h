#pragma once

#include <QMenu>

#include "view/context.h"

namespace engine {
struct SettingsPreset;
}

namespace ui {

/// The settings that the user has named, and examples: loads them, saves the present ones under a
/// name, deletes them. The user's are the files in engine::settings_presets_folder(). GUI thread.
class PresetMenu final : public QMenu {
    Q_OBJECT
public:
    explicit PresetMenu(const Context& context, QWidget* parent = nullptr);

    /// Saves the settings under this name, in place of others of that name.
    void save(const QString& name);

private:
    void fill();
    void addPreset(const engine::SettingsPreset& preset, const QString& objectName);
    void askForName();
    void remove(const QString& name);

    Context context_;
};

}  // namespace ui
