#pragma once

#include <QPushButton>
#include <QTabBar>
#include <QThreadPool>

#include "engine/base/table.h"
#include "tryit/report_view.h"
#include "tryit/run_columns.h"
#include "view/context.h"

namespace ui {

/// Evaluates the models on the test part of their data: figures, confusion matrix, classes, and the
/// samples with the largest loss. One model evaluates at a time, on a thread and a model of its
/// own, so that drawings are still answered.
class EvaluatePanel final : public QWidget {
    Q_OBJECT
public:
    /// `pool`, of one thread, outlives this.
    EvaluatePanel(const Context& context, const TriedModels& models, QThreadPool* pool,
                  QWidget* parent = nullptr);

    bool isEvaluating() const { return evaluating_ > 0; }
    /// The figures of all detectors that were evaluated, for Export.
    engine::Table table() const;

private:
    QLayout* makeControls();
    void evaluate();
    void evaluateOne(std::size_t index, bool acceptData = false);
    /// The data of the run have changed: asks whether to use them all the same.
    void askAboutData(std::size_t index, const QString& what);
    void cancel();
    void exportFigures();
    void showTabs();
    void ended(std::size_t index);
    void refresh();

    Context context_;
    QThreadPool* pool_;
    QPushButton* go_;
    QPushButton* cancel_;
    QPushButton* export_;
    QLabel* note_;
    QTabBar* tabs_;
    RunColumns* columns_;
    std::vector<ReportView*> views_;     ///< of the columns
    std::vector<ModelWorker*> workers_;  ///< of the columns; null: not at work
    int evaluating_ = 0;
};

}  // namespace ui
