#pragma once

#include <QPixmap>

#include "twin/twin_model.h"
#include "widgets/painted_widget.h"

namespace ui {

class PlotLink;

/// Loss of the second run minus that of the reference, step by step: raw behind, the mean of 20
/// steps in front, and a band of two standard errors of that mean: over seeds where the history
/// has the same pair of runs with other seeds, else by the spread over steps. GUI thread.
class LossGap final : public PaintedWidget {
    Q_OBJECT
public:
    LossGap(const Theme* theme, PlotLink* link, TwinModel* model, QWidget* parent = nullptr);

    /// The mean of the last 20 steps; NaN without any.
    double gap() const;
    /// Two standard errors of it.
    double noise() const;
    /// Seeds that the noise is taken over, the twin's own included; 1: the spread over steps.
    int seeds() const { return seeds_; }
    /// Notes at the ends of the curves: the gap, and its noise if that is known. Empty where the
    /// losses are not finite, since they have no gap.
    QStringList notes() const;
    /// The horizontal range of the steps, so that they line up with those of the map.
    void setSpan(double left, double right);
    std::pair<double, double> span() const { return {plot().left(), plot().right()}; }
    /// Reads losses that came after the comparison of their steps.
    void readRows();

signals:
    /// gap() and noise() are others.
    void changed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void refresh();
    void takeRows();
    std::size_t rowsOfBoth() const;
    void takeNoise();
    QRectF plot() const;
    double end() const;
    double xOf(double step) const;
    double yOf(double gap) const;
    void makePicture();
    void paintAxis(QPainter& painter) const;
    void paintCurves(QPainter& painter) const;
    void paintNotes(QPainter& painter) const;

    PlotLink* link_;
    TwinModel* model_;
    std::vector<double> raw_;    ///< by step
    std::vector<double> mean_;   ///< of up to 20 steps that end there
    std::vector<double> error_;  ///< two standard errors of the mean; NaN: not known
    int seeds_ = 1;
    double left_ = 0, right_ = 0;  ///< of setSpan(); 0: none was set
    double most_ = 1e-9;           ///< largest finite magnitude in raw_
    QPixmap picture_;              ///< all but the marks that move; null: to be painted anew
};

}  // namespace ui
