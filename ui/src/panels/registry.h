#pragma once

#include <vector>

#include "view/context.h"

class QWidget;

namespace ui {

class HistoryPanel;
class Panel;
class PlotPanel;
class SettingsPanel;

/// The window's panels, made and furnished; the window places them. A new panel is one line in
/// registry.cpp.
struct PanelSet {
    Panel* settings = nullptr;
    std::vector<Panel*> plots;  ///< in reading order
    std::vector<Panel*> side;   ///< right column, from the top
    SettingsPanel* settingsBody = nullptr;
    PlotPanel* lossBody = nullptr;
    HistoryPanel* historyBody = nullptr;
};
PanelSet makePanels(const Context& context, QWidget* parent);

}  // namespace ui
