#include "panels/settings/settings_panel.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>

#include "commands/commands.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "help/help_page.h"
#include "panels/settings/batch_finder.h"
#include "panels/settings/data_preview.h"
#include "panels/settings/lint_list.h"
#include "panels/settings/next_run_note.h"
#include "panels/settings/precision_section.h"
#include "panels/settings/rate_finder.h"
#include "panels/settings/settings_choices.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

SettingsPanel::SettingsPanel(const Context& context, QWidget* parent)
    : QScrollArea(parent), context_(context) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    auto* inside = withName(new QWidget(this), u"sections"_s);
    column_ = makeColumn(inside, {size::inside, size::grid, size::inside - 2, size::inside}, 0);
    note_ = new NextRunNote(context_, inside);
    column_->addWidget(note_);
    addData();
    addModel();
    addPrecision();
    addScaler();
    addTraining();
    addFindings();
    addMore();
    column_->addStretch();
    setWidget(inside);
    connect(context_.settings, &SettingsModel::changed, this, &SettingsPanel::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &SettingsPanel::lock);
    connect(note_, &NextRunNote::lockedChanged, this, &SettingsPanel::lock);
    connect(context_.theme, &Theme::changed, this, &SettingsPanel::lock);
    auto* machine = new DeviceCheck(context_.settings, this);
    connect(machine, &DeviceCheck::devicesFound, this,
            [this](const std::vector<DeviceCheck::Device>& devices) {
                device_->setChoices(deviceChoices(devices));
                lint_->setCards(devices.size());
            });
    refresh();
    lock();
}

QSize SettingsPanel::minimumSizeHint() const {
    // Nothing is cut off, whether or not there is a scroll bar.
    const int bar = verticalScrollBar()->sizeHint().width();
    const int inside = widget() != nullptr ? widget()->minimumSizeHint().width() : 0;
    return {std::max(size::sideColumn - 2 * size::gap, inside + bar),
            QScrollArea::minimumSizeHint().height()};
}

bool SettingsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(watched, event);
}

void SettingsPanel::chooseDataPath() { preview_->choosePath(); }

void SettingsPanel::focusField(const QString& path) {
    const auto has = [&path](const SettingsField* field) { return field->path() == path; };
    if (std::ranges::none_of(fields_, has)) fillMore();
    for (auto* field : fields_) {
        if (field->path() != path || (modelOptions_->isHidden() && modelOptions_->isAncestorOf(field)))
            continue;
        if (more_->isAncestorOf(field)) showMore(true);
        widget()->layout()->activate();  // it may have been hidden until now
        ensureWidgetVisible(field);
        field->setFocus();
        // New fields get their heights in the next turn.
        QMetaObject::invokeMethod(
            field, [this, field] { ensureWidgetVisible(field); }, Qt::QueuedConnection);
        return;
    }
}

QVBoxLayout* SettingsPanel::section(const QString& title, QWidget* beside) {
    auto* box = new QWidget(this);
    auto* rows = makeColumn(box, {0, size::gap, 0, size::gap}, size::grid);
    auto* head = new QHBoxLayout;
    auto* name = makeLabel(title, "dim", box);
    QFont font = Theme::caption();
    font.setWeight(QFont::Bold);
    font.setCapitalization(QFont::AllUppercase);
    font.setLetterSpacing(QFont::PercentageSpacing, 104);
    name->setFont(font);
    head->addWidget(name);
    locks_.push_back(new QLabel(box));
    locks_.back()->setToolTip(tr("A change takes effect in the next run."));
    locks_.back()->setAccessibleName(locks_.back()->toolTip());
    head->addWidget(locks_.back());
    head->addStretch();
    if (beside != nullptr) head->addWidget(beside);
    rows->addLayout(head);
    if (column_->count() > 1) {  // behind the note
        auto* rule = withName(new QFrame(this), u"rule"_s);
        auto* edge = makeRow(nullptr, {-size::inside, 0, -size::inside, 0});
        edge->addWidget(rule);
        column_->addLayout(edge);
    }
    column_->addWidget(box);
    return rows;
}

void SettingsPanel::row(QVBoxLayout* section, QWidget* label, std::vector<SettingsField*> fields,
                        QWidget* beside) {
    section->addWidget(new SettingsRow(context_.settings, label, std::move(fields), beside, this));
}

