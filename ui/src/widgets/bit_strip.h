#pragma once

#include <QWidget>

namespace ui {

class Theme;

/// The bits of a number format side by side: sign, exponent, fraction, in three colours.
class BitStrip final : public QWidget {
    Q_OBJECT
public:
    BitStrip(Theme* theme, const QString& name, int exponentBits, int fractionBits,
             QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Theme* theme_;
    QString name_;
    int exponent_;
    int fraction_;
};

}  // namespace ui
