#include "panels/queue/queue_panel.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "engine/runs/run_group.h"
#include "engine/settings/command_line.h"
#include "models/queue_model.h"
#include "models/settings_model.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int refreshQueueEvery = 1000;  // ms: another process may train runs of the queue, too

bool hasEnded(const engine::QueuedRun& run) {
    return run.state == engine::QueueState::done || run.state == engine::QueueState::failed;
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
    makeTable();
    column->addWidget(table_, 1);
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

QLayout* QueuePanel::makeEnd() {
    auto* row = makeRow(size::gap);
    row->addWidget(makeLabel(tr("When all have ended:"), "dim", this));
    auto* what = withName(new ChoiceBox(this), u"atQueueEnd"_s);
    what->addItems({tr("do nothing"), tr("run a command"), tr("suspend the machine")});
    what->setSizeAdjustPolicy(QComboBox::AdjustToContents);
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
    const bool on = context_.queue->isOn();
    start_->setText(on ? tr("Pause queue") : tr("Start queue"));
    start_->setEnabled(on || waiting > 0);
    start_->setToolTip(on ? tr("The current run continues; no other one starts.")
                          : tr("Trains the waiting runs one after another."));
    add_->setEnabled(context_.settings->errors().empty());
    const QString why = context_.settings->comparisonProblem();
    compare_->setEnabled(add_->isEnabled() && why.isEmpty() &&
                         context_.settings->config().workers <= 1);
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
    add(tr("Run again"), one, [this, ids] { context_.queue->runAgain(ids.front()); });
    add(tr("Load settings"), one, [this, ids] {
        const int row = model_->rowOf(ids.front());
        if (row >= 0) context_.settings->load(model_->row(row).entry.config);
    });
    menu->addSeparator();
    add(tr("Remove from the queue"), !ids.empty(), [this, ids] { context_.queue->remove(ids); });
    add(tr("Remove all that have ended"), true, [this] { removeEnded(); });
    menu->popup(table_->viewport()->mapToGlobal(at));
}

}  // namespace ui
