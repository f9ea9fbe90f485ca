#include "panels/queue/sweep_form.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStringListModel>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "engine/settings/catalog.h"
#include "models/settings_model.h"
#include "text/format.h"
#include "text/setting_text.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int pathWidth = 190;
constexpr int maxSeeds = 100;
constexpr qint64 largestList = 1 << 20;
constexpr std::int64_t maxRuns = 500;  // more are a matter for the command line
constexpr int answerAfter = 150;        // ms
constexpr std::size_t maxErrors = 4;   // lines

QStringList fieldNames(const engine::RunConfig& config) {
    QStringList names;
    for (const SettingName& each : settingNames(config)) names << each.text;
    return names;
}

/// Returns the title if a setting has this path.
QString fieldName(const std::string& path) {
    return engine::find_field(path) != nullptr ? settingTitle(path) : QString::fromStdString(path);
}

}  // namespace

SweepForm::SweepForm(const Context& context, QWidget* parent)
    : QFrame(parent), context_(context), seeds_(new QSpinBox(this)), later_(new QTimer(this)) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {size::inside, size::gap, size::inside, size::gap}, size::gap);
    auto* title = makeTitle(tr("Sweep"), nullptr, this);
    column->addWidget(title);
    auto* words = makeProse(
        tr("Trains the settings on the left with every combination of these values."), "dim", this);
    column->addWidget(words);
    rows_ = makeColumn(size::grid);
    column->addLayout(rows_);
    addFoot(column);
    showList({});
    addAxis();
    addAxis();
    axes_.front().path->setText(fieldName("optimizer.lr"));
    later_->setSingleShot(true);
    later_->setInterval(answerAfter);
    connect(later_, &QTimer::timeout, this, &SweepForm::refresh);
    connect(context_.settings, &SettingsModel::changed, later_, qOverload<>(&QTimer::start));
    refresh();
}

void SweepForm::addFoot(QVBoxLayout* column) {
    auto* row = makeRow(size::gap);
    auto* more = makeLink(tr("Another setting"), this);
    connect(more, &QToolButton::clicked, this, &SweepForm::addAxis);
    row->addWidget(more);
    listLink_ = withName(makeLink({}, this), u"sweepList"_s);
    listLink_->setToolTip(
        tr("A text file with one JSON object of settings per line, such as {\"optimizer.lr\": "
           "0.1}. Each line is one run, or one per combination of the settings above."));
    connect(listLink_, &QToolButton::clicked, this, &SweepForm::chooseList);
    row->addWidget(listLink_);
    dropList_ = makeLink(tr("remove"), this);
    dropList_->setAccessibleName(tr("Remove the list"));
    connect(dropList_, &QToolButton::clicked, this, &SweepForm::dropList);
    row->addWidget(dropList_);
    row->addStretch();
    row->addWidget(makeLabel(tr("Seeds"), "dim", this));
    seeds_->setRange(1, maxSeeds);
    seeds_->setButtonSymbols(QAbstractSpinBox::NoButtons);
    seeds_->setAccessibleName(tr("Seeds"));
    seeds_->setToolTip(
        tr("Runs of each combination. Their seeds count up from that of the settings."));
    connect(seeds_, &QSpinBox::valueChanged, this, &SweepForm::refresh);
    row->addWidget(seeds_);
    add_ = new QPushButton(tr("Add to the queue"), this);
    connect(add_, &QPushButton::clicked, this, &SweepForm::addToQueue);
    row->addWidget(add_);
    column->addLayout(row);
    answer_ = withName(makeProse({}, "dim", this), u"sweepAnswer"_s);
    column->addWidget(answer_);
}

