#pragma once

#include <QScrollArea>

namespace ui {

/// Shows the pages, and scrolls a page that needs more room than there is, so that no page makes
/// the window larger than the screen. The widget with the focus is scrolled into view.
class PageArea final : public QScrollArea {
    Q_OBJECT
public:
    /// Takes ownership of `pages`.
    PageArea(QWidget* pages, QWidget* parent);
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;
};

}  // namespace ui
