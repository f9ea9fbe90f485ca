#pragma once

#include <QString>

class QWidget;

namespace ui {

class SettingsModel;

/// The short page of a field ("scaler.growth_interval"): what it is, its default, how to write it
/// in a settings file and on the command line, and background for newcomers. As HTML.
QString helpPage(const SettingsModel& settings, const QString& path);

/// How FP16, BF16 and FP32 differ, and why the loss is scaled: a paragraph each.
QString formatsIdea();
QString scalingIdea();

/// Opens a page as a card below a widget; a click elsewhere or Esc closes it.
void showHelp(QWidget* below, const QString& html);

}  // namespace ui
