#include "window/settings_rail.h"

#include <QCoreApplication>
#include <QPainter>

#include "theme/icons.h"
#include "theme/theme.h"

namespace ui {
namespace {

constexpr int railWidth = 30;
constexpr int iconTop = 8;
constexpr char16_t firstIdeograph = 0x2E80;

/// Scripts whose lines may run downwards keep their characters upright.
bool runsDownwards(const QString& text) {
    return !text.isEmpty() && text.front().unicode() >= firstIdeograph;
}

}  // namespace

SettingsRail::SettingsRail(const Theme* theme, QWidget* parent)
    : QAbstractButton(parent), theme_(theme) {
    setText(QCoreApplication::translate("Panels", "Settings"));
    setToolTip(tr("Show the settings"));
    setAccessibleName(toolTip());
    setFont(Theme::caption());
    setFixedWidth(railWidth);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize SettingsRail::sizeHint() const { return {railWidth, 120}; }

void SettingsRail::enterEvent(QEnterEvent* event) {
    QAbstractButton::enterEvent(event);
    update();
}

void SettingsRail::leaveEvent(QEvent* event) {
    QAbstractButton::leaveEvent(event);
    update();
}

void SettingsRail::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double border = hasFocus() ? 2 : size::border, inset = border / 2;
    painter.setPen(QPen(hasFocus() ? t.accent : t.line, border));
    painter.setBrush(underMouse() ? blend(t.panel, t.accent, 0.10) : t.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset),
                            size::panelRadius, size::panelRadius);
    themedIcon(*theme_, u"rail-open"_s)
        .paint(&painter, QRect((width() - size::icon) / 2, iconTop, size::icon, size::icon));
    painter.setPen(t.dim);
    const int top = iconTop + size::icon + size::gap, line = fontMetrics().height();
    if (runsDownwards(text())) {
        for (int i = 0; i < text().size(); ++i)
            painter.drawText(QRect(0, top + i * line, width(), line), Qt::AlignCenter,
                             text().mid(i, 1));
        return;
    }
    const int length = fontMetrics().horizontalAdvance(text()) + size::gap;
    painter.translate(0, top + length);
    painter.rotate(-90);
    painter.drawText(QRect(0, 0, length, width()), Qt::AlignCenter, text());
}

}  // namespace ui
