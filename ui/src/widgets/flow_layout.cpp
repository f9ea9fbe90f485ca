#include "widgets/flow_layout.h"

#include <QWidget>

namespace ui {

FlowLayout::FlowLayout(QWidget* parent, int spacing) : QLayout(parent) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(spacing);
}

FlowLayout::~FlowLayout() {
    while (auto* item = takeAt(0)) delete item;
}

QLayoutItem* FlowLayout::takeAt(int index) {
    return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

QSize FlowLayout::minimumSize() const {
    QSize size;
    for (const auto* item : items_) size = size.expandedTo(item->minimumSize());
    return size;
}

void FlowLayout::setGeometry(const QRect& area) {
    QLayout::setGeometry(area);
    arrange(area, true);
}

int FlowLayout::arrange(const QRect& area, bool apply) const {
    int y = area.y();
    for (qsizetype first = 0; first < items_.size();) {
        int x = area.x(), height = 0;
        qsizetype next = first;
        for (; next < items_.size(); ++next) {
            const QSize wanted = items_[next]->sizeHint();
            if (next > first && x + wanted.width() > area.right() + 1) break;
            x += wanted.width() + spacing();
            height = std::max(height, wanted.height());
        }
        x = area.x();
        for (; first < next; ++first) {
            const QSize wanted = items_[first]->sizeHint();
            // Texts of several scripts and icons differ in height: their middles are in one line.
            const int top = y + (height - wanted.height()) / 2;
            if (apply) items_[first]->setGeometry(QRect(QPoint(x, top), wanted));
            x += wanted.width() + spacing();
        }
        y += height + (next < items_.size() ? spacing() : 0);
    }
    return y - area.y();
}

}  // namespace ui
