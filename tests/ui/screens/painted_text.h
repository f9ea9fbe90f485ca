#pragma once

#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QWidget>
#include <vector>

#include "plots/custom_plot.h"

namespace ui {

/// A piece of text that a widget painted, in the widget's own coordinates.
struct PaintedText {
    QString text;
    QRectF ink;   ///< what its glyphs cover
    QRectF clip;  ///< where the painter was allowed to paint; null: everywhere
};

/// Keeps the text that is painted on it and drops everything else.
class TextRecorder final : public QPaintDevice {
public:
    /// Stands in for this widget: same size and same resolution, so that fonts are as large.
    explicit TextRecorder(const QWidget& widget) : widget_(widget), engine_(&texts_) {}
    const std::vector<PaintedText>& texts() const { return texts_; }
    QPaintEngine* paintEngine() const override { return &engine_; }

protected:
    int metric(PaintDeviceMetric which) const override {
        switch (which) {
            case PdmWidth: return widget_.width();
            case PdmHeight: return widget_.height();
            case PdmDpiX:
            case PdmPhysicalDpiX: return widget_.logicalDpiX();
            case PdmDpiY:
            case PdmPhysicalDpiY: return widget_.logicalDpiY();
            case PdmDepth: return 32;
            case PdmNumColors: return 1 << 24;
            case PdmDevicePixelRatio: return 1;
            default: return QPaintDevice::metric(which);
        }
    }

private:
    class Engine final : public QPaintEngine {
    public:
        explicit Engine(std::vector<PaintedText>* texts)
            : QPaintEngine(AllFeatures), texts_(texts) {}
        Type type() const override { return User; }
        bool begin(QPaintDevice*) override { return true; }
        bool end() override { return true; }
        void updateState(const QPaintEngineState&) override {}
        void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
        void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override {}
        void drawImage(const QRectF&, const QImage&, const QRectF&,
                       Qt::ImageConversionFlags) override {}
        void drawPath(const QPainterPath&) override {}
        void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
        void drawPolygon(const QPoint*, int, PolygonDrawMode) override {}
        void drawTextItem(const QPointF& at, const QTextItem& item) override {
            if (item.text().trimmed().isEmpty() || painter()->pen().color().alpha() == 0) return;
            // The width is the item's own: a run of several fonts comes in parts, each of which
            // has the text of all.
            QRectF ink = QFontMetricsF(item.font()).tightBoundingRect(item.text());
            ink.setLeft(0);
            ink.setWidth(item.width());
            const QTransform placed = state->transform();
            const QRectF clip = painter()->hasClipping()
                                    ? placed.mapRect(painter()->clipBoundingRect())
                                    : QRectF();
            texts_->push_back({item.text(), placed.mapRect(ink.translated(at)), clip});
        }

    private:
        std::vector<PaintedText>* texts_;
    };

    const QWidget& widget_;
    std::vector<PaintedText> texts_;
    mutable Engine engine_;
};

/// Texts that a widget paints by itself, without its children.
inline std::vector<PaintedText> paintedTexts(QWidget& widget) {
    TextRecorder recorder(widget);
    if (auto* plot = qobject_cast<QCustomPlot*>(&widget)) {
        // On screen it shows a picture that it painted before.
        QCPPainter painter(&recorder);
        plot->toPainter(&painter, plot->width(), plot->height());
    } else {
        widget.render(&recorder, QPoint(), QRegion(widget.rect()), QWidget::RenderFlags());
    }
    return recorder.texts();
}

}  // namespace ui
