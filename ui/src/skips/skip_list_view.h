#pragma once

#include <QLabel>
#include <QListWidget>
#include <QWidget>

#include "skips/skips_model.h"

namespace ui {

class SkipDelegate;
class Theme;

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
