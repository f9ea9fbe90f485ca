#pragma once

#include <QList>
#include <QWidget>

class QWidget;

namespace ui {

/// The widgets that the Tab key visits, in reading order: group after group, within a group line by
/// line. Only visible and enabled ones.
QList<QWidget*> readingOrder(const QList<QWidget*>& groups);

/// The widget that Tab (or Shift+Tab, `next` false) goes to from `current`; null if there is none.
QWidget* neighbour(const QList<QWidget*>& order, QWidget* current, bool next);

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