SettingsField* SettingsPanel::edit(const QString& path, bool withUnit) {
    // Fields for columns offer the columns of the table that was read.
    fields_.push_back(
        path == targetPath
            ? new SettingsField(context_.settings, path, targetChoices(*context_.settings), this)
            : SettingsField::forValue(context_.settings, path, withUnit, this));
    if (path == targetPath) target_ = fields_.back();
    if (SettingsModel::namesColumns(path) && path != targetPath) {
        columnFields_.push_back(fields_.back());
        fields_.back()->setColumns(columns_);
    }
    return fields_.back();
}

QWidget* SettingsPanel::label(const QString& path, const QString& text) {
    return new FieldLabel(context_.settings, path, text, this);
}

void SettingsPanel::addData() {
    auto* rows = section(tr("Data"));
    auto* name = label(u"dataset.kind"_s);
    row(rows, name, {edit(u"dataset.kind"_s)});
    name->setFixedWidth(name->sizeHint().width());  // leaves room for the titles of data sets
    preview_ = new DataPreview(context_, this);
    rows->addWidget(preview_);
    addProminent(rows, u"dataset."_s);
}

/// Adds the options of data sets or models; each is hidden where it does not apply.
void SettingsPanel::addProminent(QVBoxLayout* rows, const QString& section) {
    for (const auto& info : engine::fields()) {
        const QString path = QString::fromStdString(info.path);
        if (info.prominent && path.startsWith(section)) row(rows, label(path), {edit(path)});
    }
}

void SettingsPanel::addModel() {
    auto* rows = section(tr("Model"));
    model_ = edit(u"model.kind"_s);
    auto* name = label(u"model.kind"_s);
    row(rows, name, {model_});
    name->setFixedWidth(name->sizeHint().width());  // leaves room for the titles of models
    modelNote_ = makeSmall({}, "dim", this);
    // Right-aligned under the field. A long note extends under the label instead of widening the
    // panel.
    modelNote_->setAlignment(Qt::AlignRight);
    modelNote_->setWordWrap(true);
    rows->addWidget(modelNote_);
    row(rows, label(u"model.path"_s), {edit(u"model.path"_s)});
    modelOptions_ = new QWidget(this);
    addProminent(makeColumn(modelOptions_, {}, size::grid), u"model."_s);
    rows->addWidget(modelOptions_);
    textRows_ = makeColumn(size::grid);
    rows->addLayout(textRows_);
}

/// Makes the rows of the options that the network's text declares, in its order, anew after another
/// text. They take the place of those of other models.
void SettingsPanel::refreshTextOptions() {
    const engine::RunConfig& config = context_.settings->config();
    const auto model = engine::find_model(config.model);
    std::vector<engine::FieldInfo> options;
    if (model != nullptr && model->from_text) {
        for (const auto& option : model->options)
            options.push_back(*engine::find_field("model.options." + option.name, config));
    }
    const bool others = std::ranges::any_of(fields_, [this](const SettingsField* field) {
        return modelOptions_->isAncestorOf(field) && context_.settings->applies(field->path());
    });
    const bool ofText = model != nullptr && model->from_text;
    modelOptions_->setVisible(others && !ofText);
    if (options == textOptions_) return;
    textOptions_ = std::move(options);
    std::erase_if(fields_, [this](SettingsField* field) {
        const bool old = textBox_ != nullptr && textBox_->isAncestorOf(field);
        if (old) field->setLocked(true);  // as it loses the focus it would set its option again
        return old;
    });
    if (textBox_ != nullptr) {
        textBox_->hide();
        textBox_->deleteLater();  // one of its fields may have caused the change
    }
    textBox_ = new QWidget(this);
    auto* rows = makeColumn(textBox_, {}, size::grid);
    for (const auto& info : textOptions_) {
        const QString path = QString::fromStdString(info.path);
        row(rows, label(path), {edit(path)});
    }
    textRows_->addWidget(textBox_);
    textBox_->setVisible(!textOptions_.empty());
    lock();
}

void SettingsPanel::addPrecision() {
    auto* what = makeLink(tr("what is this?"), this);
    connect(what, &QToolButton::clicked, this,
            [this, what] { showHelp(what, helpPage(*context_.settings, u"precision.preset"_s)); });
    auto* rows = section(tr("Precision"), what);
    single_ = edit(u"precision.preset"_s);
    row(rows, label(u"precision.preset"_s, tr("Single run")), {single_});
    auto* compared = makeLabel(tr("Compared"), "dim", this);
    compared->setToolTip(tr("The runs that Compare starts together; the first is the baseline."));
    chips_ = new PrecisionSection(context_, this);
    addWidgets(rows, {compared, chips_});
    lint_ = new LintList(context_, this);
    rows->addWidget(lint_);
}

