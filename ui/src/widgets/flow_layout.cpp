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
    int x = area.x();
    int y = area.y();
    int line = 0;
    for (auto* item : items_) {
        const QSize wanted = item->sizeHint();
        if (x > area.x() && x + wanted.width() > area.right() + 1) {
            x = area.x();
            y += line + spacing();
            line = 0;
        }
        if (apply) item->setGeometry(QRect(QPoint(x, y), wanted));
        x += wanted.width() + spacing();
        line = std::max(line, wanted.height());
    }
    return y + line - area.y();
}

}  // namespace ui
