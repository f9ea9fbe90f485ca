#pragma once

#include <QWidget>

namespace ui {

class MicroscopeModel;
class Theme;

/// Legend of the shades of the maps: how many of a layer's values have an exponent, up to the
/// exponent that most of them have.
class ShareLegend final : public QWidget {
    Q_OBJECT
public:
    ShareLegend(const Theme* theme, const MicroscopeModel* model, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme* theme_;
    const MicroscopeModel* model_;
};

}  // namespace ui
