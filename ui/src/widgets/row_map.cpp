#include "widgets/row_map.h"

#include <QKeyEvent>
#include <algorithm>
#include <cmath>

namespace ui {

RowMap::RowMap(const Heights& heights, QWidget* parent)
    : QAbstractScrollArea(parent), heights_(heights) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

int RowMap::room() const {
    return std::max(1, viewport()->height() - heights_.head - heights_.foot);
}

void RowMap::setRows(const QStringList& names) {
    if (names != names_) {
        names_ = names;
        widest_ = 0;
        for (const QString& name : names_)
            widest_ = std::max(widest_, fontMetrics().horizontalAdvance(name));
    }
    layOut();
}

void RowMap::layOut() {
    verticalScrollBar()->setPageStep(room());
    verticalScrollBar()->setSingleStep(heights_.minRow);
    verticalScrollBar()->setRange(0, std::max(0, rowCount() * heights_.minRow - room()));
}

void RowMap::resizeEvent(QResizeEvent*) { layOut(); }

double RowMap::rowHeight() const {
    return std::clamp(static_cast<double>(room()) / std::max(1, rowCount()),
                      static_cast<double>(heights_.minRow),
                      static_cast<double>(heights_.maxRow));
}

double RowMap::topOf(int row) const {
    return heights_.head + row * rowHeight() - verticalScrollBar()->value();
}

double RowMap::footTop() const {
    return std::min(topOf(rowCount()), static_cast<double>(viewport()->height() - heights_.foot));
}

int RowMap::rowAt(double y) const {
    if (y < heights_.head || y >= heights_.head + room()) return -1;
    const int row = static_cast<int>((y - topOf(0)) / rowHeight());
    return row >= 0 && row < rowCount() ? row : -1;
}

int RowMap::firstInView() const {
    return static_cast<int>(verticalScrollBar()->value() / rowHeight());
}

int RowMap::lastInView() const {
    const double rows = (verticalScrollBar()->value() + room()) / rowHeight();
    return std::min(rowCount(), static_cast<int>(std::ceil(rows)));
}

void RowMap::scrollTo(int row) {
    const int top = static_cast<int>(row * rowHeight());
    const int bottom = static_cast<int>(std::ceil((row + 1) * rowHeight()));
    QScrollBar* bar = verticalScrollBar();
    bar->setValue(std::clamp(bar->value(), bottom - room(), top));
}

void RowMap::keyPressEvent(QKeyEvent* event) {
    const int page = std::max(1, static_cast<int>(room() / rowHeight()) - 1);
    int to = selectedRow();
    switch (event->key()) {
        case Qt::Key_Up:
            --to;
            break;
        case Qt::Key_Down:
            ++to;
            break;
        case Qt::Key_PageUp:
            to -= page;
            break;
        case Qt::Key_PageDown:
            to += page;
            break;
        case Qt::Key_Home:
            to = 0;
            break;
        case Qt::Key_End:
            to = rowCount() - 1;
            break;
        default:
            return QAbstractScrollArea::keyPressEvent(event);
    }
    if (rowCount() == 0) return;
    to = std::clamp(to, 0, rowCount() - 1);
    if (to != selectedRow()) selectRow(to);
    scrollTo(to);
}

}  // namespace ui
