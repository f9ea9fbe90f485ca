#pragma once

#include <QStyledItemDelegate>

namespace ui {

class Theme;

/// A run in two lines: name and accuracy, then state and details in dim words; an eye at the left
/// says whether it is on the plots.
class RunDelegate final : public QStyledItemDelegate {
public:
    RunDelegate(const Theme* theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;
    /// Where a click shows or hides the run, in a row that takes this area.
    static QRect eye(const QRect& row);

private:
    void paintDetail(QPainter* painter, const QRect& line, const QModelIndex& index) const;

    const Theme* theme_;
};

}  // namespace ui
