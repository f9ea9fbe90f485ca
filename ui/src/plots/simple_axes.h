#pragma once

class QCustomPlot;

namespace ui {

struct Tokens;

/// Background, axes and grid of a plain plot in the colours of the theme.
void styleAxes(QCustomPlot* plot, const Tokens& tokens);

}  // namespace ui
