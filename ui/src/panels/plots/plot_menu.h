#pragma once

#include <QString>

class QMenu;
class QWidget;

namespace ui {

class PlotOptions;

/// A submenu that chooses what the x axis of all plots counts.
void addXAxisMenu(QMenu* menu, PlotOptions* options);
/// A slider for the smoothing of all plots: raw at its left end.
void addSmoothingSlider(QMenu* menu, PlotOptions* options);
/// Entries that smooth more (]) and less ([).
void addSmoothingSteps(QMenu* menu, PlotOptions* options);

/// Asks where a picture goes, as PNG, SVG or PDF, and adds the ending of the chosen kind to a name
/// without one. Empty if the user cancels.
QString askForPicture(QWidget* parent, const QString& title);

}  // namespace ui