void SettingsPanel::addScaler() {
    classroom_ = makeSmall(tr("not for production"), "caution", this);
    classroom_->setToolTip(tr("The classroom preset grows the scale often, to show it at work."));
    auto* rows = section(tr("Loss scaler"), classroom_);
    scalerBox_ = rows->parentWidget();
    row(rows, label(u"precision.scaler"_s), {edit(u"precision.scaler"_s)});
    row(rows, label(u"scaler.preset"_s, tr("Preset")), {edit(u"scaler.preset"_s)});
    initScale_ = edit(u"scaler.init_scale"_s);
    row(rows, label(u"scaler.init_scale"_s), {initScale_});
    row(rows, label(u"scaler.growth_factor"_s, tr("Growth · backoff factor")),
        {edit(u"scaler.growth_factor"_s), edit(u"scaler.backoff_factor"_s)});
    row(rows, label(u"scaler.growth_interval"_s), {edit(u"scaler.growth_interval"_s)});
}

void SettingsPanel::addTraining() {
    auto* rows = section(tr("Training"));
    row(rows, label(u"optimizer.kind"_s), {edit(u"optimizer.kind"_s)});
    row(rows, label(u"optimizer.lr"_s), {edit(u"optimizer.lr"_s)}, makeRateFinder());
    largest_ = withName(makeLink(tr("max…"), this), u"findBatch"_s);
    largest_->setAccessibleName(tr("Find the largest batch"));
    largest_->setToolTip(tr("Find the largest batch that fits into memory."));
    connect(largest_, &QToolButton::clicked, this,
            [this] { (new BatchFinder(context_, window()))->open(); });
    row(rows, label(u"batch_size"_s, tr("Batch · epochs")),
        {edit(u"batch_size"_s, false), edit(u"epochs"_s, false)}, largest_);
    device_ = edit(u"device"_s);
    row(rows, label(u"seed"_s, tr("Seed · device")), {edit(u"seed"_s), device_});
}

QToolButton* SettingsPanel::makeRateFinder() {
    auto* find = withName(makeLink(tr("find…"), this), u"findRateHere"_s);
    find->setAccessibleName(tr("Find the learning rate"));
    find->setToolTip(tr("Shows the loss while the rate rises, and suggests a rate."));
    connect(find, &QToolButton::clicked, this,
            [this] { (new RateFinder(context_, window()))->open(); });
    const auto enable = [this, find] {
        find->setEnabled(context_.commands->buttons().start.enabled);
    };
    connect(context_.commands, &Commands::buttonsChanged, find, enable);
    enable();
    return find;
}

void SettingsPanel::addMore() {
    open_ = withName(makeLink(tr("show"), this), u"allSettings"_s);
    open_->setAccessibleName(tr("All other settings"));
    auto* rows = section(tr("All other settings"), open_);
    more_ = new QWidget(this);
    moreRows_ = makeColumn(more_, {}, size::grid);
    more_->hide();
    rows->addWidget(more_);
    connect(open_, &QToolButton::clicked, this, [this] { showMore(more_->isHidden()); });
}

/// Makes the other settings' fields when they are first shown, since they would be a fifth of the
/// window's start-up time.
void SettingsPanel::fillMore() {
    if (moreRows_->count() > 0) return;
    const std::size_t shown = fields_.size();
    for (const auto& info : engine::fields()) {
        if (info.in_files) continue;
        const QString path = QString::fromStdString(info.path);
        const bool above =
            std::any_of(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(shown),
                        [&](const auto* field) { return field->path() == path; });
        if (!above) row(moreRows_, label(path), {edit(path)});
    }
    refreshTargets();
    lock();
}

void SettingsPanel::showMore(bool shown) {
    if (shown) fillMore();
    more_->setVisible(shown);
    open_->setText(shown ? tr("hide") : tr("show"));
}

void SettingsPanel::addFindings() {
    auto* rows = section(tr("Findings"));
    findingsBox_ = rows->parentWidget();
    findings_ = new QLabel(this);
    findings_->setWordWrap(true);
    findings_->setTextFormat(Qt::RichText);
    findings_->setAccessibleName(tr("Findings"));
    connect(findings_, &QLabel::linkActivated, this, &SettingsPanel::focusField);
    rows->addWidget(findings_);
}

