#pragma once

#include <QStyledItemDelegate>

namespace ui {

class Theme;

/// Types as chips and times as bars in the table of operations.
class OpDelegate final : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit OpDelegate(const Theme* theme, QObject* parent = nullptr);
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

private:
    void paintTypes(QPainter& painter, const QRect& area, const QStringList& types) const;
    void paintTime(QPainter& painter, const QRect& area, const QModelIndex& index) const;

    const Theme* theme_;
};

/// The colour of a number type: that of the precision it stands for.
QColor typeColor(const Theme& theme, const QString& type);

}  // namespace ui
