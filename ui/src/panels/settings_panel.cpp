#include "panels/settings_panel.h"

#include <QEvent>
#include <QLabel>
#include <QScrollBar>

#include "engine/catalog.h"
#include "engine/error.h"
#include "panels/data_preview.h"
#include "panels/precision_section.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "ui/event_feed.h"
#include "widgets/help_page.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int labelWidth = 96;

template <typename Info>
Choice choiceOf(const Info& info, const std::string& value) {
    return {QString::fromStdString(value), engineText(info.title),
            u"<p>"_s + engineText(info.summary).toHtmlEscaped() + u"</p>"_s};
}

}  // namespace

SettingsPanel::SettingsPanel(const Context& context, QWidget* parent)
    : QScrollArea(parent), context_(context) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    auto* inside = new QWidget(this);
    inside->setObjectName(u"sections"_s);
    column_ = new QVBoxLayout(inside);
    column_->setContentsMargins(size::inside, size::grid, size::inside, size::inside);
    column_->setSpacing(0);
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
    connect(context_.theme, &Theme::changed, this, &SettingsPanel::lock);
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
    for (auto* field : fields_) {
        if (field->path() != path) continue;
        ensureWidgetVisible(field);
        field->setFocus();
        return;
    }
}

QVBoxLayout* SettingsPanel::section(const QString& title, QWidget* beside) {
    auto* box = new QWidget(this);
    auto* rows = new QVBoxLayout(box);
    rows->setContentsMargins(0, size::gap, 0, size::gap);
    rows->setSpacing(size::grid);
    auto* head = new QHBoxLayout;
    auto* name = makeLabel(title, "dim", box);
    QFont font = Theme::caption();
    font.setWeight(QFont::DemiBold);
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
    if (column_->count() > 0) {
        auto* rule = new QFrame(this);
        rule->setObjectName(u"rule"_s);
        auto* edge = new QHBoxLayout;
        edge->setContentsMargins(-size::inside, 0, -size::inside, 0);
        edge->addWidget(rule);
        column_->addLayout(edge);
    }
    column_->addWidget(box);
    return rows;
}

void SettingsPanel::row(QVBoxLayout* section, QWidget* label, std::vector<QWidget*> editors) {
    auto* line = new QHBoxLayout;
    line->setSpacing(size::grid + 2);
    label->setFixedWidth(labelWidth);
    line->addWidget(label);
    for (auto* editor : editors) line->addWidget(editor, 1);
    section->addLayout(line);
}

SettingsField* SettingsPanel::edit(const QString& path, bool withUnit) {
    QString unit;
    for (const auto& field : engine::fields()) {
        if (withUnit && QString::fromStdString(field.path) == path) unit = engineText(field.unit);
    }
    fields_.push_back(SettingsField::forValue(context_.settings, path, unit, this));
    return fields_.back();
}

SettingsField* SettingsPanel::choose(const QString& path, std::vector<Choice> choices) {
    fields_.push_back(new SettingsField(context_.settings, path, std::move(choices), this));
    return fields_.back();
}

QWidget* SettingsPanel::label(const QString& path, const QString& text) {
    return new FieldLabel(context_.settings, path, text, this);
}

void SettingsPanel::addData() {
    auto* rows = section(tr("Data"));
    std::vector<Choice> sets;
    for (const auto& info : engine::datasets()) sets.push_back(choiceOf(info, info.kind));
    row(rows, label(u"dataset.kind"_s), {choose(u"dataset.kind"_s, sets)});
    preview_ = new DataPreview(context_, this);
    rows->addWidget(preview_);
}

void SettingsPanel::addModel() {
    auto* rows = section(tr("Model"));
    model_ = choose(u"model.kind"_s, {});
    row(rows, label(u"model.kind"_s), {model_});
    modelNote_ = makeLabel({}, "dim", this);
    modelNote_->setFont(Theme::caption());
    modelNote_->setIndent(labelWidth + size::grid + 2);
    rows->addWidget(modelNote_);
}

void SettingsPanel::addPrecision() {
    auto* what = makeLink(tr("what is this?"), this);
    connect(what, &QToolButton::clicked, this, [this, what] {
        const QString path = u"precision.preset"_s;
        showHelp(what, helpPage(path, context_.settings->defaultText(path)));
    });
    auto* rows = section(tr("Precision"), what);
    std::vector<Choice> presets;
    for (const auto& info : engine::precisions()) presets.push_back(choiceOf(info, info.preset));
    row(rows, label(u"precision.preset"_s, tr("Single run")),
        {choose(u"precision.preset"_s, presets)});
    auto* compared = makeLabel(tr("Compared"), "dim", this);
    compared->setToolTip(tr("The runs that Compare starts together; the first is the baseline."));
    auto* chips = new PrecisionSection(context_, this);
    rows->addWidget(compared);
    rows->addWidget(chips);
}

void SettingsPanel::addScaler() {
    classroom_ = makeLabel(tr("not for production"), "caution", this);
    classroom_->setFont(Theme::caption());
    classroom_->setToolTip(tr("The classroom preset grows the scale often, to show it at work."));
    auto* rows = section(tr("Loss scaler"), classroom_);
    scalerBox_ = rows->parentWidget();
    std::vector<Choice> presets;
    for (const auto& info : engine::scaler_presets())
        presets.push_back(choiceOf(info, info.preset));
    row(rows, label(u"scaler.preset"_s, tr("Preset")), {choose(u"scaler.preset"_s, presets)});
    initScale_ = edit(u"scaler.init_scale"_s);
    row(rows, label(u"scaler.init_scale"_s), {initScale_});
    row(rows, label(u"scaler.growth_factor"_s, tr("Grow · back off")),
        {edit(u"scaler.growth_factor"_s), edit(u"scaler.backoff_factor"_s)});
    row(rows, label(u"scaler.growth_interval"_s), {edit(u"scaler.growth_interval"_s)});
}

