#include "tryit/random_ask.h"

#include <QPushButton>

#include "theme/theme.h"
#include "widgets/panel.h"
#include "widgets/picture_view.h"

namespace ui {
namespace {

constexpr int narrowestDrawing = 260;
constexpr std::int64_t pictures = 64;

}  // namespace

RandomAsk::RandomAsk(Theme* theme, const TriedModels& models, QWidget* parent)
    : QWidget(parent), theme_(theme) {
    auto* column = makeColumn(this, {}, size::gap);
    auto* row = new QHBoxLayout;
    auto* others = withName(new QPushButton(tr("Draw others"), this), u"others"_s);
    others->setToolTip(
        tr("Draws new pictures from other random numbers, the same for each model."));
    connect(others, &QPushButton::clicked, this, [this] {
        ++seed_;
        ask();
    });
    numbers_ = makeLabel({}, "dim", this);
    row->addWidget(others);
    row->addWidget(numbers_, 1);
    column->addLayout(row);
    columns_ = new RunColumns(theme_, models, narrowestDrawing, this);
    column->addWidget(columns_, 1);
    for (RunColumn* each : columns_->columns()) {
        auto* view = new PictureView(each);
        view->setMinimumHeight(narrowestDrawing);
        view->setAccessibleName(tr("Pictures of %1").arg(each->model()->title()));
        each->setBody(view);
        connect(each->model(), &TriedModel::changed, this, [this, each] { askOne(each); });
    }
    ask();
}

void RandomAsk::ask() {
    numbers_->setText(tr("Random numbers of seed %1").arg(seed_));
    for (RunColumn* column : columns_->columns()) askOne(column);
}

void RandomAsk::askOne(RunColumn* column) {
    if (!column->model()->facts()) return;
    column->ask(
        this, [seed = seed_](engine::TrainedModel& model) { return model.draw(pictures, seed); },
        [column](const engine::Picture& picture) {
            qobject_cast<PictureView*>(column->body())->setImage(toImage(picture));
        });
}

}  // namespace ui
