#include "window/focus.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QPainter>
#include <algorithm>

#include "plots/line_plot.h"
#include "widgets/key_rule.h"

namespace ui {

namespace {

constexpr int sameLine = 12;  // pixels between the middles of two widgets in one line

bool isStop(const QWidget* widget, const QWidget* group) {
    if ((widget->focusPolicy() & Qt::TabFocus) == 0 || !widget->isEnabled()) return false;
    if (widget->focusProxy() != nullptr || widget->isWindow()) return false;
    // A floating dock is a window of its own with its own order.
    if (!widget->isVisible() || widget->window() != group->window()) return false;
    const QWidget* parent = widget->parentWidget();
    return qobject_cast<const QComboBox*>(parent) == nullptr &&
           qobject_cast<const QAbstractSpinBox*>(parent) == nullptr;
}

struct Stop {
    QWidget* widget;
    QPoint middle;
};

/// Sorted by line, then from left to right. A line is what lies within a few pixels of its first.
void sortByReading(std::vector<Stop>& stops) {
    std::stable_sort(stops.begin(), stops.end(),
                     [](const Stop& a, const Stop& b) { return a.middle.y() < b.middle.y(); });
    for (auto line = stops.begin(); line != stops.end();) {
        const auto end = std::find_if(line, stops.end(), [line](const Stop& stop) {
            return stop.middle.y() - line->middle.y() > sameLine;
        });
        std::stable_sort(line, end,
                         [](const Stop& a, const Stop& b) { return a.middle.x() < b.middle.x(); });
        line = end;
    }
}

}  // namespace

QList<QWidget*> readingOrder(const QList<QWidget*>& groups) {
    QList<QWidget*> order;
    for (QWidget* group : groups) {
        std::vector<Stop> stops;
        QList<QWidget*> columns;
        const auto inColumn = [&](const QWidget* widget) {
            return std::any_of(columns.begin(), columns.end(), [widget](const QWidget* column) {
                return column->isAncestorOf(widget);
            });
        };
        const auto add = [&](QWidget* widget) {
            if (isStop(widget, group))
                stops.push_back({widget, widget->mapTo(group->window(), widget->rect().center())});
        };
        add(group);
        for (auto* widget : group->findChildren<QWidget*>()) {
            if (inColumn(widget)) continue;
            add(widget);
            if (widget->property(readingGroup).toBool()) columns << widget;
        }
        sortByReading(stops);
        for (const Stop& stop : stops) order << stop.widget;
        std::stable_sort(columns.begin(), columns.end(), [group](QWidget* a, QWidget* b) {
            return a->mapTo(group->window(), QPoint()).x() <
                   b->mapTo(group->window(), QPoint()).x();
        });
        order << readingOrder(columns);
    }
    return order;
}

QWidget* neighbour(const QList<QWidget*>& order, QWidget* current, bool next) {
    if (order.isEmpty()) return nullptr;
    const auto at = order.indexOf(current);
    if (at < 0) return next ? order.front() : order.back();
    return order[(at + (next ? 1 : order.size() - 1)) % order.size()];
}

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
