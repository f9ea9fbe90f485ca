#pragma once

#include <QWidget>

namespace ui {

/// The ring around the plot of a window that has the focus, as the style sheet draws it around
/// other controls. Lies over the plot's edge and covers nothing else.
class FocusRing final : public QWidget {
    Q_OBJECT
public:
    explicit FocusRing(QWidget* window);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void follow(QWidget* focused);
    void cover();

    QWidget* window_;
};

}  // namespace ui