/// A line with a link to each invalid field, whose reason is shown below the field; then the
/// settings of a file that have no effect. HTML, empty if there is nothing to say.
QString SettingsPanel::findings() const {
    const SettingsModel& settings = *context_.settings;
    QStringList links, lines;
    for (const auto& error : settings.errors()) {
        const QString path = QString::fromStdString(error.field);
        links << u"<a href='%1'>%2</a>"_s.arg(path, settings.label(path).toHtmlEscaped());
    }
    const QString mark =
        u"<span style='color:%1'>✕</span> "_s.arg(context_.theme->tokens().bad.name());
    if (!links.isEmpty()) lines << mark + tr("Not valid: %1").arg(links.join(u" · "_s));
    for (const auto& note : settings.notes()) lines << engineText(note).toHtmlEscaped();
    return lines.join(u"<br>"_s);
}

/// Parameter count and size of the model; empty while the data that decide them are not read.
QString SettingsPanel::modelSummary() const {
    const auto& config = context_.settings->config();
    const auto* info = engine::find_dataset(config.dataset.kind);
    const bool filesDecide = info != nullptr && info->files_decide;
    const auto* read = context_.settings->data();
    if (filesDecide && read == nullptr) return {};
    try {
        const std::int64_t numbers =
            filesDecide ? engine::parameter_count(config, *read) : engine::parameter_count(config);
        return tr("%1 parameters · %2").arg(count(numbers), bytes(4 * numbers));
    } catch (const std::exception&) {
        return {};  // a model or a task that does not fit these data
    }
}

void SettingsPanel::refresh() {
    const SettingsModel& settings = *context_.settings;
    enableSearch();
    refreshModels();
    refreshTextOptions();
    refreshTargets();
    refreshPresets();
    modelNote_->setText(settings.errors().empty() ? modelSummary() : QString());
    scalerBox_->setVisible(settings.usesScaler() || settings.applies(u"precision.scaler"_s));
    const auto* scaler =
        engine::find_kind(engine::scaler_presets(), settings.config().scaler.preset);
    classroom_->setVisible(scaler != nullptr && scaler->teaches);
    initScale_->setUnit(powerOfTwo(settings.text(u"scaler.init_scale"_s).toDouble()));
    findings_->setText(findings());
    findingsBox_->setVisible(!findings_->text().isEmpty());
}

/// The search for the largest batch is disabled while a run trains: both would share memory and
/// time, so that the search measures the run too.
void SettingsPanel::enableSearch() {
    largest_->setEnabled(!context_.feed->experiment().isRunning() &&
                         context_.settings->errors().empty());
}

void SettingsPanel::lock() {
    const bool locked = note_->locked();
    enableSearch();
    for (auto* field : fields_) field->setLocked(locked);
    chips_->setEnabled(!locked);
    preview_->setLocked(locked);
    lint_->setEnabled(!locked);
    const QPixmap lock = iconPixmap(u"lock"_s, context_.theme->tokens().dim, 10, 2);
    for (auto* each : locks_) {
        each->setPixmap(lock);
        each->setVisible(locked);
    }
}

void SettingsPanel::refreshPresets() {
    std::vector<Choice> presets = presetChoices(*context_.settings);
    QStringList why;
    for (const Choice& preset : presets) why << preset.why;
    if (why == lacking_) return;
    lacking_ = why;
    single_->setChoices(std::move(presets));
}

void SettingsPanel::refreshModels() {
    const QString kind = context_.settings->text(u"dataset.kind"_s);
    if (kind == modelsFor_) return;
    modelsFor_ = kind;
    const std::vector<Choice> models = modelChoices(kind);
    model_->setChoices(models);
    // A model that does not take the new data would only be refused: pick one that does.
    const bool fits = std::ranges::find(models, context_.settings->text(u"model.kind"_s),
                                        &Choice::value) != models.end();
    if (!fits && !models.empty()) context_.settings->set(u"model.kind"_s, models.front().value);
}

/// Updates the columns and targets that the fields offer.
void SettingsPanel::refreshTargets() {
    const QStringList columns = context_.settings->tableColumns();
    if (columns != columns_) {
        columns_ = columns;
        for (auto* field : columnFields_) field->setColumns(columns);
    }
    if (target_ == nullptr || context_.settings->data() == nullptr) return;
    const QString key = context_.settings->dataKey();
    if (key == targetsFor_) return;
    targetsFor_ = key;
    target_->setChoices(targetChoices(*context_.settings));
}

Panel* makeSettingsPanel(const Context& context, const QString& name, QWidget* parent) {
    const QString title = QCoreApplication::translate("Panels", "Settings");
    return new Panel(context.theme, name, title, new SettingsPanel(context), parent);
}

}  // namespace ui
