#pragma once

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QPointer>
#include <deque>
#include <functional>
#include <string>

#include "panels/registry.h"
#include "view/context.h"

class QAction;
class QMainWindow;
class QMenu;

namespace ui {

class HelpWindow;

/// The menu bar: fills it and keeps its actions up to date. Owned by the window.
class MainMenu final : public QObject {
    Q_OBJECT
public:
    MainMenu(const Context& context, const PanelSet& panels, QMainWindow* window);
    ~MainMenu() override;

    /// The help window while it is open; else null.
    HelpWindow* help() const;
    void showHelpWindow(const QString& topic);

signals:
    void resetLayout();

private:
    /// An item of a menu whose keys the user can change.
    QAction* addCommand(QMenu* menu, const QString& text, const QString& id,
                        const QList<QKeySequence>& keys, const std::function<void()>& act);
    void addFile();
    void addEdit();
    void addRun();
    void addView();
    void addHelp();
    void addTheme(QMenu* view);
    void addLanguage(QMenu* view);
    void refreshRun();
    void refreshEdit();
    void openSettings();
    void openFile(const QString& file);
    void saveSettings();
    void watchRunFolder();
    void exportRuns();
    void copyCommandLine();
    /// Makes a draft of a lesson from the selected run and step, and opens it.
    void draftLesson();
    void reportProblem();
    /// Path of the setting that has the focus; empty if none has.
    QString focusedSetting() const;

    Context context_;
    PanelSet panels_;
    QMainWindow* window_;
    QAction* undo_ = nullptr;
    QAction* redo_ = nullptr;
    QAction* compare_ = nullptr;
    QAction* start_ = nullptr;
    QAction* pause_ = nullptr;
    QAction* step_ = nullptr;
    QAction* stop_ = nullptr;
    QAction* evaluate_ = nullptr;
    QAction* checkpoint_ = nullptr;
    QAction* findRate_ = nullptr;
    QAction* draft_ = nullptr;
    QAction* copyLine_ = nullptr;
    QAction* demonstrate_ = nullptr;
    QPointer<HelpWindow> help_;
    std::deque<std::string> problems_;  ///< that the window has shown, oldest first
};

}  // namespace ui
