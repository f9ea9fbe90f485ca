#pragma once

#include "theme/tokens.h"
#include "widgets/painted_widget.h"

namespace ui {

/// Colours of a format's bits; three that differ clearly in both themes.
struct BitColors {
    QColor sign;
    QColor exponent;
    QColor fraction;
};
BitColors bitColors(const Tokens& tokens, int exponentBits, int fractionBits);

/// The bits of a number format side by side: sign, exponent, fraction, in three colours.
class BitStrip final : public PaintedWidget {
    Q_OBJECT
public:
    BitStrip(Theme* theme, const QString& name, int exponentBits, int fractionBits,
             QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString name_;
    int exponent_;
    int fraction_;
};

}  // namespace ui
