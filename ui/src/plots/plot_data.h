#pragma once

#include <QString>

namespace ui {

class LinePlot;

/// The curves in view as tab-separated lines under a header, a line for each step; of very many
/// steps the means of several, which the header says. Empty without curves.
QString visibleData(const LinePlot& plot);

}  // namespace ui
