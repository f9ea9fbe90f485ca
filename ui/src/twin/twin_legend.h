#pragma once

#include <QWidget>

namespace ui {

class Theme;
class TwinMap;

/// Legend of the shades of the map: a strip of them with a value at each end and between.
class TwinLegend final : public QWidget {
    Q_OBJECT
public:
    TwinLegend(const Theme* theme, const TwinMap* map, QWidget* parent = nullptr);
    void showAngle(bool angle);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int stripWidth() const;
    const Theme* theme_;
    const TwinMap* map_;
    bool angle_ = false;
};

}  // namespace ui
