#include "panels/queue/sweep_results.h"

#include <QHeaderView>
#include <QTableView>
#include <algorithm>
#include <cmath>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "engine/runs/sweep.h"
#include "feed/background_task.h"
#include "feed/event_feed.h"
#include "models/sweep_model.h"
#include "panels/queue/sweep_plot.h"
#include "text/language.h"
#include "text/setting_text.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr qsizetype maxLetters = 14;  // of a sweep's name in the list

struct Results {
    std::int64_t seeds = 1;
    std::vector<engine::SweepRow> rows;
};

Results read(const std::vector<engine::QueuedRun>& runs, const engine::RunStore& store) {
    const engine::SweepPlan plan = engine::to_sweep_plan(runs);
    return {plan.seeds, engine::sweep_rows(plan, runs, store)};
}

/// "Learning rate, Batch size": the fields that vary, but for the seed.
QString fieldsOf(const engine::QueuedRun& run) {
    QStringList fields;
    for (const QString& part : QString::fromStdString(run.entry.label).split(u' '))
        fields << settingTitle(part.section(u'=', 0, 0).toStdString());
    if (fields.size() > 1) fields.removeOne(settingTitle("seed"));
    return fields.join(u", "_s);
}

}  // namespace

SweepResults::SweepResults(const Context& context, QWidget* parent)
    : QFrame(parent),
      context_(context),
      model_(new SweepModel(this)),
      sweeps_(new ChoiceBox(this)),
      figure_(makeLabel({}, "dim", this)),
      plot_(new SweepPlot(context.theme, this)),
      empty_(makeProse(tr("Add a sweep to the queue and start it: its results appear here."), "dim",
                       this)) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {size::inside, size::gap, size::inside, size::gap}, size::gap);
    auto* head = new QHBoxLayout;
    auto* title = makeTitle(tr("Results"), nullptr, this);
    head->addWidget(title);
    sweeps_->setAccessibleName(tr("Sweep"));
    sweeps_->letShrink();  // names of sweeps may be long
    addWidgets(head, {sweeps_, figure_});
    head->addStretch();
    column->addLayout(head);
    column->addWidget(empty_);
    makeTable();
    column->addWidget(table_, 1);
    column->addWidget(plot_, 1);
    column->addStretch();
    connect(sweeps_, &QComboBox::activated, this, &SweepResults::readResults);
    connect(context_.queue, &QueueRunner::changed, this, &SweepResults::refreshSweeps);
    connect(context_.feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                if (std::holds_alternative<engine::RunDone>(event)) readResults();
            });
    refreshSweeps();
}

void SweepResults::makeTable() {
    table_ = makePlainTable(u"sweep"_s, model_, this);
    table_->setAccessibleName(tr("Results of the sweep"));
    auto* head = table_->horizontalHeader();
    head->setSectionResizeMode(QHeaderView::ResizeToContents);
    head->setSectionResizeMode(SweepModel::Settings, QHeaderView::Stretch);
    head->setHighlightSections(false);
}

void SweepResults::refreshSweeps() {
    runs_ = context_.queue->runs();
    QStringList batches;
    const QString chosen = sweeps_->currentData().toString();
    const int before = sweeps_->count();
    std::vector<const engine::QueuedRun*> firsts;
    for (const auto& run : runs_) {
        const QString batch = QString::fromStdString(run.entry.batch);
        if (batch.isEmpty() || batches.contains(batch)) continue;
        batches << batch;
        firsts.push_back(&run);
    }
    sweeps_->clear();
    qsizetype longest = 0;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
        const auto size = std::count_if(runs_.begin(), runs_.end(), [&](const auto& run) {
            return run.entry.batch == firsts[i]->entry.batch;
        });
        const QString name = tr("%1 (%2 runs)").arg(fieldsOf(*firsts[i])).arg(size);
        sweeps_->addItem(name, batches[static_cast<int>(i)]);
        longest = std::max(longest, name.size());
    }
    sweeps_->setMinimumContentsLength(static_cast<int>(std::min(longest, maxLetters)));
    const int kept = sweeps_->findData(chosen);
    sweeps_->setCurrentIndex(kept >= 0 && sweeps_->count() <= before ? kept : sweeps_->count() - 1);
    const bool any = sweeps_->count() > 0;
    sweeps_->setVisible(any);
    table_->setVisible(any);
    figure_->setVisible(any);
    plot_->setVisible(any);
    empty_->setVisible(!any);
    readResults();
}

void SweepResults::readResults() {
    if (!context_.feed->store() || sweeps_->count() == 0) return;
    if (reading_) {
        again_ = true;
        return;
    }
    reading_ = true;
    std::vector<engine::QueuedRun> chosen;
    const std::string batch = sweeps_->currentData().toString().toStdString();
    for (const auto& run : runs_) {
        if (run.entry.batch == batch) chosen.push_back(run);
    }
    inBackground(
        this,
        [chosen = std::move(chosen), store = context_.feed->store()] {
            return read(chosen, *store);
        },
        [this](Outcome<Results> found) {
            reading_ = false;
            if (found.error) {
                context_.commands->report(*found.error);
            } else {
                auto& [seeds, rows] = *found.result;
                model_->setRows(seeds, rows);
                figure_->setText(spaced(model_->figure()));
                const bool any = std::ranges::any_of(
                    rows, [](const auto& row) { return !std::isnan(row.best.mean); });
                plot_->setVisible(any);
                plot_->setRows(std::move(rows), model_->figure());
            }
            if (std::exchange(again_, false)) readResults();
        });
}

}  // namespace ui
