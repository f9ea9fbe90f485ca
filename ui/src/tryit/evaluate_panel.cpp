#include "tryit/evaluate_panel.h"

#include "engine/data/changed_data.h"
#include "feed/event_feed.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/changed_data_dialog.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int narrowest = 300;
constexpr std::size_t hardest = 24;

}  // namespace

EvaluatePanel::EvaluatePanel(const Context& context, const TriedModels& models, QThreadPool* pool,
                             QWidget* parent)
    : QWidget(parent), context_(context), pool_(pool), workers_(models.size(), nullptr) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeControls());
    columns_ = new RunColumns(context_.theme, models, narrowest, this);
    column->addWidget(columns_, 1);
    for (RunColumn* each : columns_->columns()) {
        views_.push_back(new ReportView(context_.theme, each->model()->precision(), each));
        each->setBody(views_.back());
        connect(each->model(), &TriedModel::changed, this, &EvaluatePanel::refresh);
    }
    connect(tabs_, &QTabBar::currentChanged, this, [this](int part) {
        for (auto* view : views_) view->showPart(static_cast<ReportView::Part>(part));
    });
    connect(context_.feed, &EventFeed::stateChanged, this, &EvaluatePanel::refresh);
    refresh();
}

QLayout* EvaluatePanel::makeControls() {
    auto* rows = makeColumn(size::grid);
    auto* row = makeRow(size::gap);
    go_ = withName(new QPushButton(tr("Evaluate on the test part"), this), u"evaluate"_s);
    cancel_ = withName(new QPushButton(tr("Cancel"), this), u"cancel"_s);
    tabs_ = new QTabBar(this);
    tabs_->setExpanding(false);
    tabs_->setAccessibleName(tr("Parts of the report"));
    tabs_->addTab(tr("Confusion matrix"));
    tabs_->addTab(tr("By class"));
    tabs_->addTab(tr("Largest loss"));
    addWidgets(row, {go_, cancel_});
    row->addStretch(1);
    row->addWidget(tabs_);
    note_ = makeProse(tr("A run is training: evaluating shares the machine with it, and both get "
                         "slower meanwhile."),
                      "dim", this);
    connect(go_, &QPushButton::clicked, this, &EvaluatePanel::evaluate);
    connect(cancel_, &QPushButton::clicked, this, &EvaluatePanel::cancel);
    rows->addLayout(row);
    rows->addWidget(note_);
    return rows;
}

void EvaluatePanel::evaluate() {
    if (isEvaluating()) return;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (columns_->columns()[i]->model()->facts()) evaluateOne(i);
    }
    refresh();
}

void EvaluatePanel::evaluateOne(std::size_t index, bool acceptData) {
    RunColumn* column = columns_->columns()[index];
    ReportView* view = views_[index];
    column->showProblem({});
    view->setProgress(0);
    ++evaluating_;
    workers_[index] = column->model()->makeWorker(pool_, this);
    workers_[index]->ask(
        ModelWorker::Job::evaluate, this,
        [this, index, column, view, acceptData](engine::TrainedModel& model,
                                                const ModelWorker::Ticket& ticket) {
            const auto progress = [&](double share) {
                ticket.post([view, share] { view->setProgress(share); });
                return !ticket.stopped();
            };
            std::shared_ptr<const engine::PartReport> report;
            try {
                report = std::make_shared<const engine::PartReport>(
                    model.evaluate("test", hardest, progress, acceptData));
            } catch (const engine::ChangedData& changed) {
                return ticket.post([this, index, column, what = engineText(changed.message())] {
                    column->showProblem(what);
                    ended(index);
                    askAboutData(index, what);
                });
            }
            const ModelFacts facts = factsOf(model);
            ticket.post([this, index, column, view, report, facts] {
                view->show(report, facts);
                if (!report->notes.empty()) column->showProblem(engineText(report->notes.front()));
                ended(index);
            });
        },
        [this, index, column](const engine::Error& error) {
            column->showProblem(errorText(error));
            ended(index);
        });
}

void EvaluatePanel::askAboutData(std::size_t index, const QString& what) {
    auto* dialog = new ChangedDataDialog(
        what, tr("With this data the figures are not those of the data that the run was trained "
                 "on, and say so."),
        this);
    connect(dialog, &QDialog::accepted, this, [this, index] {
        if (workers_[index] != nullptr) return;  // it is evaluated again
        evaluateOne(index, true);
        refresh();
    });
    dialog->open();
}

void EvaluatePanel::cancel() {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (workers_[i] != nullptr) ended(i);
    }
}

void EvaluatePanel::ended(std::size_t index) {
    views_[index]->setProgress(-1);
    workers_[index]->stop(ModelWorker::Job::evaluate);
    workers_[index]->deleteLater();  // one of its reports may be under way
    workers_[index] = nullptr;
    --evaluating_;
    refresh();
}

void EvaluatePanel::refresh() {
    using engine::RunState;
    const RunState state = context_.feed->state();
    note_->setVisible(state == RunState::training || state == RunState::preparing ||
                      state == RunState::evaluating);
    bool any = false;
    for (const RunColumn* column : columns_->columns())
        any = any || column->model()->facts().has_value();
    // Disabling a focused button moves the focus to the next widget of the window.
    const bool focus = go_->hasFocus() || cancel_->hasFocus();
    go_->setEnabled(any && !isEvaluating());
    cancel_->setEnabled(isEvaluating());
    if (focus) (isEvaluating() ? cancel_ : go_)->setFocus();
}

}  // namespace ui
