#include "panels/queue/queue_panel.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QUrl>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "engine/runs/cluster.h"
#include "engine/runs/queue_listing.h"
#include "engine/runs/run_group.h"
#include "engine/settings/command_line.h"
#include "models/queue_model.h"
#include "models/settings_model.h"
#include "panels/queue/cluster_dialog.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int refreshQueueEvery = 1000;  // ms: another process may train runs of the queue, too

bool hasEnded(const engine::QueuedRun& run) {
    using engine::QueueState;
    return run.state == QueueState::done || run.state == QueueState::failed ||
           run.state == QueueState::stopped;
}

/// The settings that differ from the defaults.
std::string labelOf(const engine::RunConfig& config) {
    std::string label;
    for (const auto& setting : engine::to_overrides(config))
        label += (label.empty() ? "" : " ") + setting;
    return label;
}

}  // namespace

QueuePanel::QueuePanel(const Context& context, QWidget* parent)
    : QFrame(parent), context_(context), model_(new QueueModel(this)) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {size::inside, size::gap, size::inside, size::gap}, size::gap);
    column->addWidget(makeHead());
    column->addLayout(makeWhere());
    makeTable();
    column->addWidget(table_, 1);
    note_ = withName(makeProse({}, "dim", this), u"queueNote"_s);
    note_->setTextFormat(Qt::PlainText);
    note_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    note_->hide();
    column->addWidget(note_);
    column->addLayout(makeEnd());
    connect(context_.queue, &QueueRunner::changed, this, &QueuePanel::refresh);
    connect(context_.settings, &SettingsModel::changed, this, &QueuePanel::refresh);
    auto* timer = new QTimer(this);
    timer->setInterval(refreshQueueEvery);
    connect(timer, &QTimer::timeout, this, [this] {
        if (isVisible()) refresh();
    });
    timer->start();
    refresh();
}

QWidget* QueuePanel::makeHead() {
    auto* head = new QWidget(this);
    auto* row = makeRow(head, {}, size::gap);
    auto* title = makeTitle(tr("Queue"), nullptr, head);
    row->addWidget(title);
    counts_ = makeLabel({}, "dim", head);
    row->addWidget(counts_);
    row->addStretch();
    add_ = new QPushButton(tr("Add these settings"), head);
    add_->setToolTip(tr("Adds a run with the settings on the left to the end of the queue."));
    connect(add_, &QPushButton::clicked, this, &QueuePanel::addSettings);
    row->addWidget(add_);
    compare_ = withName(new QPushButton(tr("Add the comparison"), head), u"queueComparison"_s);
    compare_->setToolTip(
        tr("Adds a run in each of the compared precisions. They train together, as one."));
    connect(compare_, &QPushButton::clicked, this, &QueuePanel::addComparison);
    row->addWidget(compare_);
    start_ = new QPushButton(head);
    connect(start_, &QPushButton::clicked, this, [this] {
        if (context_.queue->isOn())
            context_.queue->pause();
        else
            context_.queue->start();
    });
    row->addWidget(start_);
    return head;
}

QLayout* QueuePanel::makeWhere() {
    auto* rows = makeColumn(size::gap);
    auto* row = makeRow(size::gap);
    auto* label = makeLabel(tr("Where:"), "dim", this);
    auto* where = withName(new ChoiceBox(this), u"queueWhere"_s);
    where->addItems({tr("this machine"), tr("Slurm")});
    where->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    where->setAccessibleName(tr("Where:"));
    where->setToolTip(
        tr("Who trains what is added from now on: this machine, one run after another, or a cluster "
           "with Slurm, as a job for each run."));
    label->setBuddy(where);
    auto* script = withName(makeLink(tr("Job script…"), this), u"queueScript"_s);
    script->setToolTip(tr("The batch script of the jobs, and the folder for them."));
    connect(script, &QToolButton::clicked, this, &QueuePanel::showScript);
    auto* problem = withName(makeProse({}, "caution", this), u"queueNoSlurm"_s);
    const auto take = [this, where, script, problem] {
        const auto chosen = static_cast<engine::QueuePlace>(where->currentIndex());
        const bool cluster = chosen == engine::QueuePlace::slurm;
        context_.queue->setWhere(chosen);
        script->setVisible(cluster);
        problem->setText(cluster ? engineText(engine::why_no_slurm()) : QString());
        problem->setVisible(!problem->text().isEmpty());
    };
    where->setCurrentIndex(static_cast<int>(context_.queue->where()));
    connect(where, &QComboBox::currentIndexChanged, this, take);
    addWidgets(row, {label, where, script});
    row->addStretch();
    rows->addLayout(row);
    rows->addWidget(problem);
    take();
    return rows;
}

