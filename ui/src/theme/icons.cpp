#include "theme/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "theme/theme.h"

namespace ui {
namespace {

QPixmap draw(const QString& name, const QColor& color, int size, qreal scale) {
    QFile file(u":/icons/"_s + name + u".svg"_s);
    if (!file.open(QIODevice::ReadOnly)) return {};
    QByteArray svg = file.readAll();
    svg.replace("currentColor", color.name().toLatin1());
    QSvgRenderer renderer(svg);
    QPixmap pixmap(QSize(size, size) * scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    painter.end();
    pixmap.setDevicePixelRatio(scale);
    return pixmap;
}

QIcon inColors(const QString& name, const QColor& normal, const QColor& disabled) {
    QIcon icon;
    for (const qreal scale : {1.0, 2.0, 3.0}) {
        icon.addPixmap(iconPixmap(name, normal, size::icon, scale), QIcon::Normal);
        icon.addPixmap(iconPixmap(name, disabled, size::icon, scale), QIcon::Disabled);
    }
    return icon;
}

}  // namespace

QPixmap iconPixmap(const QString& name, const QColor& color, int size, qreal scale) {
    // Rows of a list ask at every paint; and Qt keeps a scaled copy for each new pixmap.
    const QString key = u"halftone/%1/%2/%3/%4"_s.arg(name, color.name()).arg(size).arg(scale);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap)) return pixmap;
    pixmap = draw(name, color, size, scale);
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

QIcon themedIcon(const Theme& theme, const QString& name) {
    const Tokens& t = theme.tokens();
    return inColors(name, t.text, blend(t.panel, t.dim, 0.65));
}

QIcon iconInside(const QWidget& field, const QString& name, int width) {
    // A smaller pixmap would be stretched.
    const qreal ratio = field.devicePixelRatioF();
    QPixmap icon(QSize(size::icon, size::icon) * ratio);
    icon.setDevicePixelRatio(ratio);
    icon.fill(Qt::transparent);
    QPainter painter(&icon);
    const int margin = (size::icon - width) / 2;
    painter.drawPixmap(
        margin, margin,
        iconPixmap(name, field.palette().color(QPalette::PlaceholderText), width, ratio));
    return QIcon(icon);
}

QIcon accentIcon(const Theme& theme, const QString& name) {
    const Tokens& t = theme.tokens();
    return inColors(name, t.onAccent, blend(t.panel, t.dim, 0.65));
}

}  // namespace ui
