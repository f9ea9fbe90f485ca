#pragma once

#include <QDialog>
#include <memory>

#include "engine/train/batch_finder.h"
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
    ~BatchFinder() override;

private:
    struct Search;  ///< what the search's thread and the dialog share
    QLayout* makeLimit();
    QLayout* makeFoot();
    void start();
    /// Shows the trials so far.
    void refresh();
    void finish(const engine::FoundBatch& found);
    QString trialRow(const engine::BatchTrial& trial) const;

    Context context_;
    std::shared_ptr<Search> search_;
    QLineEdit* memory_;
    QPushButton* find_;
    QLabel* trials_;
    QLabel* words_;
    QPushButton* use_;
    QTimer* timer_;
};

}  // namespace ui
