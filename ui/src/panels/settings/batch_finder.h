#pragma once

#include <QDialog>

#include "engine/train/batch_finder.h"
#include "feed/background_task.h"
#include "view/context.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace ui {

/// Finds the largest batch of the current settings within a memory limit and shows each trial, then
/// a button that takes the found size over. Closing ends the search after its step in flight.
class BatchFinder final : public QDialog {
    Q_OBJECT
public:
    explicit BatchFinder(const Context& context, QWidget* parent = nullptr);

private:
    struct Progress {
        std::vector<engine::BatchTrial> trials;
        std::int64_t trying = 0;
    };
    QLayout* makeLimit();
    QLayout* makeFoot();
    void start();
    /// Shows the trials so far.
    void refresh();
    void finish(const engine::FoundBatch& found);
    QString trialRow(const engine::BatchTrial& trial) const;

    Context context_;
    BackgroundTask<Progress, engine::FoundBatch> search_;
    QLineEdit* memory_;
    QPushButton* find_;
    QLabel* trials_;
    QLabel* words_;
    QPushButton* use_;
};

}  // namespace ui
