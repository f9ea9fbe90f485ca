#pragma once

#include <QWidget>

#include "text/spoken.h"
#include "widgets/painted_widget.h"

class QLabel;

namespace ui {

class NetworkModel;
struct NetworkMemory;

/// Bars of the predicted peak memory of a step, one for each compared precision, parted into
/// activations, gradients, weights and the optimizer's state. One that the device cannot hold ends
/// in a red notch at its memory, with the batch that fits. GUI thread.
class NetworkMemoryBars final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    NetworkMemoryBars(const Theme* theme, NetworkModel* model, QWidget* parent);

    QString spoken() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    const NetworkMemory& memory() const;
    QString title() const;
    int rowHeight() const;
    int namesWidth() const;
    int figuresWidth() const;

    NetworkModel* model_;
};

/// Parameters, the cost of a forward pass and of a step, and the memory of a step, of the last text
/// without a fault; pale while the text has one. GUI thread.
class NetworkTotals final : public QWidget {
    Q_OBJECT
public:
    NetworkTotals(const Theme* theme, NetworkModel* model, QWidget* parent);

private:
    void refresh();

    NetworkModel* model_;
    QLabel *parameters_, *forward_;
    NetworkMemoryBars* bars_;
};

}  // namespace ui
