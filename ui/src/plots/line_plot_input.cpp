// What hands and keys do on a plot.
#include <cmath>

#include "plots/line_plot.h"

namespace ui {

namespace {

constexpr double dragStarts = 5;  // pixels
constexpr double nearCurve = 12;  // pixels

}  // namespace

void LinePlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    pressed_ = event->position();
    dragging_ = false;
}

void LinePlot::mouseMoveEvent(QMouseEvent* event) {
    scheduler_->touch();
    const QRect area = axisRect()->rect();
    if ((event->buttons() & Qt::LeftButton) != 0) {
        dragging_ = dragging_ || std::abs(event->position().x() - pressed_.x()) > dragStarts;
        if (dragging_) {
            const double left = std::clamp(std::min(event->position().x(), pressed_.x()),
                                           double(area.left()), double(area.right()));
            const double right = std::clamp(std::max(event->position().x(), pressed_.x()),
                                            double(area.left()), double(area.right()));
            scene_.dragged = QRectF(left, area.top(), right - left, area.height());
        }
    }
    const bool inside = longest() > 0 && area.contains(event->position().toPoint());
    const std::int64_t step = inside ? stepAt(event->position().x()) : 0;
    if (step == link_->hovered() && dragging_) layer(QStringLiteral("overlay"))->replot();
    link_->hover(step);
}

void LinePlot::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const QRectF dragged = scene_.dragged;
    scene_.dragged = {};
    if (dragging_ && dragged.width() > dragStarts) {
        link_->zoom(xAxis->pixelToCoord(dragged.left()), xAxis->pixelToCoord(dragged.right()));
    } else if (!dragging_ && longest() > 0 && axisRect()->rect().contains(pressed_.toPoint())) {
        const auto run = runAt(pressed_);
        link_->select(stepAt(pressed_.x()), run ? run : link_->run());
    }
    dragging_ = false;
    scheduler_->touch();
    layer(QStringLiteral("overlay"))->replot();
}

std::shared_ptr<const void> LinePlot::runAt(const QPointF& pixel) const {
    const std::int64_t step = stepAt(pixel.x());
    double nearest = nearCurve;
    std::shared_ptr<const void> found;
    for (std::size_t i = 0; i < content_.curves.size(); ++i) {
        const QCPGraph* shown = look_.smooth ? front_[i] : raw_[i];
        const auto point = shown->data()->findBegin(static_cast<double>(step));
        if (point == shown->data()->constEnd()) continue;
        const double distance = std::abs(yAxis->coordToPixel(point->value) - pixel.y());
        if (!(distance <= nearest)) continue;
        nearest = distance;
        found = content_.curves[i].owner;
    }
    return found;
}

void LinePlot::mouseDoubleClickEvent(QMouseEvent*) {
    scheduler_->touch();
    link_->fit();
}

void LinePlot::wheelEvent(QWheelEvent* event) {
    scheduler_->touch();
    const double notches = event->angleDelta().y() / 120.0;
    link_->zoomAround(xAxis->pixelToCoord(event->position().x()), std::pow(0.8, notches));
    event->accept();
}

void LinePlot::leaveEvent(QEvent*) { link_->hover(0); }

void LinePlot::keyPressEvent(QKeyEvent* event) {
    scheduler_->touch();
    const std::int64_t at = std::max<std::int64_t>(1, link_->crosshair());
    const double span = link_->high() - link_->low();
    const auto stride = std::max<std::int64_t>(1, (event->modifiers() & Qt::ShiftModifier) != 0
                                                      ? static_cast<std::int64_t>(span / 20)
                                                      : 1);
    switch (event->key()) {
        case Qt::Key_Left:
            link_->select(std::max<std::int64_t>(1, at - stride));
            return;
        case Qt::Key_Right:
            link_->select(std::min(std::max<std::int64_t>(1, longest()), at + stride));
            return;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            link_->zoomAround(static_cast<double>(at), 0.8);
            return;
        case Qt::Key_Minus:
            link_->zoomAround(static_cast<double>(at), 1.25);
            return;
        case Qt::Key_0:
            link_->fit();
            return;
        default:
            QCustomPlot::keyPressEvent(event);
    }
}

void LinePlot::showEvent(QShowEvent* event) {
    QCustomPlot::showEvent(event);
    dataGrew();
}

void LinePlot::resizeEvent(QResizeEvent* event) {
    refresh();  // what the base class paints at once is then right
    QCustomPlot::resizeEvent(event);
    scheduler_->touch();
    dataGrew();
}

void LinePlot::focusInEvent(QFocusEvent* event) {
    QCustomPlot::focusInEvent(event);
    describe();
    showFocus();
    dataGrew();
}

void LinePlot::focusOutEvent(QFocusEvent* event) {
    QCustomPlot::focusOutEvent(event);
    showFocus();
    dataGrew();
}

}  // namespace ui
