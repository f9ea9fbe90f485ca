#pragma once

#include <QListView>

#include "models/event_model.h"
#include "view/context.h"

namespace ui {

class Panel;

/// The events, newest first. A click selects the step in all plots.
class EventPanel final : public QListView {
    Q_OBJECT
public:
    explicit EventPanel(const Context& context, QWidget* parent = nullptr);
    /// Puts the filter into the head.
    void attachTo(ui::Panel* panel);  // QFrame has a Panel too

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void choose(const QModelIndex& index);
    /// Marks the event of the selected step, of the selected run if there is one.
    void follow();
    bool isSelected(const QModelIndex& index) const;
    quintptr selectedRun() const;

    Context context_;
    EventModel* model_;
    EventFilter* filter_;
};

}  // namespace ui
