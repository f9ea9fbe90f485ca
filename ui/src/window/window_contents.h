#pragma once

#include <QCoreApplication>
#include <QMainWindow>
#include <QMap>
#include <QPointer>
#include <memory>
#include <vector>

#include "pages/registry.h"
#include "panels/registry.h"
#include "view/context.h"
#include "window/dock_layout.h"
#include "window/page_columns.h"

namespace ui {

class CommandBar;
class FocusRing;
class MainMenu;
class MessageBar;
class SettingsRail;
class StepChooser;
class TrainingPage;
class WorkStrip;

/// All widgets in a window, made in the language of the moment. They belong to the window, and go
/// with it.
class WindowContents {
    Q_DECLARE_TR_FUNCTIONS(WindowContents)
public:
    WindowContents(const Context& context, const std::vector<PanelEntry>& panels,
                   const std::vector<PageEntry>& pages, QMainWindow* window);
    ~WindowContents();
    /// Puts docks and page where they were at the last start.
    void restore();
    /// Deletes the widgets at once, so that others can be made. They are not taken out: a page that
    /// is only hidden gives up what it computes.
    void empty();

    const PanelSet& panels() const { return panels_; }
    MainMenu* menu() const { return menu_; }
    CommandBar* bar() const { return bar_; }
    MessageBar* message() const { return message_; }
    PageStack* pages() const { return pages_; }
    TrainingPage* training() const { return training_; }
    DockLayout* docks() const { return docks_.get(); }
    PageColumns* columns() const { return columns_.get(); }

    /// Adapts them to the window's size.
    void fit();
    /// Sizes of the docks beside the centre, by name.
    QMap<QString, QSize> sideSizes() const;
    void resizeSides(const QMap<QString, QSize>& sizes);
    /// The bars, panels and pages as one reads them.
    QList<QWidget*> inReadingOrder() const;

private:
    void buildCentre(const std::vector<PageEntry>& pages);
    void buildBars();
    QWidget* withPageRow(QWidget* bar);
    void addMargin(Qt::ToolBarArea area);
    void showParts();

    Context context_;
    QMainWindow* window_;
    PanelSet panels_;
    MainMenu* menu_;
    SettingsRail* rail_ = nullptr;
    PageStack* pages_ = nullptr;
    TrainingPage* training_ = nullptr;
    MessageBar* message_ = nullptr;
    CommandBar* bar_ = nullptr;
    StepChooser* chooser_ = nullptr;  ///< null with one page, which has no row
    WorkStrip* works_ = nullptr;
    QPointer<FocusRing> ring_;  ///< goes with the plot that it surrounds
    std::unique_ptr<DockLayout>
        docks_;  ///< goes before the panels: the window hides them as it goes
    std::unique_ptr<PageColumns> columns_;
};

}  // namespace ui
