#include "skips/skips_page.h"

#include <QAction>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QSplitter>
#include <QVBoxLayout>

#include "feed/run_track.h"
#include "skips/sample_grid.h"
#include "skips/skip_list_view.h"
#include "skips/skip_verdict.h"
#include "skips/tensor_facts.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/card.h"
#include "widgets/elided_label.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::SkipReport;

QWidget* makeSkipsPage(const Context& context, QWidget* parent) {
    return new SkipsPage(context, parent);
}

SkipsPage::SkipsPage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), model_(new SkipsModel(context, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    column->addLayout(makeBar());
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->addWidget(makeList());
    split->addWidget(makeVerdict());
    split->addWidget(makeDetails());
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 4);
    split->setStretchFactor(2, 2);
    split->setChildrenCollapsible(false);
    split->setHandleWidth(size::gap);
    column->addWidget(split, 1);
    connect(model_, &SkipsModel::stepChanged, this, &SkipsPage::showStep);
    connect(model_, &SkipsModel::stateChanged, this, &SkipsPage::refreshState);
    showStep();
}

QLayout* SkipsPage::makeBar() {
    auto* row = new QHBoxLayout;
    row->setSpacing(size::gap);
    examine_ = new QPushButton(tr("Examine this step"), this);
    examine_->setObjectName(u"primary"_s);
    examine_->setToolTip(
        tr("Computes the step again from the newest checkpoint before it, with a check after every "
           "operation (R). Training waits for it; nothing of the run changes."));
    state_ = new ElidedLabel(this);
    state_->setProperty("role", u"dim"_s);
    arm_ = new QPushButton(tr("Arm"), this);
    arm_->setCheckable(true);
    arm_->setToolTip(
        tr("Examines the next skip as it happens, from the state before its update. On a GPU this "
           "costs a synchronisation a step."));
    connect(arm_, &QPushButton::toggled, model_, &SkipsModel::setArmed);
    capsule_ = new QPushButton(tr("Save as capsule…"), this);
    capsule_->setToolTip(
        tr("One file with all that it takes to compute the step again elsewhere: "
           "weights, optimizer, scaler, batch and settings (K)"));
    row->addWidget(examine_);
    row->addWidget(arm_);
    row->addWidget(state_, 1);
    row->addWidget(capsule_);
    const auto key = [this](Qt::Key which, QPushButton* button) {
        auto* action = new QAction(this);
        action->setShortcut(QKeySequence(which));
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        addAction(action);
        connect(action, &QAction::triggered, button, &QPushButton::click);
    };
    key(Qt::Key_R, examine_);
    key(Qt::Key_K, capsule_);
    connect(examine_, &QPushButton::clicked, model_, &SkipsModel::examine);
    connect(capsule_, &QPushButton::clicked, this, &SkipsPage::saveCapsule);
    return row;
}

Card* SkipsPage::makeList() {
    auto* card = new Card(tr("Skipped steps"), this);
    card->setMinimumWidth(150);
    card->addBody(new SkipListView(model_, card), 1);
    return card;
}

QWidget* SkipsPage::makeVerdict() {
    auto* verdict = new SkipVerdict(context_.theme, model_, this);
    connect(verdict, &SkipVerdict::withoutSampleWanted, this, [this] {
        if (const auto sample = samples_->sample()) model_->retry({.without = sample});
    });
    return verdict;
}

QWidget* SkipsPage::makeDetails() {
    auto* part = new QWidget(this);
    part->setMinimumWidth(180);
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    auto* tensor = new Card(tr("First non-finite tensor"), part);
    tensor->addBody(new TensorFacts(model_, tensor));
    column->addWidget(tensor);
    batch_ = new Card(tr("Batch"), part);
    samples_ = new SampleGrid(context_.theme, model_, batch_);
    batch_->addBody(samples_, 1);
    column->addWidget(batch_, 1);
    return part;
}

void SkipsPage::showStep() {
    const SkipReport* report = model_->report();
    batch_->setNote(
        report == nullptr || report->samples.empty()
            ? QString()
            : tr("%1 samples, largest share first").arg(count(std::ssize(report->samples))));
    refreshState();
}

void SkipsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    model_->setVisible(true);
}

void SkipsPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    model_->setVisible(false);
}

void SkipsPage::refreshState() {
    const bool any = model_->step() != nullptr;
    examine_->setEnabled(any && !model_->busy());
    examine_->setText(model_->report() == nullptr ? tr("Examine this step")
                                                  : tr("Examine it again"));
    capsule_->setEnabled(any && !model_->busy());
    const SkipReport* const seen = model_->report();
    capsule_->setText(seen == nullptr || seen->capsule_bytes == 0
                          ? tr("Save as capsule…")
                          : tr("Save as capsule… %1").arg(bytes(seen->capsule_bytes)));
    arm_->setVisible(model_->needsArming());
    QString text;
    if (model_->busy())
        text = tr("Computing the step again…");
    else if (!model_->problem().isEmpty())
        text = model_->problem();
    else if (const auto* report = model_->report())
        text = tr("computed again with a check after each of %1 operations, on %2")
                   .arg(count(report->operations), QString::fromStdString(report->device));
    const QString watch = watchText();
    if (!watch.isEmpty() && model_->problem().isEmpty())
        text = text.isEmpty() ? watch : watch + u" · "_s + text;
    state_->setText(text);
}

QString SkipsPage::watchText() const {
    if (model_->needsArming())
        return model_->watches()
                   ? tr("armed: found_inf is read before the update, a synchronisation a step")
                   : tr("not armed: weights have moved; arm to catch the next one");
    return model_->watches() ? tr("watching: a fault is examined before the next step") : QString();
}

void SkipsPage::saveCapsule() {
    const auto* step = model_->step();
    if (step == nullptr) return;
    const QString name = u"step-%1.capsule.safetensors"_s.arg(step->step);
    const QString file = QFileDialog::getSaveFileName(this, tr("Save as capsule"), name,
                                                      tr("Capsules (*.safetensors)"));
    model_->saveCapsule(file);
}

}  // namespace ui
