#include "runs/runs_page.h"

#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QShortcut>
#include <QSplitter>

#include "commands/commands.h"
#include "commands/run_history.h"
#include "engine/base/error.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/run_table_model.h"
#include "panels/history/run_actions.h"
#include "panels/history/run_export.h"
#include "plots/plot_link.h"
#include "runs/delete_question.h"
#include "runs/filter_field.h"
#include "runs/run_details.h"
#include "runs/run_table.h"
#include "runs/run_table_columns.h"
#include "text/format.h"
#include "text/language.h"
#include "text/setting_text.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/flow_layout.h"
#include "widgets/panel.h"

namespace ui {

using Runs = std::vector<engine::RunSummary>;

namespace {

constexpr int answerAfter = 150;  // ms
constexpr int detailsWidth = 300;
constexpr int countsWidth = 84;

}  // namespace

QWidget* makeRunsPage(const Context& context, QWidget* parent) {
    return new RunsPage(context, parent);
}

RunsPage::RunsPage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), later_(new QTimer(this)) {
    auto* column = makeColumn(this, {}, size::gap);
    auto* card = makeCard(this);
    auto* list = makeColumn(card, {size::inside, size::gap, size::inside, size::gap}, size::gap);
    table_ = new RunTable(context_, card);
    list->addLayout(makeHead());
    problem_ = withName(makeProse({}, "bad", card), u"filterProblem"_s);
    problem_->setTextFormat(Qt::PlainText);
    problem_->hide();
    list->addWidget(problem_);
    list->addLayout(makeActions());
    question_ = new DeleteQuestion(context_, this);
    list->addWidget(question_);
    list->addWidget(table_, 1);
    details_ = new RunDetails(context_, this);
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setChildrenCollapsible(false);
    split->setHandleWidth(size::gap);
    addWidgets(split, {card, details_});
    split->setStretchFactor(0, 4);
    split->setStretchFactor(1, 1);
    details_->setMinimumWidth(detailsWidth * 3 / 4);
    split->setSizes({9 * detailsWidth / 4, detailsWidth});
    column->addWidget(split, 1);
    join();
    addShortcuts();
    refresh();
}

QLayout* RunsPage::makeHead() {
    auto* row = makeRow(size::gap);
    filter_ = withName(new FilterField(this), u"runFilter"_s);
    filter_->setClearButtonEnabled(true);
    filter_->setPlaceholderText(tr("Filter, such as \"Learning rate\">0.01 tag:sweep"));
    filter_->setAccessibleName(tr("Filter"));
    filter_->setToolTip(tr(
        "Words, or FIELD=VALUE, where = may also be != < <= > >= or ~ (contains). A dash in front "
        "negates. Fields are settings and results by their titles, in quotes if they have several "
        "words (\"Learning rate\">0.01), or as on the command line (lr>0.01). There are also "
        "tag:NAME and starred. Ctrl+F or / jumps here."));
    row->addWidget(filter_, 1);
    counts_ = makeLabel({}, "dim", this);
    counts_->setMinimumWidth(countsWidth);
    row->addWidget(counts_);
    grouped_ = new CheckBox(tr("Group comparisons"), this);
    grouped_->setToolTip(
        tr("Groups the runs of one comparison or sweep below a line of their own."));
    row->addWidget(grouped_);
    auto* columns = withName(new QPushButton(tr("Columns…"), this), u"columns"_s);
    auto* menu = new QMenu(columns);
    menu->setToolTipsVisible(true);
    columns->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        table_->columns()->fillMenu(menu);
    });
    row->addWidget(columns);
    return row;
}

void RunsPage::addAction(QLayout* row, const QString& name, const QString& text, const QString& tip,
                         decltype(Action::why) why, std::function<void()> act) {
    auto* button = new QPushButton(text, this);
    button->setObjectName(name);
    button->setToolTip(tip);
    button->setProperty("tip", tip);
    connect(button, &QPushButton::clicked, this, act);
    row->addWidget(button);
    actions_.push_back({button, text, std::move(why), std::move(act)});
}

