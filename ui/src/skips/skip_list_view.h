#pragma once

#include <QLabel>
#include <QListWidget>
#include <QWidget>

#include "skips/skips_model.h"

namespace ui {

class Theme;

/// The skipped steps of the run with their causes, newest first, and a sentence that summarises
/// them. Selects a step for all pages. GUI thread.
class SkipListView final : public QWidget {
    Q_OBJECT
public:
    SkipListView(const Theme* theme, SkipsModel* model, QWidget* parent = nullptr);

private:
    void fill();
    void addRow(const engine::SkippedStep& step);
    QString scales(const engine::SkippedStep& step) const;
    void showSelected();
    QString summary() const;
    int selectedRow() const;

    SkipsModel* model_;
    QListWidget* list_;
    QLabel* summary_;
    bool filling_ = false;
};

}  // namespace ui
