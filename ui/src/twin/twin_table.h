#pragma once

#include <QLabel>
#include <QList>
#include <QPointF>
#include <QString>
#include <QTableWidget>
#include <vector>

#include "engine/record/twin.h"
#include "text/spoken.h"
#include "twin/twin_model.h"
#include "widgets/painted_widget.h"

namespace ui {

/// An error of a gradient, of the reference's size: "0.12 %"; from 1,000 % on as a factor, "×10".
QString gradientErrorText(double error, int digits = 2);

/// The layers at the selected step: error, angle, how much of it is rounding, and since when a
/// layer has diverged. Sorted by any column. GUI thread.
class TwinTable final : public QWidget {
    Q_OBJECT
public:
    TwinTable(const Theme* theme, TwinModel* model, QWidget* parent = nullptr);

private:
    void refresh();
    void makeRows();
    void fillRow(int row, std::size_t layer);
    void setNumber(int row, int column, const QString& text, double value);
    std::size_t layerOf(int row) const;
    void showSelected();

    const Theme* theme_;
    TwinModel* model_;
    QLabel* all_;
    QLabel* rounding_;
    QTableWidget* table_;
    std::int64_t step_ = -1;  ///< index of the step that the rows show
    bool filling_ = false;
};

/// Upper end of an axis of relative errors from 0.0001: 1, or the power of ten that holds
/// `largest`.
double errorCeiling(double largest);

/// Error of the selected layer by steps since the start and since each resync, which separates
/// rounding from drift. GUI thread.
class SinceResync final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    SinceResync(const Theme* theme, TwinModel* model, QWidget* parent = nullptr);
    QString spoken() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Piece {
        std::int64_t steps;
        QList<QPointF> points;  ///< steps since its beginning, error
    };
    std::vector<Piece> pieces() const;

    TwinModel* model_;
};

}  // namespace ui