QLayout* RunsPage::makeActions() {
    auto* row = new FlowLayout(nullptr, size::grid + 2);
    const auto any = [](const Runs& runs) {
        return runs.empty() ? tr("Select a run first.") : QString();
    };
    const auto one = [](const Runs& runs) {
        return runs.size() == 1 ? QString() : tr("Select one run.");
    };
    const auto oneThat = [one](QString (*whyNot)(const engine::RunSummary&)) {
        return [one, whyNot](const Runs& runs) {
            return runs.size() == 1 ? whyNot(runs.front()) : one(runs);
        };
    };
    addAction(row, u"openRun"_s, tr("Open"), tr("Shows the run on the Training page."), one,
              [this] { showOnPlots(); });
    addAction(
        row, u"overlayRuns"_s, tr("Overlay"), tr("Overlays the selected runs."),
        [](const Runs& runs) {
            return runs.size() > 1 ? QString() : tr("Select two runs or more.");
        },
        [this] { showOnPlots(); });
    addAction(row, u"repeatRun"_s, tr("Run again with changes"),
              tr("Puts the settings of the run into the panel on the left."),
              oneThat(whyNotRepeated), [this] { repeat(); });
    addAction(row, u"resumeRun"_s, tr("Resume"),
              tr("Continues from the last checkpoint; a comparison as a whole."),
              [](const Runs& runs) { return whyNotResumed(runs); }, [this] { resume(); });
    addAction(row, u"exportRuns"_s, tr("Export…"),
              tr("One run in any form; several as CSV of their steps, or whole in one file."), any,
              [this] { exportChosen(); });
    addAction(row, u"reportRuns"_s, tr("Report…"),
              tr("Settings, curves and verdict as a web page or PDF."), any, [this] { report(); });
    addAction(row, u"freeCheckpoints"_s, tr("Free checkpoints…"),
              tr("Deletes all checkpoints but the best and the last one of each run."), any,
              [this] { question_->askToFree(table_->chosen()); });
    addAction(row, u"deleteRuns"_s, tr("Delete…"), tr("Moves the runs to the trash."), any,
              [this] { question_->ask(table_->chosen()); });
    return row;
}

void RunsPage::join() {
    later_->setSingleShot(true);
    later_->setInterval(answerAfter);
    connect(later_, &QTimer::timeout, this, &RunsPage::applyFilter);
    connect(filter_, &QLineEdit::textChanged, later_, qOverload<>(&QTimer::start));
    connect(filter_, &FilterField::left, this, [this] {
        applyFilter();
        if (!problem_->isVisible()) table_->setFocus();
    });
    connect(grouped_, &QCheckBox::toggled, table_, &RunTable::setGrouped);
    grouped_->setChecked(QSettings().value(u"runs/grouped"_s, true).toBool());
    connect(table_, &RunTable::chosenChanged, this, &RunsPage::chosenChanged);
    connect(table_, &RunTable::openWanted, this, &RunsPage::showOnPlots);
    connect(table_, &RunTable::deleteWanted, this,
            [this] { question_->ask(table_->chosen()); });
    connect(question_, &DeleteQuestion::closed, table_, qOverload<>(&QWidget::setFocus));
    connect(table_, &RunTable::menuWanted, this, &RunsPage::openMenu);
    connect(context_.history, &RunHistory::changed, this, &RunsPage::refresh);
    connect(context_.history, &RunHistory::figuresChanged, this, [this] {
        table_->runs()->setFigures(context_.history->runs());
        details_->setRuns(table_->chosen());
    });
}

void RunsPage::addShortcuts() {
    for (const QKeySequence& keys :
         {QKeySequence(QKeySequence::Find), QKeySequence(Qt::Key_Slash)}) {
        auto* shortcut = new QShortcut(keys, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, [this] {
            filter_->setFocus(Qt::ShortcutFocusReason);
            filter_->selectAll();
        });
    }
}

void RunsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    context_.history->setWatched(true);
    context_.history->reload();
    if (window()->focusWidget() == nullptr || !isAncestorOf(window()->focusWidget()))
        table_->setFocus();
}

void RunsPage::hideEvent(QHideEvent* event) {
    context_.history->setWatched(false);
    QWidget::hideEvent(event);
}

void RunsPage::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && question_->isVisible())
        question_->dismiss();
    else
        QWidget::keyPressEvent(event);
}

