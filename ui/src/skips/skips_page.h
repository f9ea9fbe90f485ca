#pragma once

#include <QPushButton>
#include <QWidget>

#include "skips/skips_model.h"
#include "view/context.h"

namespace ui {

class Card;
class ElidedLabel;
class SampleGrid;
class SideColumns;

/// Why was this step skipped, and where did the number break? The run's skipped steps, the verdict
/// on one with its tests, the chain of layers, the first non-finite tensor, the scales that would
/// have passed, and the samples of the batch.
class SkipsPage final : public QWidget {
    Q_OBJECT
public:
    explicit SkipsPage(const Context& context, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QLayout* makeBar();
    Card* makeList();
    SideColumns* makeColumns();
    Card* makeTensor();
    Card* makeBatch();
    void showStep();
    void refreshState();
    QString watchText() const;
    void saveCapsule();
    void exportFigures();

    Context context_;
    SkipsModel* model_;
    QPushButton* examine_;
    QPushButton* capsule_;
    QPushButton* export_;
    SideColumns* columns_;
    ElidedLabel* state_;
    Card* batch_;
    SampleGrid* samples_;
    QPushButton* arm_;
};

}  // namespace ui
