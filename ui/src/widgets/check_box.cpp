#include "widgets/check_box.h"

#include <QPainter>
#include <QStyleOptionButton>

#include "theme/icons.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double radius = 3;
constexpr int tickMargin = 1;

}  // namespace

void CheckBox::paintEvent(QPaintEvent* event) {
    QCheckBox::paintEvent(event);  // the focus frame and the text; the box is empty in style_sheet
    QStyleOptionButton option;
    initStyleOption(&option);
    const QRect box = style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, this);
    const QPalette::ColorGroup group = isEnabled() ? QPalette::Normal : QPalette::Disabled;
    const QColor line = isChecked() ? palette().color(group, QPalette::Highlight)
                                    : palette().color(group, QPalette::PlaceholderText);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(line);
    painter.setBrush(isChecked() ? line : palette().color(QPalette::AlternateBase));
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    if (!isChecked()) return;
    const int tick = box.width() - 2 * tickMargin;
    painter.drawPixmap(box.topLeft() + QPoint(tickMargin, tickMargin),
                       iconPixmap(u"check"_s, palette().color(group, QPalette::HighlightedText),
                                  tick, devicePixelRatioF()));
}

}  // namespace ui