void SweepForm::addAxis() {
    Axis axis{new QLineEdit(this), new QLineEdit(this)};
    auto* names = new QStringListModel(fieldNames(context_.settings->config()), axis.path);
    auto* completer = new QCompleter(names, axis.path);
    connect(context_.settings, &SettingsModel::changed, names, [this, names] {
        const QStringList now = fieldNames(context_.settings->config());
        if (now != names->stringList()) names->setStringList(now);
    });
    completer->setFilterMode(Qt::MatchContains);
    completer->popup()->setObjectName(u"completions"_s);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    axis.path->setCompleter(completer);
    axis.path->setFixedWidth(pathWidth);
    axis.path->setPlaceholderText(tr("setting"));
    axis.path->setAccessibleName(tr("Setting %1").arg(axes_.size() + 1));
    axis.values->setPlaceholderText(tr("values, such as 0.1, 0.03, 0.01"));
    axis.values->setAccessibleName(tr("Values of setting %1").arg(axes_.size() + 1));
    auto* row = makeRow(size::gap);
    for (auto* edit : {axis.path, axis.values}) {
        connect(edit, &QLineEdit::textChanged, later_, qOverload<>(&QTimer::start));
        row->addWidget(edit);
    }
    rows_->addLayout(row);
    axes_.push_back(axis);
}

void SweepForm::showList(const QString& name) {
    listLink_->setText(name.isEmpty() ? tr("A list…") : name);
    dropList_->setVisible(!name.isEmpty());
}

void SweepForm::chooseList() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open a list of settings"), {}, tr("Lists (*.jsonl *.json *.txt);;All files (*)"));
    if (!file.isEmpty()) openList(file);
}

void SweepForm::openList(const QString& name) {
    QFile file(name);
    // A device or a pipe could hang the window, or never end.
    const bool small = QFileInfo(name).isFile() && QFileInfo(name).size() <= largestList;
    if (!small || !file.open(QIODevice::ReadOnly)) {
        return context_.commands->report(
            {tr("%1 cannot be read as a list.").arg(QFileInfo(name).fileName()),
             tr("Choose a text file of at most 1 MiB."), engine::ErrorCode::data, true});
    }
    list_ = file.read(largestList).toStdString();
    showList(QFileInfo(name).fileName());
    refresh();
}

void SweepForm::dropList() {
    list_.clear();
    showList({});
    refresh();
}

engine::SweepRequest SweepForm::request() const {
    engine::SweepRequest request;
    request.json = context_.settings->toJson().toStdString();
    request.seeds = seeds_->value();
    request.max_runs = maxRuns;
    request.list = list_;
    for (const Axis& axis : axes_) {
        const std::string path = pathOfSetting(axis.path->text(), context_.settings->config());
        const QString values = axis.values->text().trimmed();
        if (path.empty() || values.isEmpty()) continue;
        QStringList keys;  // of choices, which are typed by their titles
        for (const QString& value : values.split(u','))
            keys << QString::fromStdString(valueOfSetting(path, value));
        request.grid.push_back(path + '=' + keys.join(u',').toStdString());
    }
    return request;
}

void SweepForm::refresh() {
    const engine::SweepRequest asked = request();
    plan_ = engine::plan_sweep(asked);
    const auto runs = static_cast<std::int64_t>(plan_.points.size()) * plan_.seeds;
    const bool valid = plan_.errors.empty() && context_.settings->errors().empty();
    add_->setEnabled(valid && runs > 1);
    restyle(answer_, "role", plan_.errors.empty() ? u"dim"_s : u"bad"_s);
    if (!plan_.errors.empty()) {
        QStringList lines;
        for (const auto& error : plan_.errors) {
            if (std::size(lines) == maxErrors) break;
            lines << settingErrorText(error, fieldName(error.field));
        }
        answer_->setText(lines.join(u'\n'));
    } else if (runs > 1) {
        answer_->setText(tr("%1 runs").arg(count(runs)));
    } else {
        answer_->setText(tr("Enter two or more values for a setting, a list, or several seeds."));
    }
}

void SweepForm::addToQueue() {
    refresh();  // what was typed a moment ago
    if (add_->isEnabled()) context_.queue->add(plan_.entries());
}

}  // namespace ui
