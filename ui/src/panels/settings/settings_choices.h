#pragma once

#include <QString>
#include <vector>

#include "models/settings_checks.h"
#include "panels/settings/settings_field.h"

namespace ui {

struct Tokens;

/// Lists of the settings panel for the data, the device and the findings of the moment.

/// Each precision, with the reason if the device cannot run it.
std::vector<Choice> presetChoices(const SettingsModel& settings);
/// The processor, and each of these GPUs by its number.
std::vector<Choice> deviceChoices(const std::vector<DeviceCheck::Device>& devices);
/// The models that take this data set.
std::vector<Choice> modelChoices(const QString& dataset);
/// "Last column", then the columns of the table once it has been read.
std::vector<Choice> targetChoices(const SettingsModel& settings);
/// A line with a link to each invalid field, whose reason is shown below the field; then the
/// settings of a file that have no effect. HTML, empty if there is nothing to say.
QString findingsText(const SettingsModel& settings, const Tokens& tokens);

}  // namespace ui
