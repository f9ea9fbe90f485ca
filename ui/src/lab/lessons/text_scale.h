#pragma once

#include <QWidget>

namespace ui {

/// Enlarges the text of all widgets within `root`, each once; call it again after adding widgets.
/// Setting a font on `root` alone has no effect on them, because of the application's style sheet.
inline void scaleTexts(QWidget* root, double scale) {
    if (scale == 1) return;
    for (auto* widget : root->findChildren<QWidget*>()) {
        if (widget->property("scaled").toBool()) continue;
        widget->setProperty("scaled", true);
        QFont font = widget->font();
        font.setPointSizeF(font.pointSizeF() * scale);
        widget->setFont(font);
    }
}

}  // namespace ui