void RunsPage::refresh() {
    auto* model = table_->runs();
    model->setRuns(context_.history->runs());
    std::vector<FilterName> names = filterNames(model->fields());
    names.insert(names.begin(), {{u"starred"_s, u"starred"_s}, {u"tag:"_s, u"tag:"_s}});
    filter_->setNames(names);
    // A new run may bring the metric that the filter asks for.
    if (problem_->isVisible()) return applyFilter();
    showCounts();
}

/// A filter that is wrong leaves the table as it is.
void RunsPage::applyFilter() {
    later_->stop();
    auto* model = table_->runs();
    const std::vector<FilterName> names = filterNames(model->fields());
    try {
        const QString text = filterWithKeys(filter_->text(), names);
        model->setFilter(engine::RunQuery(text.toStdString(), model->fields()));
        problem_->hide();
        restyle(filter_, "refused", false);
    } catch (const engine::Error& error) {
        problem_->setText(joined({engineText(messageWithTitles(error.message(), names)) + u"."_s,
                                  engineText(messageWithTitles(error.hint(), names))}));
        problem_->show();
        restyle(filter_, "refused", true);
    }
    showCounts();
}

void RunsPage::showCounts() {
    const auto* model = table_->runs();
    const auto shown = static_cast<std::int64_t>(model->shownCount());
    const auto all = static_cast<std::int64_t>(model->runCount());
    counts_->setText(shown == all ? tr("%1 runs").arg(count(all))
                                  : tr("%1 of %2 runs").arg(count(shown), count(all)));
    table_->setEmptyText(all == 0 ? tr("Every run is saved and listed here.")
                                  : tr("No run matches the filter."));
}

void RunsPage::chosenChanged() {
    const Runs runs = table_->chosen();
    for (const Action& action : actions_) {
        const QString why = action.why(runs);
        action.button->setEnabled(why.isEmpty());
        action.button->setToolTip(why.isEmpty() ? action.button->property("tip").toString() : why);
    }
    details_->setRuns(runs);
}

void RunsPage::openMenu(const QPoint& global) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const Runs runs = table_->chosen();
    for (const Action& each : actions_) {
        auto* action = menu->addAction(each.text);
        action->setEnabled(each.why(runs).isEmpty());
        connect(action, &QAction::triggered, this, each.act);
    }
    menu->addSeparator();
    auto* rename = menu->addAction(tr("Rename"));
    rename->setEnabled(table_->canRename());
    connect(rename, &QAction::triggered, table_, &RunTable::renameCurrent);
    auto* star = menu->addAction(tr("Star on or off"));
    star->setEnabled(!runs.empty());
    connect(star, &QAction::triggered, table_, &RunTable::toggleStars);
    menu->popup(global);
}

engine::RunSummary RunsPage::single() const {
    const Runs runs = table_->chosen();
    return runs.size() == 1 ? runs.front() : engine::RunSummary{};
}

void RunsPage::showOnPlots() {
    Runs runs = table_->chosen();
    if (runs.empty()) return;
    // Oldest first: the first of a comparison is its baseline.
    const auto place = [this](const engine::RunSummary& run) {
        const auto& all = *context_.history->runs();
        return all.end() - std::ranges::find(all, run.run, &engine::RunSummary::run);
    };
    std::ranges::sort(runs, {}, place);
    try {
        for (const auto& run : runs) context_.feed->setHidden(run.run, false);
        context_.feed->showStored(runs);
    } catch (const engine::Error& error) {
        return context_.commands->report(error);
    }
    for (const auto& track : context_.feed->tracks()) {
        if (track->run() == runs.front().run) context_.link->selectRun(track);
    }
    context_.commands->showPage(u"training"_s);
}

void RunsPage::resume() {
    auto* commands = context_.commands;
    const auto show = [commands](bool begun) {
        if (begun) commands->showPage(u"training"_s);
    };
    const Runs runs = table_->chosen();
    if (runs.size() > 1)
        resumeTogether(context_, runs, show);
    else
        resumeOrAsk(this, commands, single(), show);
}

void RunsPage::repeat() { context_.commands->editSettings(single().config); }

void RunsPage::exportChosen() {
    const Runs runs = table_->chosen();
    if (runs.size() == 1)
        exportRun(this, context_.commands, runs.front());
    else if (!runs.empty())
        exportRuns(this, context_.commands, runs);
}

void RunsPage::report() {
    exportReport(this, context_.commands, context_.feed->store(), table_->chosen());
}

}  // namespace ui
