#pragma once

#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

#include "microscope/microscope_model.h"
#include "view/context.h"

namespace ui {

class Card;
class ElidedLabel;
class SideColumns;

/// Which loss scale fits these gradients? Layers by exponent, one layer's histogram with a handle
/// on the loss scale, what that does to the step, and the drift over the run.
class MicroscopePage final : public QWidget {
    Q_OBJECT
public:
    explicit MicroscopePage(const Context& context, QWidget* parent = nullptr);

private:
    QLayout* makeBar();
    Card* makeLayers();
    Card* makeHistogram();
    QWidget* makeNote(QWidget* parent);
    Card* makeDrift();
    void refresh();
    void refreshAnswer();
    void refreshNote();
    void refreshShadow();
    void exportFigures();
    QString howObtained() const;

    Context context_;
    MicroscopeModel* model_;
    QLabel* answer_;
    ElidedLabel* obtained_;
    QPushButton* shadow_;
    QPushButton* export_;
    Card* layers_;
    Card* histogram_;
    Card* drift_;
    QWidget* note_;
    QLabel* noteText_;
    QToolButton* noteLink_;
    SideColumns* columns_;
};

}  // namespace ui
