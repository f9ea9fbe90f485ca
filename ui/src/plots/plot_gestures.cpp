#include "plots/plot_gestures.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "plots/line_plot.h"
#include "plots/plot_options.h"

namespace ui {

namespace {

constexpr double dragStarts = 5;  // pixels
constexpr double panShare = 0.1;  // of what is visible, for a notch of the wheel or a key

}  // namespace

PlotGestures::PlotGestures(LinePlot* plot, PlotLink* link, PaintScheduler* scheduler)
    : QObject(plot), plot_(plot), link_(link), scheduler_(scheduler) {
    plot_->installEventFilter(this);
}

double PlotGestures::stepAt(double pixel) const {
    return link_->options()->stepOf(plot_->xAxis->pixelToCoord(pixel));
}

double PlotGestures::valueAt(double pixel) const { return plot_->yAxis->pixelToCoord(pixel); }

bool PlotGestures::eventFilter(QObject*, QEvent* event) {
    switch (event->type()) {
        case QEvent::MouseButtonPress:
            press(*static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseMove:
            move(*static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseButtonRelease:
            release(*static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseButtonDblClick:
            doubleClick(*static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::Wheel:
            turnWheel(*static_cast<QWheelEvent*>(event));
            return true;
        case QEvent::Leave:
            link_->hover(0);
            return false;
        case QEvent::KeyPress:
            return pressKey(*static_cast<QKeyEvent*>(event));
        default:
            return false;
    }
}

PlotGestures::Drag PlotGestures::dragOf(const QMouseEvent& event) {
    if (event.button() == Qt::MiddleButton) return Drag::pan;
    if (event.button() != Qt::LeftButton) return Drag::none;
    if (event.modifiers().testFlag(Qt::ShiftModifier)) return Drag::pan;
    return event.modifiers().testFlag(Qt::ControlModifier) ? Drag::values : Drag::steps;
}

void PlotGestures::press(const QMouseEvent& event) {
    drag_ = dragOf(event);
    if (drag_ == Drag::none) return;
    pressed_ = event.position();
    moved_ = pressed_;
    dragging_ = false;
    selectedBefore_ = link_->selected();
    runBefore_ = link_->run();
}

void PlotGestures::move(const QMouseEvent& event) {
    scheduler_->touch();
    const QRect area = plot_->axisRect()->rect();
    if ((event.buttons() & (Qt::LeftButton | Qt::MiddleButton)) != 0) {
        const QPointF way = event.position() - pressed_;
        dragging_ = dragging_ || std::abs(drag_ == Drag::values ? way.y() : way.x()) > dragStarts ||
                    (drag_ == Drag::pan && std::abs(way.y()) > dragStarts);
        if (dragging_) dragTo(event.position());
    }
    const bool inside = plot_->curves().longest() > 0 && area.contains(event.position().toPoint());
    const double x = stepAt(event.position().x());
    const std::int64_t step =
        inside ? std::clamp<std::int64_t>(std::llround(x), 1, plot_->curves().longest()) : 0;
    if (step == link_->hovered() && dragging_) plot_->layer(QStringLiteral("overlay"))->replot();
    link_->hover(step);
}

void PlotGestures::release(const QMouseEvent& event) {
    const Drag drag = std::exchange(drag_, Drag::none);
    if (drag == Drag::none || std::exchange(doubled_, false)) return;
    const QRectF dragged = plot_->scene().dragged;
    plot_->markDragged({});
    if (drag == Drag::values && dragging_ && dragged.height() > dragStarts) {
        link_->zoomValues(plot_, {valueAt(dragged.bottom()), valueAt(dragged.top())});
    } else if (drag == Drag::steps && dragging_ && dragged.width() > dragStarts) {
        link_->zoom(stepAt(dragged.left()), stepAt(dragged.right()));
    } else if (event.button() == Qt::LeftButton && !dragging_ && plot_->curves().longest() > 0 &&
               plot_->axisRect()->rect().contains(pressed_.toPoint())) {
        const auto run = runForClick(pressed_);
        const std::int64_t step =
            plot_->axes().stepOf(plot_->axisOf(run), plot_->xAxis->pixelToCoord(pressed_.x()));
        link_->select(std::clamp<std::int64_t>(step, 1, plot_->curves().longest()), run);
    }
    dragging_ = false;
    scheduler_->touch();
    plot_->layer(QStringLiteral("overlay"))->replot();
}

void PlotGestures::dragTo(const QPointF& at) {
    const QRectF area = plot_->axisRect()->rect();
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
    plot_->markDragged(box);
}

void PlotGestures::panBy(const QPointF& pixels) {
    const double left = plot_->axisRect()->left();
    link_->pan(stepAt(left - pixels.x()) - stepAt(left));
    // The values move only where a part of them is shown: all of them are always in view.
    if (!link_->values(plot_)) return;
    const QRect area = plot_->axisRect()->rect();
    link_->zoomValues(plot_, {valueAt(area.bottom() + 1 - pixels.y()),
                              valueAt(area.top() - pixels.y())});
}

void PlotGestures::zoomValuesAround(double pixel, double factor) {
    const QRect area = plot_->axisRect()->rect();
    const double top = pixel - (pixel - area.top()) * factor;
    const double bottom = pixel + (area.bottom() + 1 - pixel) * factor;
    link_->zoomValues(plot_, {valueAt(bottom), valueAt(top)});
}

std::shared_ptr<const void> PlotGestures::runForClick(const QPointF& pixel) const {
    if (auto near = plot_->curves().runAt(pixel)) return near;
    if (auto selected = link_->run()) return selected;
    // One moment is another step of each run: the step is that of the run that leads the axis.
    const RowAxis* reference = link_->options()->reference();
    for (const Curve& curve : plot_->content().curves) {
        if (plot_->axes().xKind() != XKind::step && curve.x == reference) return curve.owner;
    }
    return nullptr;
}

void PlotGestures::doubleClick(const QMouseEvent& event) {
    if (event.button() != Qt::LeftButton) return;
    scheduler_->touch();
    doubled_ = true;
    link_->select(selectedBefore_, runBefore_.lock());  // the first click was no choice of a step
    link_->fit();
}

void PlotGestures::turnWheel(QWheelEvent& event) {
    scheduler_->touch();
    // Some systems turn the wheel sideways while Shift is held.
    const QPoint turned = event.angleDelta();
    const double notches = (turned.y() != 0 ? turned.y() : turned.x()) / 120.0;
    if (event.modifiers().testFlag(Qt::ControlModifier)) {
        zoomValuesAround(event.position().y(), std::pow(0.8, notches));
        event.accept();
        return;
    }
    if (event.modifiers().testFlag(Qt::ShiftModifier)) {
        link_->pan(-notches * panShare * (link_->high() - link_->low()));
        event.accept();
        return;
    }
    link_->zoomAround(stepAt(event.position().x()), std::pow(0.8, notches));
    event.accept();
}

bool PlotGestures::pressKey(const QKeyEvent& event) {
    scheduler_->touch();
    const auto at = static_cast<double>(std::max<std::int64_t>(1, link_->crosshair()));
    switch (event.key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Home:
        case Qt::Key_End:
            moveSelection(event.key(), event.modifiers());
            return true;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
        case Qt::Key_Minus: {
            const double factor = event.key() == Qt::Key_Minus ? 1.25 : 0.8;
            if (event.modifiers().testFlag(Qt::AltModifier))
                zoomValuesAround(plot_->axisRect()->rect().center().y(), factor);
            else
                link_->zoomAround(at, factor);
            return true;
        }
        case Qt::Key_0:
            link_->fit();
            return true;
        case Qt::Key_PageUp:
        case Qt::Key_PageDown: {
            const double way = event.key() == Qt::Key_PageUp ? -5 : 5;
            link_->pan(way * panShare * (link_->high() - link_->low()));
            return true;
        }
        case Qt::Key_Backspace:
            link_->back();
            return true;
        default:
            return false;
    }
}

void PlotGestures::moveSelection(int key, Qt::KeyboardModifiers modifiers) {
    const std::int64_t last = plot_->curves().longest();
    if (last == 0) return;
    // One pixel's worth of steps: a smaller stride would be invisible.
    const RowAxis* axis = plot_->axisOf(link_->run());
    const QCPRange range = plot_->xAxis->range();
    const auto steps =
        plot_->axes().stepOf(axis, range.upper) - plot_->axes().stepOf(axis, range.lower);
    // The crosshair that was under the pointer goes on from there.
    const std::int64_t at =
        link_->crosshair() > 0 ? plot_->axes().stepOf(axis, plot_->crosshairX()) : 0;
    double perPixel = static_cast<double>(steps) / std::max(1, plot_->axisRect()->width());
    if (plot_->axes().isLogX())
        perPixel = static_cast<double>(std::max<std::int64_t>(1, at)) *
                   std::log(range.upper / range.lower) / std::max(1, plot_->axisRect()->width());
    const double pixels = modifiers.testFlag(Qt::ShiftModifier) ? 10 : 1;
    const bool one = modifiers.testFlag(Qt::ControlModifier);
    const auto stride = one ? 1 : std::max<std::int64_t>(1, std::llround(perPixel * pixels));
    link_->hover(0);
    std::int64_t to = 1;
    if (key == Qt::Key_Left) to = at - stride;
    if (key == Qt::Key_Right) to = at + stride;
    if (key == Qt::Key_End) to = last;
    link_->select(std::clamp<std::int64_t>(to, 1, last));
}

}  // namespace ui
