#include "tryit/evaluate_panel.h"

#include "commands/commands.h"
#include "engine/data/changed_data.h"
#include "feed/event_feed.h"
#include "text/language.h"
#include "theme/theme.h"
#include "tryit/detection_models.h"
#include "widgets/changed_data_dialog.h"
#include "widgets/page_export.h"
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
    tabs_->addTab(tr("Figures"));
    tabs_->addTab(tr("Precision and recall"));
    export_ = withName(new QPushButton(tr("Export…"), this), u"export"_s);
    connect(export_, &QPushButton::clicked, this, &EvaluatePanel::exportFigures);
    addWidgets(row, {go_, cancel_, export_});
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

/// All runs' figures, one below the other.
engine::Table EvaluatePanel::table() const {
    engine::Table out;
    for (std::size_t i = 0; i < views_.size(); ++i) {
        const SharedReport& report = views_[i]->report();
        if (!report || !report->detections) continue;
        engine::Table one = figureTable(*report->detections);
        if (out.columns.empty()) {
            out.columns = one.columns;
            out.columns.insert(out.columns.begin(), "run");
        }
        for (auto& row : one.rows) {
            row.insert(row.begin(), columns_->columns()[i]->model()->run());
            out.rows.push_back(std::move(row));
        }
    }
    return out;
}

void EvaluatePanel::exportFigures() {
    PageExport page;
    page.name = u"evaluation"_s;
    page.table = [this] { return table(); };
    page.plots = columns_;
    page.write = [this](const QString& file, FileWriter writer) {
        context_.commands->works()->write(file, std::move(writer));
    };
    exportPage(this, page);
}

/// A detector has other parts than a classifier.
void EvaluatePanel::showTabs() {
    bool detects = false, reported = false;
    for (std::size_t i = 0; i < views_.size(); ++i) {
        const auto& facts = columns_->columns()[i]->model()->facts();
        detects = detects || (facts && facts->form.kind == engine::InputForm::Kind::scene);
        reported = reported || (views_[i]->report() && views_[i]->report()->detections);
    }
    for (const ReportView::Part part : {ReportView::Figures, ReportView::Curves})
        tabs_->setTabVisible(part, detects);
    tabs_->setTabText(ReportView::Hardest, detects ? tr("Most errors") : tr("Largest loss"));
    export_->setVisible(reported);
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
        what,
        tr("With this data the figures are not those of the data that the run was trained "
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
    showTabs();
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
