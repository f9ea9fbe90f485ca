#include "plots/plot_overlay.h"

#include <QHash>
#include <algorithm>
#include <cmath>

#include "theme/theme.h"

namespace ui {
namespace {

constexpr double dot = 6;
constexpr double dotPitch = 8;

}  // namespace

std::vector<PlacedLabel> placeLabels(std::vector<EndLabel> labels, const QFontMetrics& metrics,
                                     double top, double bottom, double right) {
    const double room = bottom - top;
    const auto overfull = [&](double height) {
        return static_cast<double>(labels.size()) * height > room;
    };
    double height = metrics.height();
    if (overfull(height)) std::erase_if(labels, [](const EndLabel& l) { return l.optional; });
    const bool dots = overfull(height);
    if (dots) height = dotPitch;
    while (!labels.empty() && overfull(height)) labels.pop_back();
    std::vector<double> wanted;
    for (const auto& label : labels) wanted.push_back(label.y);
    const auto placed = spreadLabels(wanted, height, top, bottom);
    std::vector<PlacedLabel> out;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const EndLabel& label = labels[i];
        if (dots) {
            out.push_back({{label.x, placed[i] - dot / 2, dot, dot}, {}, label.color});
            continue;
        }
        const double width =
            std::min<double>(metrics.horizontalAdvance(label.text) + 1, right - label.x);
        const QString text =
            metrics.elidedText(label.text, Qt::ElideRight, static_cast<int>(width));
        out.push_back({{label.x, placed[i] - height / 2, width, height}, text, label.color});
    }
    return out;
}

