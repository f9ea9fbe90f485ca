#pragma once

#include <QAbstractButton>

namespace ui {

class Theme;

/// A narrow column in place of the settings while they are hidden; a click anywhere on it shows
/// them again.
class SettingsRail final : public QAbstractButton {
    Q_OBJECT
public:
    explicit SettingsRail(const Theme* theme, QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    const Theme* theme_;
};

}  // namespace ui