void QueuePanel::showScript() {
    auto* dialog = findChild<ClusterDialog*>();
    if (dialog == nullptr || !dialog->isVisible())  // one that was closed goes with the next event
        dialog = new ClusterDialog(context_.commands, this);
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
}

QLayout* QueuePanel::makeEnd() {
    auto* row = makeRow(size::gap);
    row->addWidget(makeLabel(tr("When all have ended:"), "dim", this));
    auto* what = withName(new ChoiceBox(this), u"atQueueEnd"_s);
    what->addItems({tr("do nothing"), tr("run a command"), tr("suspend the machine")});
    what->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    what->setAccessibleName(tr("When all have ended:"));
    what->setToolTip(
        tr("A command is forgotten when Halftone quits. It gets HALFTONE_KIND, HALFTONE_RUN, "
           "HALFTONE_STATE and HALFTONE_REASON."));
    auto* command = withName(new QLineEdit(this), u"queueCommand"_s);
    command->setPlaceholderText(tr("Command for the shell"));
    command->setAccessibleName(tr("Command for the shell"));
    what->setCurrentIndex(static_cast<int>(context_.queue->atEnd()));
    command->setText(context_.queue->command());
    const auto take = [this, what, command] {
        const auto chosen = static_cast<QueueRunner::AtEnd>(what->currentIndex());
        command->setVisible(chosen == QueueRunner::AtEnd::command);
        context_.queue->setAtEnd(chosen, command->text());
    };
    connect(what, &QComboBox::currentIndexChanged, this, take);
    connect(command, &QLineEdit::textChanged, this, take);
    row->addWidget(what);
    row->addWidget(command, 1);
    row->addStretch();
    take();
    return row;
}

void QueuePanel::makeTable() {
    table_ = makePlainTable(u"queue"_s, model_, this);
    table_->setAccessibleName(tr("Queue"));
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    auto* head = table_->horizontalHeader();
    head->setSectionResizeMode(QHeaderView::ResizeToContents);
    head->setSectionResizeMode(QueueModel::Settings, QHeaderView::Stretch);
    head->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    head->setHighlightSections(false);
    connect(table_, &QWidget::customContextMenuRequested, this, &QueuePanel::openMenu);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &QueuePanel::showNote);
    const auto key = [this](const QKeySequence& keys, auto slot) {
        auto* shortcut = new QShortcut(keys, table_);
        shortcut->setContext(Qt::WidgetShortcut);
        connect(shortcut, &QShortcut::activated, this, slot);
    };
    key(QKeySequence::Delete, [this] { context_.queue->remove(chosen()); });
    key(QKeySequence(Qt::ALT | Qt::Key_Up), [this] { moveChosen(-1); });
    key(QKeySequence(Qt::ALT | Qt::Key_Down), [this] { moveChosen(1); });
}

void QueuePanel::addSettings() {
    const auto& config = context_.settings->config();
    const std::string label = labelOf(config);
    context_.queue->add(
        {{config, label.empty() ? tr("default settings").toStdString() : label, {}}});
}

void QueuePanel::addComparison() {
    const std::string batch = engine::new_queued_comparison();
    std::vector<engine::QueueEntry> entries;
    for (const auto& config : context_.settings->comparisonConfigs())
        entries.push_back({config, labelOf(config), batch});
    context_.queue->add(entries);
}

