#include "window/focus_ring.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>

#include "plots/line_plot.h"

namespace ui {

namespace {

constexpr int ring = 2;  // pixels, as in the style sheet

}  // namespace

FocusRing::FocusRing(QWidget* window) : QWidget(window), window_(window) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
    connect(qApp, &QApplication::focusChanged, this,
            [this](QWidget*, QWidget* now) { follow(now); });
}

void FocusRing::follow(QWidget* focused) {
    if (parentWidget() != window_) parentWidget()->removeEventFilter(this);
    auto* plot = qobject_cast<LinePlot*>(focused);
    if (plot == nullptr || !window_->isAncestorOf(plot)) {
        hide();
        setParent(window_);
        return;
    }
    setParent(plot);
    plot->installEventFilter(this);
    cover();
    show();
    raise();
}

void FocusRing::cover() {
    setGeometry(parentWidget()->rect());
    // The plot paints often: with the middle cut out, its paints do not paint this as well.
    setMask(QRegion(rect()) - QRegion(rect().adjusted(ring, ring, -ring, -ring)));
}

bool FocusRing::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && watched == parentWidget()) cover();
    return QWidget::eventFilter(watched, event);
}

void FocusRing::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Link));
}

}  // namespace ui
