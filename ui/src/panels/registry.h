#pragma once

#include <QList>
#include <QString>
#include <vector>

#include "view/context.h"
#include "widgets/panel.h"

namespace ui {

/// Where a panel stands until the user moves it: beside the plots, or among them.
enum class Place { left, plots, right };

/// Makes a panel and what is in it. `name` is the panel's object name.
using PanelFactory = Panel*(const Context& context, const QString& name, QWidget* parent);

/// A panel of the window.
struct PanelEntry {
    QString name;  ///< identifies it in the remembered layout: it never changes
    Place place = Place::plots;
    int height = 0;  ///< pixels in a column of a window of the usual size; the column shares alike
    PanelFactory* make = nullptr;
};
/// Those of every window, of each place in reading order. A new one is one line in registry.cpp.
std::vector<PanelEntry> panelEntries();

/// The window's panels, made and furnished; the window places them.
struct PanelSet {
    std::vector<Panel*> left;   ///< from the top
    std::vector<Panel*> plots;  ///< in reading order
    std::vector<Panel*> right;  ///< from the top
    QList<int> rightHeights;    ///< of each of these

    std::vector<Panel*> all() const;
    /// What is in the panels, as far as it is of this kind.
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
