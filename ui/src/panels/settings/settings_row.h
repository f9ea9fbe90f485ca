#pragma once

#include <QLabel>
#include <QWidget>
#include <vector>

#include "panels/settings/settings_field.h"

namespace ui {

/// A label, the fields that it names, and their errors right below. Hidden while its fields have no
/// effect with the chosen optimizer, clipping or data set.
class SettingsRow final : public QWidget {
    Q_OBJECT
public:
    /// `beside`, which may be null, stands right of the first field.
    SettingsRow(SettingsModel* model, QWidget* label, std::vector<SettingsField*> fields,
                QWidget* beside = nullptr, QWidget* parent = nullptr);

private:
    void refresh();

    SettingsModel* model_;
    std::vector<SettingsField*> fields_;
    QLabel* error_;
};

}  // namespace ui
