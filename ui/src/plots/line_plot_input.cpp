// Mouse and keyboard on a plot.
#include <cmath>

#include "plots/line_plot.h"
#include "plots/plot_options.h"

namespace ui {

namespace {

constexpr double dragStarts = 5;  // pixels
constexpr double nearCurve = 12;  // pixels
constexpr double panShare = 0.1;  // of what is visible, for a notch of the wheel or a key

}  // namespace

LinePlot::Drag LinePlot::dragOf(const QMouseEvent& event) const {
    if (event.button() == Qt::MiddleButton) return Drag::pan;
    if (event.button() != Qt::LeftButton) return Drag::none;
    if (event.modifiers().testFlag(Qt::ShiftModifier)) return Drag::pan;
    return event.modifiers().testFlag(Qt::ControlModifier) ? Drag::values : Drag::steps;
}

void LinePlot::mousePressEvent(QMouseEvent* event) {
    drag_ = dragOf(*event);
    if (drag_ == Drag::none) return;
    pressed_ = event->position();
    moved_ = pressed_;
    dragging_ = false;
    selectedBefore_ = link_->selected();
    runBefore_ = link_->run();
}

void LinePlot::mouseMoveEvent(QMouseEvent* event) {
    scheduler_->touch();
    const QRect area = axisRect()->rect();
    if ((event->buttons() & (Qt::LeftButton | Qt::MiddleButton)) != 0) {
        const QPointF way = event->position() - pressed_;
        dragging_ = dragging_ || std::abs(drag_ == Drag::values ? way.y() : way.x()) > dragStarts ||
                    (drag_ == Drag::pan && std::abs(way.y()) > dragStarts);
        if (dragging_) dragTo(event->position());
    }
    const bool inside = longest() > 0 && area.contains(event->position().toPoint());
    const double x = link_->options()->stepOf(xAxis->pixelToCoord(event->position().x()));
    const std::int64_t step = inside ? std::clamp<std::int64_t>(std::llround(x), 1, longest()) : 0;
    if (step == link_->hovered() && dragging_) layer(QStringLiteral("overlay"))->replot();
    link_->hover(step);
}

void LinePlot::mouseReleaseEvent(QMouseEvent* event) {
    const Drag drag = std::exchange(drag_, Drag::none);
    if (drag == Drag::none || std::exchange(doubled_, false)) return;
    const QRectF dragged = scene_.dragged;
    scene_.dragged = {};
    if (drag == Drag::values && dragging_ && dragged.height() > dragStarts) {
        link_->zoomValues(
            this, {yAxis->pixelToCoord(dragged.bottom()), yAxis->pixelToCoord(dragged.top())});
    } else if (drag == Drag::steps && dragging_ && dragged.width() > dragStarts) {
        const auto* options = link_->options();
        link_->zoom(options->stepOf(xAxis->pixelToCoord(dragged.left())),
                    options->stepOf(xAxis->pixelToCoord(dragged.right())));
    } else if (event->button() == Qt::LeftButton && !dragging_ && longest() > 0 &&
               axisRect()->rect().contains(pressed_.toPoint())) {
        const auto run = runForClick(pressed_);
        const std::int64_t step = stepOf(axisOf(run), xAxis->pixelToCoord(pressed_.x()));
        link_->select(std::clamp<std::int64_t>(step, 1, longest()), run);
    }
    dragging_ = false;
    scheduler_->touch();
    layer(QStringLiteral("overlay"))->replot();
}

void LinePlot::dragTo(const QPointF& at) {
    const QRectF area = axisRect()->rect();
    if (drag_ == Drag::pan) {
        panBy(at - std::exchange(moved_, at));
        return;
    }
    const auto inX = [&](double x) { return std::clamp(x, area.left(), area.right()); };
    const auto inY = [&](double y) { return std::clamp(y, area.top(), area.bottom()); };
    QRectF box = area;
    if (drag_ == Drag::values) {
        box.setTop(inY(std::min(at.y(), pressed_.y())));
        box.setBottom(inY(std::max(at.y(), pressed_.y())));
    } else {
        box.setLeft(inX(std::min(at.x(), pressed_.x())));
        box.setRight(inX(std::max(at.x(), pressed_.x())));
    }
    scene_.dragged = box;
}

void LinePlot::panBy(const QPointF& pixels) {
    const auto* options = link_->options();
    const double left = axisRect()->left();
    link_->pan(options->stepOf(xAxis->pixelToCoord(left - pixels.x())) -
               options->stepOf(xAxis->pixelToCoord(left)));
    // The values move only where a part of them is shown: all of them are always in view.
    if (!link_->values(this)) return;
    const QRect area = axisRect()->rect();
    link_->zoomValues(this, {yAxis->pixelToCoord(area.bottom() + 1 - pixels.y()),
                             yAxis->pixelToCoord(area.top() - pixels.y())});
}

void LinePlot::zoomValuesAround(double pixel, double factor) {
    const QRect area = axisRect()->rect();
    const double top = pixel - (pixel - area.top()) * factor;
    const double bottom = pixel + (area.bottom() + 1 - pixel) * factor;
    link_->zoomValues(this, {yAxis->pixelToCoord(bottom), yAxis->pixelToCoord(top)});
}

std::shared_ptr<const void> LinePlot::runAt(const QPointF& pixel) const {
    const double x = xAxis->pixelToCoord(pixel.x());
    double nearest = nearCurve;
    std::shared_ptr<const void> found;
    for (std::size_t i = 0; i < content_.curves.size(); ++i) {
        const QCPGraph* shown = smooths() ? front_[i] : raw_[i];
        const auto point = shown->data()->findBegin(x);
        if (point == shown->data()->constEnd()) continue;
        const double distance = std::abs(yAxis->coordToPixel(point->value) - pixel.y());
        if (!(distance <= nearest)) continue;
        nearest = distance;
        found = content_.curves[i].owner;
    }
    return found;
}

std::shared_ptr<const void> LinePlot::runForClick(const QPointF& pixel) const {
    if (auto near = runAt(pixel)) return near;
    if (auto selected = link_->run()) return selected;
    // One moment is another step of each run: the step is that of the run that leads the axis.
    const RowAxis* reference = link_->options()->reference();
    for (const Curve& curve : content_.curves) {
        if (x_ != XKind::step && curve.x == reference) return curve.owner;
    }
    return nullptr;
}

void LinePlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    scheduler_->touch();
    doubled_ = true;
    link_->select(selectedBefore_, runBefore_.lock());  // the first click was no choice of a step
    link_->fit();
}

