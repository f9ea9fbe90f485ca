#pragma once

#include <QMainWindow>
#include <QPointer>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "pages/registry.h"
#include "panels/registry.h"
#include "view/context.h"

namespace ui {

class ChangedDataDialog;
class QuitDialog;
class WindowContents;

/// Parts of a window.
struct WindowParts {
    std::vector<PanelEntry> panels = panelEntries();
    /// Asked again in another language: the entries have titles.
    std::function<std::vector<PageEntry>()> pages = pageEntries;
};

/// Reacts to what its contents, the commands and the user ask of a window: messages, questions,
/// another language, drops, keys. Remembers its place on the screen. Contains nothing about
/// training.
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
    void restorePlace();
    void offerToResume(const std::vector<engine::RunSummary>& runs);
    /// Asks whether resumed runs go on with data that have changed.
    void askAboutData(const QString& what, bool asNewRun);
    /// Asks whether to quit while training; closes the window once the runs have stopped.
    void askToQuit();
    void stopAndClose(const std::vector<std::string>& goOn);
    /// Asks whether to quit while files are exported or imported, which quitting gives up.
    void askAboutWorks();

    Context context_;
    WindowParts parts_;
    std::unique_ptr<WindowContents> contents_;  ///< null while it is replaced
    bool givesUpWorks_ = false;
    std::function<void()> sayAgain_;  ///< shows the last message in the language of now
    QPointer<QuitDialog> quit_;
    QPointer<ChangedDataDialog> changedData_;
};

}  // namespace ui
