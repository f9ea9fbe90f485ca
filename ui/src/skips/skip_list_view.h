#pragma once

#include <QLabel>
#include <QListWidget>
#include <QStyledItemDelegate>
#include <QWidget>

#include "engine/instruments/skip_report.h"
#include "skips/skips_model.h"

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

/// The skipped and non-finite steps of the run with their causes, in order: consecutive ones of one
/// cause in a row, of which it selects the first, and a sentence that summarises them. Selects a
/// step for all pages. GUI thread.
class SkipListView final : public QWidget {
    Q_OBJECT
public:
    SkipListView(const Theme* theme, SkipsModel* model, QWidget* parent = nullptr);

private:
    void fill();
    void addRow(const engine::SkipGroup& group);
    QString scales(const engine::SkipGroup& group) const;
    void showSelected();
    QString summary() const;
    int selectedRow() const;

    SkipsModel* model_;
    QListWidget* list_;
    QLabel* summary_;
    SkipDelegate* delegate_;
    std::vector<engine::SkipGroup> groups_;  ///< by row
    bool filling_ = false;
};

}  // namespace ui
