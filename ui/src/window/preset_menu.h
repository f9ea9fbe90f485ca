#pragma once

#include <QMenu>

#include "view/context.h"

namespace ui {

/// The settings that the user has named: loads them, saves the present ones under a name, deletes
/// them. The names are the files in engine::settings_presets_folder(). GUI thread.
class PresetMenu final : public QMenu {
    Q_OBJECT
public:
    explicit PresetMenu(const Context& context, QWidget* parent = nullptr);

    /// Saves the settings under this name, in place of others of that name.
    void save(const QString& name);

private:
    void fill();
    void askForName();
    void remove(const QString& name);

    Context context_;
};

}  // namespace ui
