#pragma once

#include <QStyledItemDelegate>

#include "engine/instruments/skip_report.h"

namespace ui {

class Theme;

/// A skipped step in two lines: its number, its cause and what became of the scale, and below them
/// the tensor that broke.
class SkipDelegate final : public QStyledItemDelegate {
    Q_OBJECT
public:
    enum Role { StepRole = Qt::UserRole, CauseRole, ScalesRole, DetailRole, ToneRole };
    /// ToneRole: how the cause is drawn.
    enum Tone { unknown, benign, bad };

    SkipDelegate(const Theme* theme, QObject* parent)
        : QStyledItemDelegate(parent), theme_(theme) {}

    /// Step numbers get the room of this one, or of "8,888".
    void setWidestStep(const QString& step) { widestStep_ = step; }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

private:
    int stepWidth() const;
    void paintWords(QPainter& painter, const QRect& cell, const QModelIndex& index) const;

    const Theme* theme_;
    QString widestStep_;
};

}  // namespace ui
