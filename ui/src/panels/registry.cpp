#include "panels/registry.h"

namespace ui {

using namespace Qt::StringLiterals;

#define HALFTONE_PANELS(PANEL)                                                                \
    /* name, place, height in the right column, function that the panel's own file defines */ \
    PANEL("settings", Place::left, 0, makeSettingsPanel)                                      \
    PANEL("loss", Place::plots, 0, makeLossPlot)                                              \
    PANEL("accuracy", Place::plots, 0, makeMetricPlot)                                        \
    PANEL("scale", Place::plots, 0, makeLossScalePlot)                                        \
    PANEL("fourth", Place::plots, 0, makeDiagnosticsPlot)                                          \
    PANEL("hardware", Place::hiddenPlot, 0, makeHardwarePlot)                                 \
    PANEL("step", Place::right, 280, makeStepPanel)                                           \
    PANEL("events", Place::right, 270, makeEventPanel)                                        \
    PANEL("runs", Place::right, 220, makeHistoryPanel)                                        \
    /* end of the list */

#define HALFTONE_DECLARE(name, place, height, make) PanelFactory make;
HALFTONE_PANELS(HALFTONE_DECLARE)

std::vector<PanelEntry> panelEntries() {
#define HALFTONE_ENTRY(name, place, height, make) {u"" name##_s, place, height, make},
    return {HALFTONE_PANELS(HALFTONE_ENTRY)};
}

PanelSet makePanels(const std::vector<PanelEntry>& entries, const Context& context,
                    QWidget* parent) {
    PanelSet set;
    for (const auto& entry : entries) {
        const bool plot = entry.place == Place::plots, hidden = entry.place == Place::hiddenPlot;
        auto& column = entry.place == Place::left ? set.left : plot || hidden ? set.plots : set.right;
        const auto at = plot ? column.end() - static_cast<std::ptrdiff_t>(set.hiddenPlots) : column.end();
        column.insert(at, entry.make(context, entry.name, parent));
        if (hidden) ++set.hiddenPlots;
        if (entry.place == Place::right) set.rightHeights.push_back(entry.height);
    }
    return set;
}

std::vector<Panel*> PanelSet::all() const {
    std::vector<Panel*> panels = left;
    panels.insert(panels.end(), plots.begin(), plots.end());
    panels.insert(panels.end(), right.begin(), right.end());
    return panels;
}

}  // namespace ui
