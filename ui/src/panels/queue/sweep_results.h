#pragma once

#include <QFrame>
#include <vector>

#include "engine/runs/run_queue.h"
#include "view/context.h"

class QLabel;
class QTableView;

namespace ui {

class ChoiceBox;
class SweepModel;
class SweepPlot;

/// The results of one sweep of the queue, as a table and a plot.
class SweepResults final : public QFrame {
    Q_OBJECT
public:
    explicit SweepResults(const Context& context, QWidget* parent = nullptr);

private:
    void makeTable();
    /// Lists the sweeps of the queue; a new one is chosen.
    void refreshSweeps();
    /// Reads the results of the chosen one, off the GUI thread.
    void readResults();

    Context context_;
    SweepModel* model_;
    ChoiceBox* sweeps_;
    QLabel* figure_;
    QTableView* table_;
    SweepPlot* plot_;
    QLabel* empty_;
    std::vector<engine::QueuedRun> runs_;
    bool reading_ = false;
    bool again_ = false;
};

}  // namespace ui
