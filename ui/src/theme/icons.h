#pragma once

#include <QColor>
#include <QIcon>
#include <QPixmap>
#include <QString>
#include <QWidget>

namespace ui {

class Theme;

/// An icon of resources/icons in one colour. Does not throw; an unknown name gives an empty pixmap.
QPixmap iconPixmap(const QString& name, const QColor& color, int size, qreal scale);

/// An icon in the theme's text colour, dim where disabled.
QIcon themedIcon(const Theme& theme, const QString& name);
/// An icon for the inside of a field, dim, drawn `width` wide in the middle of an icon's room.
QIcon iconInside(const QWidget& field, const QString& name, int width);
/// An icon in the colour of text on the accent.
QIcon accentIcon(const Theme& theme, const QString& name);

}  // namespace ui
