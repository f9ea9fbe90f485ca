#pragma once

#include <QLabel>
#include <QWidget>

#include "view/context.h"

namespace ui {

/// Which precisions Compare runs, as chips that can be added and removed, and the bits of the
/// number formats that they use.
class PrecisionSection final : public QWidget {
    Q_OBJECT
public:
    explicit PrecisionSection(const Context& context, QWidget* parent = nullptr);

private:
    void refreshIfOther();
    void refresh();
    void addChip(const QString& preset, const QString& title);
    void addPlus();

    Context context_;
    QWidget* row_;
    QWidget* tf32_;
    QWidget* bf16_;
    QLabel* problem_;    ///< why the comparison cannot run
    QLabel* leftOut_;    ///< what is chosen for the precision of the single run alone
    QStringList shown_;  ///< presets and what stands against them, as on the chips
};

}  // namespace ui
