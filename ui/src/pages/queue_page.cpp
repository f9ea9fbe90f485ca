// The page of the queue: what waits, a sweep to add to it, and what sweeps have found.
#include <QWidget>

#include "pages/registry.h"
#include "panels/queue/queue_panel.h"
#include "panels/queue/sweep_form.h"
#include "panels/queue/sweep_results.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

QWidget* makeQueuePage(const Context& context, QWidget* parent) {
    auto* page = new QWidget(parent);
    auto* row = makeRow(page, {}, size::gap);
    auto* asked = makeColumn(size::gap);
    asked->addWidget(new SweepForm(context, page));
    asked->addWidget(new QueuePanel(context, page), 1);
    row->addLayout(asked, 1);
    row->addWidget(new SweepResults(context, page), 1);
    return page;
}

}  // namespace ui
