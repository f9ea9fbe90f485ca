#pragma once

#include <QFrame>
#include <vector>

#include "engine/runs/run_store.h"
#include "view/context.h"

class QLabel;
class QPushButton;

namespace ui {

/// Asks above the table whether to delete runs of the history, and moves them to the trash if that
/// is agreed. Refuses a run that is being trained. Hidden while it asks nothing. GUI thread.
class DeleteQuestion final : public QFrame {
    Q_OBJECT
public:
    explicit DeleteQuestion(const Context& context, QWidget* parent = nullptr);
    /// Does nothing without runs.
    void ask(const std::vector<engine::RunSummary>& runs);
    void dismiss();

signals:
    /// It was answered, or is no longer asked.
    void closed();

private:
    void remove();

    Context context_;
    QLabel* words_;
    QPushButton* agree_;
    std::vector<engine::RunSummary> runs_;  ///< what it is about
};

}  // namespace ui
