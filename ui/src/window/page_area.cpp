#include "window/page_area.h"

#include <QApplication>

namespace ui {

namespace {

constexpr QSize leastPage = {400, 240};

}  // namespace

PageArea::PageArea(QWidget* pages, QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    setWidget(pages);
    viewport()->setAutoFillBackground(false);
    pages->setAutoFillBackground(false);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (now != nullptr && widget()->isAncestorOf(now)) ensureWidgetVisible(now, 0, 0);
    });
}

QSize PageArea::minimumSizeHint() const { return widget()->minimumSizeHint().boundedTo(leastPage); }

QSize PageArea::sizeHint() const { return widget()->sizeHint(); }

}  // namespace ui
