#include "widgets/bit_strip.h"

#include <QPainter>

#include "theme/theme.h"

namespace ui {

namespace {

constexpr int nameWidth = 48;
constexpr int bitWidth = 6;
constexpr int bitHeight = 10;

}  // namespace

BitStrip::BitStrip(Theme* theme, const QString& name, int exponentBits, int fractionBits,
                   QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      name_(name),
      exponent_(exponentBits),
      fraction_(fractionBits) {
    setFixedHeight(bitHeight + 5);
    setAccessibleName(tr("%1: 1 sign bit, %2 exponent bits, %3 fraction bits")
                          .arg(name)
                          .arg(exponentBits)
                          .arg(fractionBits));
    setToolTip(accessibleName());
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize BitStrip::sizeHint() const { return {nameWidth + 32 * bitWidth, bitHeight + 5}; }

void BitStrip::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setFont(Theme::caption());
    painter.setPen(t.dim);
    painter.drawText(QRect(0, 0, nameWidth, height()), Qt::AlignLeft | Qt::AlignVCenter, name_);
    const QColor fraction = exponent_ == 8 && fraction_ == 23 ? t.fp32
                            : exponent_ == 8                  ? t.ampBf16
                                                              : t.ampFp16;
    const int top = (height() - bitHeight) / 2;
    for (int bit = 0; bit < 1 + exponent_ + fraction_; ++bit) {
        const QColor color = bit == 0 ? t.bad : bit <= exponent_ ? t.good : fraction;
        painter.fillRect(QRect(nameWidth + bit * bitWidth, top, bitWidth - 1, bitHeight),
                         blend(t.panel, color, 0.8));
    }
}

}  // namespace ui
