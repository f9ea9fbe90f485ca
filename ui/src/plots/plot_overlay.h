#pragma once

#include <QColor>
#include <QFontMetrics>
#include <QRectF>
#include <QString>
#include <vector>

#include "plots/custom_plot.h"
#include "plots/polyline.h"
#include "theme/tokens.h"

namespace ui {

/// A name to be written at a curve's end.
struct EndLabel {
    QString text;
    QColor color;
    double x = 0;  ///< left edge, pixels
    double y = 0;  ///< wanted middle, pixels
    bool optional = false;
};

/// Where it goes. Without text it is a dot in the curve's colour that fills the box.
struct PlacedLabel {
    QRectF box;
    QString text;
    QColor color;
};

/// Places labels between `top` and `bottom` without overlap, clipped at `right`. If not all names
/// fit, optional ones are dropped first, then names become dots, and finally the dots of the last
/// curves are dropped.
std::vector<PlacedLabel> placeLabels(std::vector<EndLabel> labels, const QFontMetrics& metrics,
                                     double top, double bottom, double right);

/// The parts of a plot other than its curves, in axis coordinates; filled before each paint.
struct PlotScene {
    struct Label {
        QString text;
        QColor color;
        double x;
        double y;
        bool optional = false;  ///< the first to go where room is short
    };
    struct Lane {  ///< skips of one run
        QString name;
        QColor color;
        std::vector<double> ticks;
        double circled = 0;  ///< the skip that is selected; 0: none
    };
    struct Dot {
        double x;
        double y;
        QColor color;
    };
    struct Mark {   ///< a line across the plot
        double at;  ///< x, or y of a level line
        QString text;
        QColor color;
        bool dashed;
        bool level;
    };
    struct Flaw {  ///< NaN or an infinity of a curve
        NonFinite where;
        QColor color;
    };
    Tokens tokens;
    QFont font;                  ///< of all words
    std::vector<double> epochs;  ///< last steps of epochs
    std::vector<QCPRange>
        bands;  ///< every second epoch of one run, from its first step to its last
    std::vector<Lane> lanes;
    std::vector<double> unknown;  ///< pairs: from, to where the band is not known
    std::vector<Dot> dots;
    std::vector<Mark> marks;
    std::vector<Flaw> flaws;
    std::vector<Label> labels;
    QString emptyText;
    double crosshair = 0;
    QList<QPair<QString, QColor>> readout;
    bool readoutBelow = false;
    QString above;  ///< how many points lie above the values that are shown; empty: none
    QString below;
    QRectF dragged;  ///< pixels
};

/// Height that the lanes of skips take at the bottom of an area that is `height` high, in pixels.
int lanesHeight(const PlotScene& scene, int height);

/// Vertical lines at the epochs' ends, every second epoch shaded, and the hatch where the band is
/// unknown; behind the curves.
class SceneBack final : public QCPLayerable {
public:
    SceneBack(QCustomPlot* plot, const PlotScene* scene);

private:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    const PlotScene* scene_;
};

/// Dots, marks, lanes of skips, names at the curves' ends, the sentence of an empty plot; before
/// the curves.
class SceneFront final : public QCPLayerable {
public:
    SceneFront(QCustomPlot* plot, const PlotScene* scene);

private:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    void drawDots(QCPPainter* painter, const QRect& area) const;
    void drawLanes(QCPPainter* painter, const QRect& area) const;
    void drawMarks(QCPPainter* painter, const QRect& area) const;
    void drawLaneNames(QCPPainter* painter, const QRect& area) const;
    void drawFlaws(QCPPainter* painter, const QRect& area) const;
    void drawLabels(QCPPainter* painter, const QRect& area) const;
    void drawClipped(QCPPainter* painter, const QRect& area) const;
    const PlotScene* scene_;
};

/// Crosshair, read-out and the area being dragged, on a buffer of their own: moving them does not
/// paint the curves again.
class SceneCrosshair final : public QCPLayerable {
public:
    SceneCrosshair(QCustomPlot* plot, const PlotScene* scene);

private:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    void drawReadout(QCPPainter* painter, const QRect& area, double x) const;
    const PlotScene* scene_;
};

}  // namespace ui
