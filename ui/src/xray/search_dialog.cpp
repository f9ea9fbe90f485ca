#include "xray/search_dialog.h"

#include <QComboBox>
#include <QHeaderView>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeWidget>
#include <cmath>
#include <optional>

#include "commands/commands.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"
#include "xray/xray_model.h"

namespace ui {
namespace {

constexpr std::array tolerances{0.01, 0.02, 0.05, 0.1, 0.2};
constexpr std::array confirmations{0, 5, 20, 50, 100, 200, 500};
constexpr int usualSteps = 2;  // of them

QString keyList(const std::vector<std::string>& keys) {
    QStringList out;
    for (const std::string& key : keys) {
        // An operation outside all modules has no name before the colon.
        const QString text = QString::fromStdString(key);
        out << (text.startsWith(u':') ? text.mid(1) : text);
    }
    return out.join(u", "_s);
}

QString trialOutcome(const engine::PrecisionTrial& trial) {
    return trial.passed ? SearchDialog::tr("enough") : SearchDialog::tr("not enough");
}

}  // namespace

SearchDialog::SearchDialog(const Context& context, XrayModel* model, QWidget* parent)
    : QDialog(parent), context_(context), model_(model), job_(model->search()) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Find the smallest FP32 set"));
    auto* column =
        makeColumn(this, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    auto* what = makeLabel(
        tr("Starts with every operation in FP16 and looks for the fewest that must stay in FP32 "
           "for the gradients of one step to be accurate. Training goes on meanwhile, more "
           "slowly."),
        "dim", this);
    what->setWordWrap(true);
    addWidgets(column, {what, makeQuestion()});
    column->addWidget(makeTrials(), 1);
    column->addWidget(makeFoot());
    connect(job_, &SearchJob::progressed, this, &SearchDialog::showProgress);
    connect(job_, &SearchJob::ended, this, &SearchDialog::showEnd);
    connect(this, &QDialog::finished, model_, &XrayModel::endSearch);
    resize(720, 520);
    refreshButtons();
    showAsked();
}

/// Shows the question of a search that is older than the dialog.
void SearchDialog::showAsked() {
    if (!job_->asked()) return;
    const auto& [config, tolerance, steps] = *job_->asked();
    if (tolerance) tolerance_->setCurrentIndex(tolerance_->findData(*tolerance));
    confirm_->setCurrentIndex(confirm_->findData(static_cast<int>(steps)));
    if (!job_->running()) return showEnd();
    sayStart();
    showProgress();
    if (job_->stopping()) sayStopping();
}

void SearchDialog::sayStart() {
    progress_->setRange(0, 0);
    result_->setText(tr("Taking a copy of the step…"));
}

void SearchDialog::sayStopping() {
    cancel_->setEnabled(false);
    result_->setText(tr("Stopping: the trial in progress ends first."));
}

QWidget* SearchDialog::makeQuestion() {
    auto* part = new QWidget(this);
    auto* row = makeRow(part, {}, size::gap);
    tolerance_ = new ChoiceBox(part);
    tolerance_->addItem(tr("automatic"));
    for (const double each : tolerances) tolerance_->addItem(percent(each), each);
    tolerance_->setAccessibleName(tr("Largest gradient error"));
    tolerance_->setToolTip(tr("Automatic: %1, or a quarter more than AMP FP16 has by itself")
                               .arg(percent(engine::PrecisionSearchOptions::usual_tolerance)));
    confirm_ = new ChoiceBox(part);
    for (const int each : confirmations)
        confirm_->addItem(each == 0 ? tr("no") : tr("%1 steps").arg(count(each)), each);
    confirm_->setCurrentIndex(usualSteps);
    confirm_->setAccessibleName(tr("Steps of the confirming training"));
    confirm_->setToolTip(
        tr("Trains this many steps with the set and as many in FP32, from the start"));
    addWidgets(row, {makeLabel(tr("Largest gradient error"), "dim", part), tolerance_});
    row->addSpacing(size::inside);
    addWidgets(row, {makeLabel(tr("Confirm by training"), "dim", part), confirm_});
    row->addStretch();
    return part;
}

QWidget* SearchDialog::makeTrials() {
    auto* card = makeCard(this);
    auto* inside = makeColumn(card, {1, 1, 1, size::grid});
    trials_ = new QTreeWidget(card);
    trials_->setFrameShape(QFrame::NoFrame);
    trials_->setRootIsDecorated(false);
    trials_->setUniformRowHeights(true);
    trials_->setFont(Theme::caption());
    trials_->setAccessibleName(tr("Trials"));
    trials_->setHeaderLabels(
        {tr("trial"), tr("in FP32"), tr("gradient error"), tr("outcome"), tr("which")});
    trials_->header()->setFont(Theme::caption());
    trials_->header()->setStretchLastSection(true);
    inside->addWidget(trials_);
    return card;
}

QWidget* SearchDialog::makeFoot() {
    auto* part = new QWidget(this);
    auto* column = makeColumn(part, {}, size::gap);
    progress_ = new QProgressBar(part);
    progress_->setTextVisible(false);
    result_ = makeLabel({}, nullptr, part);
    result_->setFont(Theme::bold());
    result_->setWordWrap(true);
    result_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    evidence_ = makeLabel({}, "dim", part);
    evidence_->setWordWrap(true);
    addWidgets(column, {progress_, result_, evidence_});
    auto* row = makeRow(size::gap);
    row->addStretch();
    search_ = withName(new QPushButton(tr("Search"), part), u"primary"_s);
    search_->setDefault(true);
    cancel_ = new QPushButton(tr("Cancel"), part);
    keep_ = new QPushButton(tr("Keep for the run"), part);
    keep_->setToolTip(
        tr("Writes the set into precision.force of the run's settings, with AMP FP16: the next "
           "start uses it"));
    open_ = new QPushButton(tr("Open in Training"), part);
    auto* shut = new QPushButton(tr("Close"), part);
    for (QPushButton* button : {open_, keep_, search_, cancel_, shut}) row->addWidget(button);
    column->addLayout(row);
    open_->hide();
    connect(search_, &QPushButton::clicked, this, &SearchDialog::start);
    connect(cancel_, &QPushButton::clicked, this, [this] {
        job_->cancel();
        sayStopping();
    });
    connect(keep_, &QPushButton::clicked, this, [this] {
        model_->keep(*job_->found(), job_->asked()->config);
        keep_->setEnabled(false);
        open_->show();
    });
    connect(open_, &QPushButton::clicked, this, [this] {
        context_.commands->showPage(u"training"_s);
        close();
    });
    connect(shut, &QPushButton::clicked, this, &QDialog::close);
    return part;
}

void SearchDialog::refreshButtons() {
    const bool running = job_->running();
    tolerance_->setEnabled(!running);
    confirm_->setEnabled(!running);
    search_->setVisible(!running);
    search_->setText(trials_->topLevelItemCount() > 0 ? tr("Search again") : tr("Search"));
    cancel_->setVisible(running);
    cancel_->setEnabled(running);
    progress_->setVisible(running);
    keep_->setVisible(!running && job_->found());
    keep_->setEnabled(true);
}

void SearchDialog::start() {
    trials_->clear();
    open_->hide();
    evidence_->clear();
    sayStart();
    const QVariant asked = tolerance_->currentData();
    job_->start(model_->source(), model_->captured(),
                {model_->runConfig(),
                 asked.isValid() ? std::optional(asked.toDouble()) : std::nullopt,
                 confirm_->currentData().toInt()});
    refreshButtons();
}

void SearchDialog::showProgress() {
    const auto [trials, confirmed, toConfirm] = job_->progress();
    for (auto i = static_cast<std::size_t>(trials_->topLevelItemCount()); i < trials.size(); ++i) {
        auto* item = new QTreeWidgetItem(
            trials_, {QString::number(i + 1), count(std::ssize(trials[i].fp32)),
                      percent(trials[i].error), trialOutcome(trials[i]), keyList(trials[i].fp32)});
        item->setToolTip(4, keyList(trials[i].fp32));
        for (const int column : {0, 1, 2}) item->setTextAlignment(column, Qt::AlignRight);
        trials_->scrollToItem(item);
    }
    if (!job_->running() || !cancel_->isEnabled()) return;
    if (toConfirm > 0) {
        progress_->setRange(0, static_cast<int>(toConfirm));
        progress_->setValue(static_cast<int>(confirmed));
        result_->setText(left_.behind(tr("Confirming by a short training: step %1 of %2")
                                          .arg(count(confirmed), count(toConfirm)),
                                      static_cast<double>(confirmed) /
                                          static_cast<double>(toConfirm)));
    } else if (!trials.empty()) {
        result_->setText(tr("Trial %1: %2 operations in FP32, gradient error %3, %4")
                             .arg(count(std::ssize(trials)), count(std::ssize(trials.back().fp32)),
                                  percent(trials.back().error), trialOutcome(trials.back())));
    } else if (job_->step() > 0) {
        result_->setText(tr("Computing step %1 in FP32").arg(count(job_->step())));
    }
}

QString SearchDialog::resultText() const {
    const engine::FoundPrecision& found = *job_->found();
    if (found.fp32.empty())
        return tr("None of the %1 operations needs FP32.").arg(count(found.operations));
    return tr("Keep %1 of %2 operations in FP32: %3")
        .arg(count(std::ssize(found.fp32)), count(found.operations), keyList(found.fp32));
}

QString SearchDialog::evidenceText() const {
    const engine::FoundPrecision& found = *job_->found();
    QStringList said{tr("Step %1: the gradient error is %2, within %3, found in %4 trials.")
                         .arg(count(job_->step()), percent(found.error), percent(found.tolerance),
                              count(std::ssize(found.trials)))};
    if (std::isfinite(found.amp_error))
        said << tr("AMP FP16 by itself has %1.").arg(percent(found.amp_error));
    if (!found.fp32.empty()) said << tr("Without any one of them it is above.");
    if (found.confirmed_steps > 0)
        said << tr("Trained for %1 steps: loss %2, in FP32 %3; %4 skipped.")
                    .arg(count(found.confirmed_steps), significant(found.loss, 4),
                         significant(found.fp32_loss, 4), count(found.skipped));
    return joined(said);
}

void SearchDialog::showEnd() {
    showProgress();
    result_->setText(job_->found() ? resultText() : job_->problem());
    evidence_->setText(job_->found() ? evidenceText() : QString());
    for (const int column : {0, 1, 2, 3}) trials_->resizeColumnToContents(column);
    refreshButtons();
}

}  // namespace ui