void QueuePanel::refresh() {
    const std::vector<std::int64_t> kept = chosen();
    auto runs = context_.queue->runs();
    const auto waiting = std::count_if(runs.begin(), runs.end(), [](const auto& run) {
        return run.state == engine::QueueState::waiting && run.errors.empty();
    });
    counts_->setText(
        runs.empty()
            ? tr("empty")
            : tr("%1 waiting, %2 ended")
                  .arg(count(waiting), count(std::count_if(runs.begin(), runs.end(), hasEnded))));
    model_->setRuns(std::move(runs));
    for (const std::int64_t id : kept) {
        const int row = model_->rowOf(id);
        if (row >= 0)
            table_->selectionModel()->select(
                model_->index(row, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
    showNote();
    const bool on = context_.queue->isOn();
    start_->setText(on ? tr("Pause queue") : tr("Start queue"));
    start_->setEnabled(on || waiting > 0);
    start_->setToolTip(on ? tr("The current run continues; no other one starts.")
                          : tr("Trains the waiting runs one after another. Those for Slurm are "
                               "submitted at once."));
    add_->setEnabled(context_.settings->errors().empty());
    const QString why = context_.settings->comparisonProblem();
    compare_->setEnabled(add_->isEnabled() && why.isEmpty() &&
                         context_.settings->config().workers <= 1);
}

void QueuePanel::showNote() {
    const auto ids = chosen();
    const int row = ids.size() == 1 ? model_->rowOf(ids.front()) : -1;
    const QString text =
        row < 0 ? QString() : engineText(engine::job_sentence(model_->row(row)));
    note_->setText(text);
    note_->setVisible(!text.isEmpty());
}

std::vector<std::int64_t> QueuePanel::chosen() const {
    std::vector<std::int64_t> ids;
    for (const auto& index : table_->selectionModel()->selectedRows())
        ids.push_back(model_->row(index.row()).id);
    return ids;
}

void QueuePanel::moveChosen(int by) {
    const auto ids = chosen();
    if (ids.size() != 1) return;
    const int row = model_->rowOf(ids.front());
    const int before = by < 0 ? row - 1 : row + 2;
    if (before < 0 || before > model_->rowCount()) return;
    context_.queue->move(ids.front(), before == model_->rowCount() ? 0 : model_->row(before).id);
}

void QueuePanel::removeEnded() {
    std::vector<std::int64_t> ended;
    for (int row = 0; row < model_->rowCount(); ++row) {
        if (hasEnded(model_->row(row))) ended.push_back(model_->row(row).id);
    }
    context_.queue->remove(ended);
}

void QueuePanel::openMenu(const QPoint& at) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto ids = chosen();
    const bool one = ids.size() == 1;
    const auto add = [&](const QString& text, bool enabled, auto slot) {
        auto* action = menu->addAction(text);
        action->setEnabled(enabled);
        connect(action, &QAction::triggered, this, slot);
    };
    add(tr("Move up"), one, [this] { moveChosen(-1); });
    add(tr("Move down"), one, [this] { moveChosen(1); });
    const int place = one ? model_->rowOf(ids.front()) : -1;
    const bool stopped = place >= 0 && model_->row(place).state == engine::QueueState::stopped;
    add(stopped ? tr("Go on") : tr("Run again"), one,
        [this, ids] { context_.queue->runAgain(ids.front()); });
    add(tr("Load settings"), one, [this, ids] {
        const int row = model_->rowOf(ids.front());
        if (row >= 0) context_.settings->load(model_->row(row).entry.config);
    });
    menu->addSeparator();
    addJobActions(menu, ids);
    menu->addSeparator();
    add(tr("Remove from the queue"), !ids.empty(), [this, ids] { context_.queue->remove(ids); });
    add(tr("Remove all that have ended"), true, [this] { removeEnded(); });
    menu->popup(table_->viewport()->mapToGlobal(at));
}

void QueuePanel::addJobActions(QMenu* menu, const std::vector<std::int64_t>& ids) {
    std::vector<std::int64_t> live, free;
    QString output;
    for (const std::int64_t id : ids) {
        const int row = model_->rowOf(id);
        if (row < 0) continue;
        const engine::QueuedRun& run = model_->row(row);
        if (run.has_live_job()) live.push_back(id);
        const bool begun = run.state == engine::QueueState::running ||
                           run.state == engine::QueueState::done;
        if (!run.has_live_job() && !begun) free.push_back(id);
        if (ids.size() == 1) output = QString::fromStdString(engine::job_output(run).string());
    }
    const auto add = [&](const QString& text, bool enabled, auto slot) {
        auto* action = menu->addAction(text);
        action->setEnabled(enabled);
        connect(action, &QAction::triggered, this, slot);
    };
    add(tr("Train on this machine"), !free.empty(),
        [this, free] { context_.queue->moveTo(engine::QueuePlace::here, free); });
    add(tr("Give to Slurm"), !free.empty(),
        [this, free] { context_.queue->moveTo(engine::QueuePlace::slurm, free); });
    add(tr("Cancel the job"), !live.empty(), [this, live] { context_.queue->cancelJobs(live); });
    add(tr("Show what the job printed"), !output.isEmpty(), [this, output] { showOutput(output); });
}

void QueuePanel::showOutput(const QString& file) {
    QString problem;
    if (!QFileInfo::exists(file))
        problem = tr("There is no %1 yet.").arg(file);
    else if (!QDesktopServices::openUrl(QUrl::fromLocalFile(file)))
        problem = tr("No program opens %1.").arg(file);
    if (!problem.isEmpty())
        context_.commands->report({problem, {}, engine::ErrorCode::io, true});
}

}  // namespace ui
