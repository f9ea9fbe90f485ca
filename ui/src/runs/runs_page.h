#pragma once

#include <QWidget>
#include <functional>
#include <vector>

#include "engine/runs/run_store.h"
#include "view/context.h"

class QLabel;
class QPushButton;

namespace ui {

class CheckBox;
class DeleteQuestion;
class FilterField;
class RunDetails;
class RunTable;

/// The history as a page: a table with a filter, what can be done with the selected runs, and their
/// notes and differences beside it.
class RunsPage final : public QWidget {
    Q_OBJECT
public:
    explicit RunsPage(const Context& context, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QLayout* makeHead();
    QLayout* makeActions();
    void join();
    void addShortcuts();
    void refresh();
    void applyFilter();
    void showCounts();
    void chosenChanged();
    void openMenu(const QPoint& global);
    /// Lays the selected runs over one another on the page with the plots.
    void showOnPlots();
    void resume();
    void repeat();
    void exportChosen();
    void report();
    engine::RunSummary single() const;

    /// A button and the line of the menu that does the same.
    struct Action {
        QPushButton* button;
        QString text;
        /// Why it cannot be done with these runs; empty if it can.
        std::function<QString(const std::vector<engine::RunSummary>&)> why;
        std::function<void()> act;
    };
    void addAction(QLayout* row, const QString& name, const QString& text, const QString& tip,
                   decltype(Action::why) why, std::function<void()> act);

    Context context_;
    FilterField* filter_;
    QLabel* problem_;
    QLabel* counts_;
    CheckBox* grouped_;
    DeleteQuestion* question_;
    RunTable* table_;
    RunDetails* details_;
    QTimer* later_;  ///< typing is not answered at each letter
    std::vector<Action> actions_;
};

}  // namespace ui
