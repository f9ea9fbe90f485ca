#pragma once

#include <QImage>

#include "text/spoken.h"
#include "twin/twin_model.h"
#include "widgets/painted_widget.h"
#include "widgets/row_map.h"

namespace ui {

class PlotLink;
struct Tokens;

/// Layer by step: how far the gradients of both runs are apart, as shades on a logarithmic scale.
/// Resyncs, skipped steps and the steps at which layers diverged are marked. GUI thread.
class TwinMap final : public RowMap, public Spoken {
    Q_OBJECT
public:
    TwinMap(const Theme* theme, PlotLink* link, TwinModel* model, QWidget* parent = nullptr);
    QString spoken() const override;

    /// The angle between the gradients in place of their relative error.
    void showAngle(bool angle);
    /// Where the steps begin and end, in the map's own pixels.
    double left() const { return plot().left(); }
    double right() const { return plot().right(); }
    QColor runColor() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// left() or right() may be others.
    void spanChanged();

protected:
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    int selectedRow() const override;
    void selectRow(int row) override;

private:
    void refresh();
    QRectF plot() const;
    int nameWidth() const;
    double end() const;
    double xOf(double step) const;
    std::int64_t stepAt(double x) const;
    void makeImage();
    void paintNames(QPainter& painter) const;
    void paintMarks(QPainter& painter, double bottom) const;
    void paintAxis(QPainter& painter) const;

    const Theme* theme_;
    PlotLink* link_;
    TwinModel* model_;
    bool angle_ = false;
    QImage image_;  ///< a column a pixel, a row a layer
    bool stale_ = true;
};

/// Share of the scale from 0.1 % (0) to 100 % (1), or from 0.1 to 90 degrees.
double twinShade(double value, bool angle);
/// Colour of such a share.
QColor twinColor(const Tokens& tokens, const QColor& run, double shade);

/// Legend of the shades of the map: a strip of them with a value at each end and between.
class TwinLegend final : public PaintedWidget {
    Q_OBJECT
public:
    TwinLegend(const Theme* theme, const TwinMap* map, QWidget* parent = nullptr);
    void showAngle(bool angle);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int stripWidth() const;
    const TwinMap* map_;
    bool angle_ = false;
};

}  // namespace ui
