#pragma once

#include "microscope/exponent_axis.h"
#include "microscope/microscope_model.h"
#include "text/spoken.h"
#include "widgets/painted_widget.h"
#include "widgets/row_map.h"

namespace ui {

class MicroscopeModel;

/// Layers by exponent: how often values of each magnitude occur in each layer, as shades. A row a
/// layer, in the order of the network; those in view are painted. GUI thread.
class LayerMap final : public RowMap, public Spoken {
    Q_OBJECT
public:
    LayerMap(const Theme* theme, MicroscopeModel* model, QWidget* parent = nullptr);
    QString spoken() const override;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    int selectedRow() const override;
    void selectRow(int row) override;

private:
    void refresh();
    int nameWidth() const;
    int zeroColumn() const;
    int headroomColumn() const;
    ExponentAxis axis() const;
    void paintHead(QPainter& painter) const;
    void paintFoot(QPainter& painter) const;
    void paintRow(QPainter& painter, int row) const;
    void paintShades(QPainter& painter, const engine::ExponentHistogram& values,
                     const QRectF& area) const;
    void paintFigures(QPainter& painter, const engine::LayerHistogram& layer, double top) const;
    void paintLimits(QPainter& painter, double top, double bottom) const;

    const Theme* theme_;
    MicroscopeModel* model_;
};

/// Legend of the shades of the maps: how many of a layer's values have an exponent, up to the
/// exponent that most of them have.
class ShareLegend final : public PaintedWidget {
    Q_OBJECT
public:
    ShareLegend(const Theme* theme, const MicroscopeModel* model, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const MicroscopeModel* model_;
};

}  // namespace ui
