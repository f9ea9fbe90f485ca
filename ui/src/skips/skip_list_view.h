#pragma once

#include <QLabel>
#include <QListWidget>
#include <QWidget>

#include "skips/skips_model.h"

namespace ui {

/// The skipped steps of the run with their causes, the newest first, and a sentence on all of them.
/// Selects a step for all pages. GUI thread.
class SkipListView final : public QWidget {
    Q_OBJECT
public:
    explicit SkipListView(SkipsModel* model, QWidget* parent = nullptr);

private:
    void fill();
    void showSelected();
    QString summary() const;
    int selectedRow() const;

    SkipsModel* model_;
    QListWidget* list_;
    QLabel* summary_;
    bool filling_ = false;
};

}  // namespace ui
