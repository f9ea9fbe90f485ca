#pragma once

#include <QList>
#include <QString>
#include <vector>

#include "view/context.h"
#include "widgets/panel.h"

namespace ui {

/// Default place of a panel: left column, centre (among the plots) or right column. `hiddenPlot`: a
/// plot that shows only once the user has asked for it.
enum class Place { left, plots, hiddenPlot, right };

/// Makes a panel and what is in it. `name` is the panel's object name.
using PanelFactory = Panel*(const Context& context, const QString& name, QWidget* parent);

/// A panel of the window.
struct PanelEntry {
    QString name;  ///< identifies it in the remembered layout: it never changes
    Place place = Place::plots;
    /// Right column only: height in pixels in a window of the default size; scaled to fit.
    int height = 0;
    PanelFactory* make = nullptr;
};
/// Panels of every window, of each place in reading order. A new one is one line in registry.cpp.
std::vector<PanelEntry> panelEntries();

/// The window's panels with their contents; the window places them.
struct PanelSet {
    std::vector<Panel*> left;   ///< from the top
    std::vector<Panel*> plots;  ///< in reading order, hidden ones last
    std::vector<Panel*> right;  ///< from the top
    QList<int> rightHeights;    ///< of each of these
    std::size_t hiddenPlots = 0;  ///< so many of the plots are hidden at first

    std::vector<Panel*> all() const;
    /// Bodies of the panels that are a `Body`.
    template <typename Body>
    std::vector<Body*> bodies() const {
        std::vector<Body*> found;
        for (const auto* panel : all()) {
            if (auto* body = qobject_cast<Body*>(panel->body())) found.push_back(body);
        }
        return found;
    }
};
PanelSet makePanels(const std::vector<PanelEntry>& entries, const Context& context,
                    QWidget* parent);

}  // namespace ui
