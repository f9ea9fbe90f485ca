#include "pages/training_page.h"

#include "panels/frame/guide_card.h"
#include "panels/step/sample_strip.h"
#include "panels/verdict/run_cards.h"
#include "panels/verdict/verdict_bar.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

TrainingPage::TrainingPage(const Context& context, QWidget* parent)
    : QWidget(parent), cards_(new RunCards(context, this)), plots_(new QMainWindow(this)) {
    plots_->setWindowFlags(Qt::Widget);  // the constructor always makes it a window
    plots_->setAnimated(false);
    plots_->setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
    head_ = {new GuideCard(context, this), cards_, new VerdictBar(context, this),
             new SampleStrip(context, this)};
    auto* column = makeColumn(this, {}, size::gap);
    for (auto* part : head_) column->addWidget(part);
    column->addWidget(plots_, 1);
}

void TrainingPage::setLow(bool low) { cards_->setLow(low); }

QWidget* makeTrainingPage(const Context& context, QWidget* parent) {
    return new TrainingPage(context, parent);
}

}  // namespace ui