namespace {

constexpr int bareLane = 8;  // pixels: without a name
constexpr int labelGap = 8;
constexpr double minEpoch = 6;  // pixels between two lines
constexpr double haloWidth = 3;

double px(const QCustomPlot* plot, double x) { return plot->xAxis->coordToPixel(x); }
double py(const QCustomPlot* plot, double y) { return plot->yAxis->coordToPixel(y); }

bool lanesHaveNames(const PlotScene& scene, int height) {
    const int full = QFontMetrics(scene.font).height() * static_cast<int>(scene.lanes.size());
    return full <= std::max(height / 3, bareLane);
}

/// Text with an outline in the panel's colour, so that curves behind it do not disturb it.
void drawWithHalo(QCPPainter* painter, const QRectF& box, const QString& text, const QColor& color,
                  const QColor& paper) {
    const QFontMetricsF metrics(painter->font());
    const QPointF base(box.left(), box.center().y() + (metrics.ascent() - metrics.descent()) / 2);
    QPainterPath path;
    path.addText(base, painter->font(), text);
    painter->strokePath(path, QPen(paper, haloWidth, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->setPen(color);
    painter->drawText(base, text);
}

}  // namespace

int lanesHeight(const PlotScene& scene, int height) {
    const int each = lanesHaveNames(scene, height) ? QFontMetrics(scene.font).height() : bareLane;
    return each * static_cast<int>(scene.lanes.size());
}

SceneBack::SceneBack(QCustomPlot* plot, const PlotScene* scene)
    : QCPLayerable(plot, u"grid"_s), scene_(scene) {}

void SceneBack::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(false);
}

void SceneBack::draw(QCPPainter* painter) {
    const QRect area = mParentPlot->axisRect()->rect();
    painter->setClipRect(area);
    QBrush hatch(blend(scene_->tokens.panel, scene_->tokens.dim, 0.45), Qt::BDiagPattern);
    for (std::size_t i = 0; i + 1 < scene_->unknown.size(); i += 2) {
        const double left = px(mParentPlot, scene_->unknown[i]);
        const double right = px(mParentPlot, scene_->unknown[i + 1]);
        painter->fillRect(QRectF(left, area.top(), std::max(1.0, right - left), area.height()),
                          hatch);
    }
    std::vector<double> lines;
    for (const double epoch : scene_->epochs) lines.push_back(px(mParentPlot, epoch));
    std::sort(lines.begin(), lines.end());
    // Closer lines would form a solid area and not mark the ends of epochs.
    const auto crowded = std::adjacent_find(lines.begin(), lines.end(), [](double a, double b) {
        return b - a > 1 && b - a < minEpoch;
    });
    if (crowded != lines.end()) return;
    QColor shade = scene_->tokens.grid;
    shade.setAlphaF(0.4f);  // the grid shows through
    for (const QCPRange& band : scene_->bands) {
        const double left = px(mParentPlot, band.lower), right = px(mParentPlot, band.upper);
        painter->fillRect(QRectF(left, area.top(), right - left, area.height()), shade);
    }
    painter->setPen(QPen(scene_->tokens.line, 1));
    for (const double x : lines) {
        painter->drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    }
}

SceneFront::SceneFront(QCustomPlot* plot, const PlotScene* scene)
    : QCPLayerable(plot, u"legend"_s), scene_(scene) {}

void SceneFront::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

void SceneFront::draw(QCPPainter* painter) {
    const QRect area = mParentPlot->axisRect()->rect();
    painter->setFont(scene_->font);
    if (!scene_->emptyText.isEmpty()) {
        painter->setPen(scene_->tokens.dim);
        painter->drawText(area.adjusted(24, 8, -24, -8), Qt::AlignCenter | Qt::TextWordWrap,
                          scene_->emptyText);
    }
    // A mark at the very edge is shown whole.
    painter->setClipRect(area.adjusted(-6, -2, 6, 2));
    drawLanes(painter, area);
    drawMarks(painter, area);
    drawDots(painter, area);
    drawFlaws(painter, area);
    painter->setClipRect(mParentPlot->rect());
    drawLabels(painter, area);
    drawLaneNames(painter, area);
    drawClipped(painter, area);
}

void SceneFront::drawClipped(QCPPainter* painter, const QRect& area) const {
    const QFontMetrics metrics(painter->font());
    const auto draw = [&](const QString& words, double top) {
        if (words.isEmpty()) return;
        const QRectF box(area.left() + 6, top, metrics.horizontalAdvance(words), metrics.height());
        drawWithHalo(painter, box, words, scene_->tokens.dim, scene_->tokens.panel);
    };
    draw(scene_->above.isEmpty() ? QString() : u"▲ "_s + scene_->above, area.top() + 2);
    draw(scene_->below.isEmpty() ? QString() : u"▼ "_s + scene_->below,
         area.bottom() - lanesHeight(*scene_, area.height()) - metrics.height() - 2);
}

void SceneFront::drawDots(QCPPainter* painter, const QRect& area) const {
    constexpr double apart = 3;  // pixels: nearer ones would lie on one another and cost the same
    QHash<QRgb, QPointF> before;
    for (const auto& dot : scene_->dots) {
        const QPointF at(px(mParentPlot, dot.x), py(mParentPlot, dot.y));
        if (at.x() < area.left() || at.x() > area.right() + 1) continue;
        const auto near = before.constFind(dot.color.rgb());
        if (near != before.cend() && std::abs(near->x() - at.x()) < apart &&
            std::abs(near->y() - at.y()) < apart) {
            continue;
        }
        before[dot.color.rgb()] = at;
        painter->setPen(QPen(dot.color, 2));
        painter->setBrush(scene_->tokens.panel);
        painter->drawEllipse(at, 4, 4);
    }
}

void SceneFront::drawLanes(QCPPainter* painter, const QRect& area) const {
    if (scene_->lanes.empty()) return;
    const int count = static_cast<int>(scene_->lanes.size());
    const int each = lanesHeight(*scene_, area.height()) / count;
    int top = area.bottom() - each * count;
    for (const auto& lane : scene_->lanes) {
        painter->setAntialiasing(false);
        if (count > 1) {
            painter->setPen(QPen(blend(scene_->tokens.panel, lane.color, 0.4), 1));
            painter->drawLine(QLineF(area.left(), top + each - 1, area.right(), top + each - 1));
        }
        QList<QLineF> ticks;
        for (const double step : lane.ticks) {
            const double x = std::floor(px(mParentPlot, step));
            ticks << QLineF(x, top + 1, x, top + each - 2);
        }
        painter->setPen(QPen(scene_->tokens.bad, 2));
        painter->drawLines(ticks);
        painter->setAntialiasing(true);
        if (lane.circled > 0) {
            painter->setPen(QPen(scene_->tokens.bad, 1.5));
            painter->setBrush(Qt::NoBrush);
            painter->drawEllipse(QPointF(px(mParentPlot, lane.circled), top + each / 2.0), 6, 6);
        }
        top += each;
    }
}

void SceneFront::drawLaneNames(QCPPainter* painter, const QRect& area) const {
    if (scene_->lanes.empty()) return;
    const QFontMetrics metrics(painter->font());
    const int count = static_cast<int>(scene_->lanes.size());
    const int each = lanesHeight(*scene_, area.height()) / count;
    const bool names = lanesHaveNames(*scene_, area.height());
    const int left = area.right() + labelGap;
    const int width = mParentPlot->width() - left;
    int top = area.bottom() - each * count;
    for (const auto& lane : scene_->lanes) {
        if (names) {
            painter->setPen(lane.color);
            painter->drawText(QRect(left, top, width, each), Qt::AlignLeft | Qt::AlignVCenter,
                              metrics.elidedText(lane.name, Qt::ElideRight, width));
        } else {
            painter->setPen(Qt::NoPen);
            painter->setBrush(lane.color);
            painter->drawEllipse(QRectF(left, top + (each - 6) / 2.0, 6, 6));
        }
        top += each;
    }
}

void SceneFront::drawMarks(QCPPainter* painter, const QRect& area) const {
    const QFontMetrics metrics(painter->font());
    QList<QRectF> taken;
    // Below the crosses of NaN, which stand at the top.
    const double top = area.top() + (scene_->flaws.empty() ? 1 : 12);
    for (const auto& mark : scene_->marks) {
        painter->setPen(QPen(mark.color, 1.5, mark.dashed ? Qt::DashLine : Qt::SolidLine));
        const int wide = metrics.horizontalAdvance(mark.text);
        if (mark.level) {
            const double y = py(mParentPlot, mark.at);
            if (!(y > area.top() && y < area.bottom())) continue;
            painter->drawLine(QLineF(area.left(), y, area.right(), y));
            const QRectF box(area.right() - wide - 4, y - metrics.height() - 1, wide,
                             metrics.height());
            drawWithHalo(painter, box, mark.text, mark.color, scene_->tokens.panel);
            continue;
        }
        const double x = std::floor(px(mParentPlot, mark.at));
        if (x < area.left() || x > area.right() + 1) continue;
        painter->drawLine(QLineF(x, area.top(), x, area.bottom()));
        QRectF box(x + 4, top, wide, metrics.height());
        if (box.right() > area.right()) box.moveRight(x - 4);
        for (const QRectF& other : taken) {
            if (box.intersects(other)) box.moveTop(other.bottom() + 1);
        }
        taken << box;
        drawWithHalo(painter, box, mark.text, mark.color, scene_->tokens.panel);
    }
}

void SceneFront::drawFlaws(QCPPainter* painter, const QRect& area) const {
    // One mark for NaN (a cross) and for each infinity (a triangle at the edge it left by).
    for (const auto& flaw : scene_->flaws) {
        const double x = px(mParentPlot, flaw.where.x);
        painter->setPen(QPen(flaw.color, 1.5));
        painter->setBrush(flaw.color);
        if (flaw.where.nan) {
            const double y = area.top() + 6;
            painter->drawLine(QPointF(x - 3, y - 3), QPointF(x + 3, y + 3));
            painter->drawLine(QPointF(x - 3, y + 3), QPointF(x + 3, y - 3));
        }
        if (flaw.where.up) {
            const double y = area.top() + 2;
            painter->drawPolygon(QPolygonF({{x, y}, {x - 4, y + 7}, {x + 4, y + 7}}));
        }
        if (flaw.where.down) {
            const double y = area.bottom() - 2;
            painter->drawPolygon(QPolygonF({{x, y}, {x - 4, y - 7}, {x + 4, y - 7}}));
        }
    }
}

void SceneFront::drawLabels(QCPPainter* painter, const QRect& area) const {
    const QFontMetrics metrics(painter->font());
    std::vector<EndLabel> labels;
    for (const auto& label : scene_->labels) {
        const double end = std::min(px(mParentPlot, label.x), double(area.right()));
        labels.push_back(
            {label.text, label.color, end + labelGap, py(mParentPlot, label.y), label.optional});
    }
    const double bottom = area.bottom() - lanesHeight(*scene_, area.height());
    const auto placed =
        placeLabels(std::move(labels), metrics, area.top(), bottom, mParentPlot->width());
    for (const auto& label : placed) {
        if (label.text.isEmpty()) {
            painter->setPen(QPen(scene_->tokens.panel, haloWidth / 2));
            painter->setBrush(label.color);
            painter->drawEllipse(label.box);
        } else {
            drawWithHalo(painter, label.box, label.text, label.color, scene_->tokens.panel);
        }
    }
}

SceneCrosshair::SceneCrosshair(QCustomPlot* plot, const PlotScene* scene)
    : QCPLayerable(plot, u"overlay"_s), scene_(scene) {}

void SceneCrosshair::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

void SceneCrosshair::draw(QCPPainter* painter) {
    const QRect area = mParentPlot->axisRect()->rect();
    painter->setClipRect(area.adjusted(0, 0, 1, 0));
    if (!scene_->dragged.isEmpty()) {
        QColor fill = scene_->tokens.accent;
        fill.setAlphaF(0.15f);
        painter->fillRect(scene_->dragged, fill);
    }
    if (scene_->crosshair <= 0) return;
    const double x = px(mParentPlot, scene_->crosshair);
    if (x < area.left() || x > area.right() + 1) return;
    painter->setAntialiasing(false);
    painter->setPen(QPen(scene_->tokens.dim, 1, Qt::DashLine));
    painter->drawLine(QPointF(std::floor(x), area.top()), QPointF(std::floor(x), area.bottom()));
    painter->setAntialiasing(true);
    if (!scene_->readout.isEmpty()) drawReadout(painter, area, x);
}

void SceneCrosshair::drawReadout(QCPPainter* painter, const QRect& area, double x) const {
    painter->setFont(scene_->font);
    const QFontMetrics metrics(painter->font());
    int width = 0;
    for (const auto& [text, color] : scene_->readout) {
        width = std::max(width, metrics.horizontalAdvance(text));
    }
    const int line = metrics.height() + 1;
    const int height = line * static_cast<int>(scene_->readout.size()) + 10;
    const int top = scene_->readoutBelow
                        ? area.bottom() - height - lanesHeight(*scene_, area.height()) - 6
                        : area.top() + 6;
    QRectF box(x + 8, top, width + 16, height);
    if (box.right() > area.right()) box.moveRight(x - 8);
    if (box.left() < area.left()) box.moveLeft(area.left() + 2);
    painter->setPen(QPen(scene_->tokens.line, 1));
    QColor paper = scene_->tokens.panel;
    paper.setAlphaF(0.94f);
    painter->setBrush(paper);
    painter->drawRoundedRect(box, size::fieldRadius, size::fieldRadius);
    QRectF row(box.left() + 8, box.top() + 5, width + 2, line);
    for (const auto& [text, color] : scene_->readout) {
        painter->setPen(color);
        painter->drawText(row, Qt::AlignLeft | Qt::AlignVCenter, text);
        row.translate(0, line);
    }
}

}  // namespace ui
