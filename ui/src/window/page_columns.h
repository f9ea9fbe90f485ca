#pragma once

#include <QMainWindow>

#include "pages/registry.h"
#include "panels/registry.h"
#include "view/context.h"

class QToolButton;

namespace ui {

class DockLayout;
class PageStack;
class SettingsRail;

/// The columns beside each page, and whether the settings in the left one are a rail. Shows or
/// hides them when the page changes, on a click on the rail or the tool in the head of the
/// settings, and from the menu.
class PageColumns final : public QObject {
    Q_OBJECT
public:
    PageColumns(const Context& context, const PanelSet& panels, PageStack* pages,
                SettingsRail* rail, DockLayout* docks, QMainWindow* window);

    /// The window is too narrow for three columns.
    bool narrow() const;
    /// Shows the columns of the page that is shown.
    void show();
    /// Forgets where the user made the settings a rail.
    void reset();
    /// Opens the settings and focuses the first one that is tuned.
    void focusSettings();

private:
    QToolButton* makeClose();
    bool isRailed(const PageEntry& page) const;
    void hideFor(const PageEntry& page);
    void showFor(const PageEntry& page, bool railed);
    /// The user opens the settings, or makes them a rail.
    void setRailed(bool railed);

    Context context_;
    PanelSet panels_;
    PageStack* pages_;
    SettingsRail* rail_;
    DockLayout* docks_;
    QMainWindow* window_;
};

}  // namespace ui
