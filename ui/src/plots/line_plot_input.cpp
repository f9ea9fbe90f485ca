// What hands and keys do on a plot.
#include <cmath>

#include "plots/line_plot.h"
#include "plots/plot_options.h"

namespace ui {

namespace {

constexpr double dragStarts = 5;  // pixels
constexpr double nearCurve = 12;  // pixels

}  // namespace

void LinePlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    pressed_ = event->position();
    dragging_ = false;
    selectedBefore_ = link_->selected();
    runBefore_ = link_->run();
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
    const double x = link_->options()->stepOf(xAxis->pixelToCoord(event->position().x()));
    const std::int64_t step = inside ? std::clamp<std::int64_t>(std::llround(x), 1, longest()) : 0;
    if (step == link_->hovered() && dragging_) layer(QStringLiteral("overlay"))->replot();
    link_->hover(step);
}

void LinePlot::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || std::exchange(doubled_, false)) return;
    const QRectF dragged = scene_.dragged;
    scene_.dragged = {};
    if (dragging_ && dragged.width() > dragStarts) {
        const auto* options = link_->options();
        link_->zoom(options->stepOf(xAxis->pixelToCoord(dragged.left())),
                    options->stepOf(xAxis->pixelToCoord(dragged.right())));
    } else if (!dragging_ && longest() > 0 && axisRect()->rect().contains(pressed_.toPoint())) {
        const auto run = runForClick(pressed_);
        const std::int64_t step = stepOf(axisOf(run), xAxis->pixelToCoord(pressed_.x()));
        link_->select(std::clamp<std::int64_t>(step, 1, longest()), run);
    }
    dragging_ = false;
    scheduler_->touch();
    layer(QStringLiteral("overlay"))->replot();
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
    const double notches = event->angleDelta().y() / 120.0;
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
            link_->zoomAround(at, 0.8);
            return;
        case Qt::Key_Minus:
            link_->zoomAround(at, 1.25);
            return;
        case Qt::Key_0:
            link_->fit();
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
