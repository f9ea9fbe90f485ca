#pragma once

#include <QFrame>
#include <functional>
#include <vector>

#include "engine/runs/run_store.h"
#include "view/context.h"

class QLabel;
class QPushButton;

namespace ui {

/// Asks above the table whether to delete runs of the history, or only their checkpoints, and does
/// so if that is agreed: runs move to the trash. Refuses a run that is being trained. Hidden while
/// it asks nothing. GUI thread.
class DeleteQuestion final : public QFrame {
    Q_OBJECT
public:
    explicit DeleteQuestion(const Context& context, QWidget* parent = nullptr);
    /// Does nothing without runs.
    void ask(const std::vector<engine::RunSummary>& runs);
    /// About the checkpoints other than the best and the last one of each run.
    void askToFree(const std::vector<engine::RunSummary>& runs);
    void dismiss();

signals:
    /// It was answered, or is no longer asked.
    void closed();

private:
    /// Asks for `act`, unless one of the runs is being trained: then says `whyNot`, where %1 is
    /// that run.
    void ask(const QString& words, const QString& agree, const QString& whyNot,
             std::function<void()> act);
    void remove();

    Context context_;
    QLabel* words_;
    QPushButton* agree_;
    std::vector<engine::RunSummary> runs_;  ///< what it is about
    std::function<void()> act_;
};

}  // namespace ui