void SettingsPanel::addTraining() {
    auto* rows = section(tr("Training"));
    std::vector<Choice> kinds;
    for (const auto& info : engine::optimizers()) kinds.push_back(choiceOf(info, info.kind));
    row(rows, label(u"optimizer.kind"_s), {choose(u"optimizer.kind"_s, kinds)});
    row(rows, label(u"optimizer.lr"_s), {edit(u"optimizer.lr"_s)});
    row(rows, label(u"batch_size"_s, tr("Batch · epochs")),
        {edit(u"batch_size"_s, false), edit(u"epochs"_s, false)});
    row(rows, label(u"seed"_s, tr("Seed · device")), {edit(u"seed"_s), edit(u"device"_s)});
}

void SettingsPanel::addMore() {
    auto* open = makeLink(tr("show"), this);
    auto* rows = section(tr("All other settings"), open);
    auto* box = new QWidget(this);
    auto* inside = new QVBoxLayout(box);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(size::grid);
    const std::size_t shown = fields_.size();
    for (const auto& info : engine::fields()) {
        const QString path = QString::fromStdString(info.path);
        const bool above =
            std::any_of(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(shown),
                        [&](const auto* field) { return field->path() == path; });
        if (!above) row(inside, label(path), {edit(path)});
    }
    box->hide();
    rows->addWidget(box);
    connect(open, &QToolButton::clicked, this, [box, open] {
        box->setVisible(!box->isVisible());
        open->setText(box->isVisible() ? tr("hide") : tr("show"));
    });
}

void SettingsPanel::addFindings() {
    auto* rows = section(tr("Findings"));
    findingsBox_ = rows->parentWidget();
    findings_ = new QLabel(this);
    findings_->setWordWrap(true);
    findings_->setTextFormat(Qt::RichText);
    findings_->setAccessibleName(tr("Findings"));
    connect(findings_, &QLabel::linkActivated, this, [this](const QString& link) {
        if (link.startsWith(u"reset:"_s)) {
            context_.settings->reset(link.mid(6));
        } else {
            focusField(link);
        }
    });
    rows->addWidget(findings_);
}

QString SettingsPanel::modelSummary() const {
    try {
        const std::int64_t numbers = engine::parameter_count(context_.settings->config());
        return tr("%1 parameters · %2").arg(count(numbers), bytes(4 * numbers));
    } catch (const std::exception&) {
        return {};  // the data set is not there yet, and with it the model's input
    }
}

void SettingsPanel::refresh() {
    const SettingsModel& settings = *context_.settings;
    const QString kind = settings.text(u"dataset.kind"_s);
    if (kind != modelsFor_) {
        modelsFor_ = kind;
        std::vector<Choice> models;
        for (const auto& info : engine::models()) {
            const bool takes = std::find(info.dataset_kinds.begin(), info.dataset_kinds.end(),
                                         kind.toStdString()) != info.dataset_kinds.end();
            if (takes) models.push_back(choiceOf(info, info.kind));
        }
        model_->setChoices(models);
        // A model that does not take the new data would only be refused: pick one that does.
        const bool fits = std::any_of(models.begin(), models.end(), [&](const Choice& choice) {
            return choice.value == settings.text(u"model.kind"_s);
        });
        if (!fits && !models.empty()) {
            context_.settings->set(u"model.kind"_s, models.front().value);
            return;
        }
    }
    modelNote_->setText(settings.errors().empty() ? modelSummary() : QString());
    scalerBox_->setVisible(settings.usesScaler());
    classroom_->setVisible(settings.text(u"scaler.preset"_s) == u"classroom"_s);
    initScale_->setUnit(powerOfTwo(settings.text(u"scaler.init_scale"_s).toDouble()));
    QString text;
    const QString mark = context_.theme->tokens().bad.name();
    for (const auto& error : settings.errors()) {
        const QString path = QString::fromStdString(error.field);
        text += u"<p style='margin:0 0 6px 0'><span style='color:%1'>✕</span> "_s.arg(mark) +
                tr("<b>%1</b> is %2; allowed is %3.")
                    .arg(path.toHtmlEscaped(), QString::fromStdString(error.value).toHtmlEscaped(),
                         engineText(error.allowed).toHtmlEscaped()) +
                u" <a href='%1'>"_s.arg(path) + tr("Show") +
                u"</a> · <a href='reset:%1'>"_s.arg(path) + tr("Back to default") + u"</a></p>"_s;
    }
    findings_->setText(text);
    findingsBox_->setVisible(!text.isEmpty());
}

void SettingsPanel::lock() {
    const auto state = context_.feed->state();
    const bool running = context_.feed->live() && state != engine::RunState::idle &&
                         state != engine::RunState::done && state != engine::RunState::failed;
    const QPixmap lock = iconPixmap(u"lock"_s, context_.theme->tokens().dim, 10, 2);
    for (auto* each : locks_) {
        each->setPixmap(lock);
        each->setVisible(running);
    }
}

}  // namespace ui
