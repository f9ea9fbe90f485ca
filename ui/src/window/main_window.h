#pragma once

#include <QMainWindow>
#include <QPointer>

#include "commands/commands.h"
#include "panels/registry.h"
#include "view/context.h"

namespace ui {

class CommandBar;
class MessageBar;
class Panel;
class QuitDialog;
class RunCards;
class VerdictBar;

/// Places the panels, remembers where the user put them, takes drops. Knows nothing about training.
class MainWindow final : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(const Context& context, QWidget* parent = nullptr);
    ~MainWindow() override;

    void saveLayout() const;
    void show(const Problem& problem);

signals:
    /// The user wants the runs kept elsewhere.
    void runsFolderWanted();

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    /// Tab goes through the window as one reads it, whatever order its widgets were made in.
    bool focusNextPrevChild(bool next) override;

private:
    void addMargin(Qt::ToolBarArea area);
    void buildCentre();
    void placeSides();
    void placePlots();
    void resetLayout();
    void restoreLayout();
    void restorePlace();
    void unfold();
    void restorePlots(const QByteArray& state);
    void remember();
    /// The right column as tabs under the plots, or back at its side.
    void fold(bool folded);
    void expand(Panel* panel);
    void collapse();
    bool running() const;
    /// Asks whether to quit while training; closes the window once the runs have stopped.
    void askToQuit();

    Context context_;
    PanelSet panels_;
    CommandBar* bar_;
    MessageBar* message_;
    RunCards* cards_;
    VerdictBar* verdict_;
    QMainWindow* plots_;  ///< the docks of the plots, inside the centre
    QByteArray spread_;   ///< the plots' layout while one of them fills the centre
    QByteArray wide_;  ///< the docks' layout as the user left it, with the right column at its side
    QByteArray widePlots_;  ///< and the plots' inside the centre
    QByteArray narrowPlots_;
    QByteArray narrow_;     ///< and as it was when that was last folded
    bool placing_ = false;  ///< this class moves docks, not the user
    bool expanded_ = false;
    bool folded_ = false;
    QPointer<QuitDialog> quit_;
};

}  // namespace ui
