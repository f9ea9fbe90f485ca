#pragma once

#include <QStyledItemDelegate>

namespace ui {

class Theme;

/// Column 0 of the table of runs: a star, the dot of the precision, number and name, and where
/// there is room the course of the loss. Other columns are plain texts; the state of a broken run
/// has its colour.
class RunTableDelegate final : public QStyledItemDelegate {
    Q_OBJECT
public:
    RunTableDelegate(const Theme* theme, QObject* parent)
        : QStyledItemDelegate(parent), theme_(theme) {}

    /// Where a click sets the star, in a cell that takes this area.
    static QRect star(const QRect& cell);

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;

private:
    void paintText(QPainter* painter, const QRect& cell, const QModelIndex& index) const;
    void paintRun(QPainter* painter, const QRect& cell, const QModelIndex& index) const;

    const Theme* theme_;
};

}  // namespace ui
