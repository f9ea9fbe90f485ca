#pragma once

#include <QMainWindow>
#include <QMap>
#include <QPointer>
#include <functional>
#include <memory>

#include "commands/commands.h"
#include "pages/registry.h"
#include "panels/registry.h"
#include "view/context.h"

namespace ui {

class CommandBar;
class DockLayout;
class FocusRing;
class MainMenu;
class MessageBar;
class PageStack;
class ChangedDataDialog;
class QuitDialog;
class SettingsRail;
class StepChooser;
class TrainingPage;
class WorkStrip;

/// Parts of a window.
struct WindowParts {
    std::vector<PanelEntry> panels = panelEntries();
    /// Asked again in another language: the entries have titles.
    std::function<std::vector<PageEntry>()> pages = pageEntries;
};

/// Joins bars, pages and panels, remembers its place on the screen, and accepts drops. Contains
/// nothing about training.
class MainWindow final : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(const Context& context, const WindowParts& parts = {});
    ~MainWindow() override;

    void saveLayout() const;
    void show(const Problem& problem);

signals:
    /// The user wants the runs kept elsewhere.
    void runsFolderWanted();

protected:
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    /// Tab goes through the window as one reads it, whatever order its widgets were made in.
    bool focusNextPrevChild(bool next) override;

private:
    void fill();
    void fillAnew();
    void empty();
    void showParts();
    /// Sizes of the docks beside the centre, by name.
    QMap<QString, QSize> sideSizes() const;
    void resizeSides(const QMap<QString, QSize>& sizes);
    void resetLayout();
    /// To the window's size.
    void fit();
    void addMargin(Qt::ToolBarArea area);
    void buildCentre(const std::vector<PageEntry>& pages);
    void buildBars();
    QWidget* withPageRow(QWidget* bar);
    void restorePlace();
    bool running() const;
    /// Too narrow for three columns.
    bool narrow() const;
    void joinColumns();
    void showColumns();
    void hidePageColumns(const PageEntry& page);
    void showPageColumns(const PageEntry& page, bool railed);
    /// The user opens the settings, or makes them a rail.
    void setRailed(bool railed);
    void focusSettings();
    void offerToResume(const std::vector<engine::RunSummary>& runs);
    /// Asks whether resumed runs go on with data that have changed.
    void askAboutData(const QString& what, bool asNewRun);
    /// Asks whether to quit while training; closes the window once the runs have stopped.
    void askToQuit();
    /// Asks whether to quit while files are exported or imported, which quitting gives up.
    void askAboutWorks();

    Context context_;
    WindowParts parts_;
    PanelSet panels_;
    MainMenu* menu_;
    QPointer<FocusRing> ring_;  ///< goes with the plot that it surrounds
    CommandBar* bar_;
    StepChooser* chooser_ = nullptr;  ///< null with one page, which has no row
    MessageBar* message_;
    PageStack* pages_;
    SettingsRail* rail_;
    TrainingPage* training_;
    WorkStrip* works_;
    bool givesUpWorks_ = false;
    std::function<void()> sayAgain_;  ///< shows the last message in the language of now
    bool empties_ = false;  ///< its widgets are being deleted: there is nothing to walk through
    std::unique_ptr<DockLayout> docks_;  ///< goes first: the base class hides the panels as it goes
    QPointer<QuitDialog> quit_;
    QPointer<ChangedDataDialog> changedData_;
};

}  // namespace ui
