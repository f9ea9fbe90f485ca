#include "skips/skip_list_view.h"

#include <QVBoxLayout>

#include "feed/run_track.h"
#include "skips/skip_delegate.h"
#include "skips/skip_text.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

SkipListView::SkipListView(const Theme* theme, SkipsModel* model, QWidget* parent)
    : QWidget(parent),
      model_(model),
      list_(new QListWidget(this)),
      summary_(makeLabel({}, "dim", this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setAccessibleName(tr("Skipped steps"));
    list_->setItemDelegate(new SkipDelegate(theme, list_));
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    summary_->setFont(Theme::caption());
    summary_->setWordWrap(true);
    summary_->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    column->addWidget(list_, 1);
    column->addWidget(summary_);
    connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
        // The newest stands first.
        if (!filling_ && row >= 0)
            model_->select(static_cast<int>(model_->skips().list.size()) - 1 - row);
    });
    connect(model_, &SkipsModel::listChanged, this, &SkipListView::fill);
    connect(model_, &SkipsModel::stepsCounted, this, [this] { summary_->setText(summary()); });
    connect(model_, &SkipsModel::stepChanged, this, &SkipListView::showSelected);
    fill();
}

int SkipListView::selectedRow() const {
    return model_->current() < 0
               ? -1
               : static_cast<int>(model_->skips().list.size()) - 1 - model_->current();
}

void SkipListView::fill() {
    filling_ = true;
    list_->clear();
    const auto& skips = model_->skips();
    for (auto step = skips.list.rbegin(); step != skips.list.rend(); ++step) {
        addRow(*step);
    }
    if (selectedRow() >= 0) list_->setCurrentRow(selectedRow());
    filling_ = false;
    summary_->setText(summary());
}

/// The scale of the step, and that of the next step if it differs.
QString SkipListView::scales(const engine::SkippedStep& step) const {
    const QString now = powerOfTwo(step.loss_scale);
    const auto& track = model_->track();
    if (!track || step.step >= track->rows()) return now;
    const auto next = static_cast<double>(track->at(step.step + 1).loss_scale);
    return next == step.loss_scale ? now : now + u" → "_s + powerOfTwo(next);
}

void SkipListView::addRow(const engine::SkippedStep& step) {
    const QString cause = causeTitle(step), detail = tensorText(step);
    auto* item = new QListWidgetItem(
        u"%1: %2, %3"_s.arg(count(step.step), cause, scales(step)));  // for screen readers
    const bool examined = step.report.has_value();
    item->setData(SkipDelegate::StepRole, count(step.step));
    item->setData(SkipDelegate::CauseRole, examined ? cause : scales(step));
    item->setData(SkipDelegate::ScalesRole, examined ? scales(step) : QString());
    item->setData(SkipDelegate::DetailRole, examined ? detail : cause);
    const bool benign =
        examined && step.skipped && step.report->cause == engine::SkipCause::scale_too_large;
    const bool found = examined && step.report->cause != engine::SkipCause::unknown;
    item->setData(SkipDelegate::ToneRole, benign                   ? SkipDelegate::benign
                                          : found || !step.skipped ? SkipDelegate::bad
                                                                   : SkipDelegate::unknown);
    list_->addItem(item);
}

void SkipListView::showSelected() {
    if (list_->currentRow() == selectedRow()) return;
    filling_ = true;
    list_->setCurrentRow(selectedRow());
    filling_ = false;
}

QString SkipListView::summary() const {
    const auto& skips = model_->skips();
    if (skips.steps == 0) return tr("Start a run, or open one with skipped steps.");
    const std::int64_t newer = model_->newerSteps(), steps = skips.steps + newer;
    if (skips.list.empty()) return tr("No skipped steps in %1.").arg(count(steps));
    QString text =
        tr("%1 of %2 steps, %3; %4 clean steps since the last.")
            .arg(count(std::ssize(skips.list)), count(steps),
                 percent(static_cast<double>(skips.list.size()) / static_cast<double>(steps)),
                 count(skips.clean_steps + newer));
    if (!skips.recurring.empty())
        text += u' ' + tr("Sample %1 is a suspect in %2 of them.")
                           .arg(count(skips.recurring.front().sample),
                                count(std::ssize(skips.recurring.front().steps)));
    return text;
}

}  // namespace ui
