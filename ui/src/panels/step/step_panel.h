#pragma once

#include <QFormLayout>
#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <memory>

#include "engine/record/event.h"
#include "view/context.h"

namespace ui {

class ElidedLabel;
class Panel;
class RunTrack;

/// The selected step: its outcome explained in plain words, and its record. ‹ › go from skip to
/// skip.
class StepPanel final : public QWidget {
    Q_OBJECT
public:
    explicit StepPanel(const Context& context, QWidget* parent = nullptr);
    /// Puts title and the walking buttons into the head.
    void attachTo(Panel* panel);

private:
    void refresh();
    void refreshHead();
    void walk(int direction);
    static QString clockText(double seconds);
    QString maxSafeScale(const RunTrack& track, const engine::StepRecord& row) const;
    void fillTable(const RunTrack& track, std::int64_t step);

    Context context_;
    Panel* panel_ = nullptr;
    QLabel* reason_;
    QFrame* box_;
    QFormLayout* table_;
    ElidedLabel* soFar_ = nullptr;
    QToolButton* back_ = nullptr;
    QToolButton* forth_ = nullptr;
};

}  // namespace ui
