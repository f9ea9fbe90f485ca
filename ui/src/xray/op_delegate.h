#pragma once

#include <QList>
#include <QPixmap>
#include <QStyledItemDelegate>

#include "xray/op_filter.h"

namespace ui {

class Theme;

/// Types as chips and times as bars in tables of operations.
class OpDelegate final : public QStyledItemDelegate {
    Q_OBJECT
public:
    /// `types`: columns with chips, by OpTree::typesRole. `time`: the one with bars; -1: none.
    OpDelegate(const Theme* theme, const QList<int>& types, int time, QObject* parent = nullptr);
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

protected:
    /// Marks forced operations in the column of the rules.
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    void paintTypes(QPainter& painter, const QRect& area, const QStringList& types) const;
    void paintTime(QPainter& painter, const QRect& area, const QModelIndex& index) const;

    const Theme* theme_;
    QList<int> types_;
    int time_;
};

/// A filled dot for what the user forced, a ring for what autocast decides, else nothing.
QPixmap forceMark(const Theme& theme, ForceMark mark);
/// The colour of a number type: that of the precision it stands for.
QColor typeColor(const Theme& theme, const QString& type);

}  // namespace ui