void LinePlot::wheelEvent(QWheelEvent* event) {
    scheduler_->touch();
    // Some systems turn the wheel sideways while Shift is held.
    const QPoint turned = event->angleDelta();
    const double notches = (turned.y() != 0 ? turned.y() : turned.x()) / 120.0;
    if (event->modifiers().testFlag(Qt::ControlModifier)) {
        zoomValuesAround(event->position().y(), std::pow(0.8, notches));
        event->accept();
        return;
    }
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        link_->pan(-notches * panShare * (link_->high() - link_->low()));
        event->accept();
        return;
    }
    const double step = link_->options()->stepOf(xAxis->pixelToCoord(event->position().x()));
    link_->zoomAround(step, std::pow(0.8, notches));
    event->accept();
}

void LinePlot::leaveEvent(QEvent*) { link_->hover(0); }

void LinePlot::keyPressEvent(QKeyEvent* event) {
    scheduler_->touch();
    const auto at = static_cast<double>(std::max<std::int64_t>(1, link_->crosshair()));
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Home:
        case Qt::Key_End:
            moveSelection(event->key(), event->modifiers());
            return;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
        case Qt::Key_Minus: {
            const double factor = event->key() == Qt::Key_Minus ? 1.25 : 0.8;
            if (event->modifiers().testFlag(Qt::AltModifier))
                zoomValuesAround(axisRect()->rect().center().y(), factor);
            else
                link_->zoomAround(at, factor);
            return;
        }
        case Qt::Key_0:
            link_->fit();
            return;
        case Qt::Key_PageUp:
        case Qt::Key_PageDown: {
            const double way = event->key() == Qt::Key_PageUp ? -5 : 5;
            link_->pan(way * panShare * (link_->high() - link_->low()));
            return;
        }
        case Qt::Key_Backspace:
            link_->back();
            return;
        default:
            QCustomPlot::keyPressEvent(event);
    }
}

void LinePlot::moveSelection(int key, Qt::KeyboardModifiers modifiers) {
    const std::int64_t last = longest();
    if (last == 0) return;
    // One pixel's worth of steps: a smaller stride would be invisible.
    const RowAxis* axis = axisOf(link_->run());
    const auto steps = stepOf(axis, xAxis->range().upper) - stepOf(axis, xAxis->range().lower);
    const double perPixel = static_cast<double>(steps) / std::max(1, axisRect()->width());
    const double pixels = modifiers.testFlag(Qt::ShiftModifier) ? 10 : 1;
    const bool one = modifiers.testFlag(Qt::ControlModifier);
    const auto stride = one ? 1 : std::max<std::int64_t>(1, std::llround(perPixel * pixels));
    // The crosshair that was under the pointer goes on from there.
    const std::int64_t at = link_->crosshair() > 0 ? stepOf(axis, crosshairX()) : 0;
    link_->hover(0);
    std::int64_t to = 1;
    if (key == Qt::Key_Left) to = at - stride;
    if (key == Qt::Key_Right) to = at + stride;
    if (key == Qt::Key_End) to = last;
    link_->select(std::clamp<std::int64_t>(to, 1, last));
}

void LinePlot::showEvent(QShowEvent* event) {
    QCustomPlot::showEvent(event);
    dataGrew();
}

void LinePlot::hideEvent(QHideEvent* event) {
    QCustomPlot::hideEvent(event);
    link_->options()->drop(this);
}

void LinePlot::resizeEvent(QResizeEvent* event) {
    refresh();  // what the base class paints at once is then right
    QCustomPlot::resizeEvent(event);
    scheduler_->touch();
    dataGrew();
}

void LinePlot::paintEvent(QPaintEvent* event) {
    QCustomPlot::paintEvent(event);
    scheduler_->arm();  // what was asked for before the plot could be seen
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
