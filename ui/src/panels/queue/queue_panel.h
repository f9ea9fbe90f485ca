#pragma once

#include <QFrame>

#include "view/context.h"

class QLabel;
class QLayout;
class QMenu;
class QPushButton;
class QTableView;

namespace ui {

class QueueModel;

/// The queue: adds the current settings for this machine or a cluster, orders and removes runs, and
/// starts or pauses it.
class QueuePanel final : public QFrame {
    Q_OBJECT
public:
    explicit QueuePanel(const Context& context, QWidget* parent = nullptr);

private:
    QWidget* makeHead();
    /// The choice of who trains what is added.
    QLayout* makeWhere();
    /// Opens the dialog of the job script, or brings the open one to the front.
    void showScript();
    /// The choice of what happens at the queue's end.
    QLayout* makeEnd();
    void makeTable();
    void addSettings();
    void addComparison();
    void refresh();
    void openMenu(const QPoint& at);
    void addJobActions(QMenu* menu, const std::vector<std::int64_t>& ids);
    void showOutput(const QString& file);
    /// Why the chosen run's job is where it is.
    void showNote();
    std::vector<std::int64_t> chosen() const;
    void removeEnded();
    /// One place up (-1) or down (1).
    void moveChosen(int by);

    Context context_;
    QueueModel* model_;
    QTableView* table_;
    QLabel* counts_;
    QLabel* note_;
    QPushButton* add_;
    QPushButton* compare_;
    QPushButton* start_;
};

}  // namespace ui
