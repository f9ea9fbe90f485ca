#pragma once

#include <QListView>

#include "context.h"
#include "models/event_model.h"

namespace ui {

class Panel;

/// What happened, newest first. A click selects the step in all plots.
class EventPanel final : public QListView {
    Q_OBJECT
public:
    explicit EventPanel(const Context& context, QWidget* parent = nullptr);
    /// Puts the filter into the head.
    void furnish(ui::Panel* panel);  // QFrame has a Panel too

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void choose(const QModelIndex& index);
    void follow(std::int64_t step);

    Context context_;
    EventModel* model_;
    EventFilter* filter_;
};

}  // namespace ui
