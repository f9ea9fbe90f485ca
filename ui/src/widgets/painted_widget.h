#pragma once

#include <QWidget>

#include "theme/theme.h"

namespace ui {

/// A widget that paints itself in the theme's colours, and once more when the theme changes.
class PaintedWidget : public QWidget {
public:
    QSize sizeHint() const override { return usual_.isValid() ? usual_ : QWidget::sizeHint(); }
    QSize minimumSizeHint() const override {
        return least_.isValid() ? least_ : QWidget::minimumSizeHint();
    }

protected:
    /// Sizes that are given replace those of the layout.
    explicit PaintedWidget(const Theme* theme, QWidget* parent, QSize usual = {}, QSize least = {})
        : QWidget(parent), theme_(theme), usual_(usual), least_(least) {
        connect(theme, &Theme::changed, this, qOverload<>(&QWidget::update));
    }

    const Theme* theme_;

private:
    QSize usual_, least_;
};

}  // namespace ui
