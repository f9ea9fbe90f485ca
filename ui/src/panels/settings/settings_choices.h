#pragma once

#include <QString>
#include <vector>

#include "models/settings_checks.h"
#include "panels/settings/settings_field.h"

namespace ui {

/// Lists of the settings panel for the data and the device of the moment.

/// Each precision, with the reason if the device cannot run it.
std::vector<Choice> presetChoices(const SettingsModel& settings);
/// The processor, and each of these GPUs by its number.
std::vector<Choice> deviceChoices(const std::vector<DeviceCheck::Device>& devices);
/// The models that take this data set.
std::vector<Choice> modelChoices(const QString& dataset);
/// For targetPath: "Last column", then the columns of the table once it has been read.
std::vector<Choice> targetChoices(const SettingsModel& settings);
inline const QString targetPath = QStringLiteral("dataset.target");

}  // namespace ui
