#include "widgets/bit_strip.h"

#include <QPainter>


namespace ui {

namespace {

constexpr int nameWidth = 48;
constexpr int bitWidth = 6;
constexpr int bitHeight = 10;

}  // namespace

BitColors bitColors(const Tokens& t, int exponentBits, int fractionBits) {
    if (exponentBits == 5) return {t.bad, t.good, t.fp16};
    if (fractionBits == 10) return {t.bad, t.good, t.tf32};
    // BF16's own colour is a green too close to the exponent's.
    return {t.bad, t.good, t.fp32};
}

BitStrip::BitStrip(Theme* theme, const QString& name, int exponentBits, int fractionBits,
                   QWidget* parent)
    : PaintedWidget(theme, parent), name_(name), exponent_(exponentBits), fraction_(fractionBits) {
    setFixedHeight(bitHeight + 5);
    setAccessibleName(tr("%1: 1 sign bit, %2 exponent bits, %3 fraction bits")
                          .arg(name)
                          .arg(exponentBits)
                          .arg(fractionBits));
    setToolTip(accessibleName());
}

QSize BitStrip::sizeHint() const { return {nameWidth + 32 * bitWidth, bitHeight + 5}; }

void BitStrip::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setFont(Theme::caption());
    painter.setPen(t.dim);
    painter.drawText(QRect(0, 0, nameWidth, height()), Qt::AlignLeft | Qt::AlignVCenter, name_);
    const BitColors colors = bitColors(t, exponent_, fraction_);
    const int top = (height() - bitHeight) / 2;
    for (int bit = 0; bit < 1 + exponent_ + fraction_; ++bit) {
        const QColor color = bit == 0           ? colors.sign
                             : bit <= exponent_ ? colors.exponent
                                                : colors.fraction;
        painter.fillRect(QRect(nameWidth + bit * bitWidth, top, bitWidth - 1, bitHeight),
                         blend(t.panel, color, 0.8));
    }
}

}  // namespace ui
