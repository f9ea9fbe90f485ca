#include "panels/settings/settings_field.h"

#include <QAbstractItemView>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QPointer>
#include <QStandardItemModel>

#include "engine/settings/catalog.h"
#include "help/help_page.h"
#include "panels/settings/column_picker.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// Marks a changed field: a bar inside its left edge, clear of the text.
class ChangedMark final : public QWidget {
public:
    explicit ChangedMark(QWidget* parent) : QWidget(parent) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setFixedSize(3, 13);
        hide();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(palette().color(QPalette::Link));
        painter.drawRoundedRect(rect(), 1.5, 1.5);
    }
};

bool isFlag(const std::shared_ptr<const engine::FieldInfo>& info) {
    return info != nullptr && !info->optional && !info->choices.empty() &&
           info->choices.front().value == "true";
}

/// The value that an optional field has when it is left out: its preset's.
QString presetValue(const SettingsModel& model, const QString& path) {
    const auto resolved = engine::resolve({.preset = model.config().precision.preset});
    const auto word = [](auto value) { return QString::fromStdString(engine::word_of(value)); };
    if (path == u"precision.weights"_s) return word(resolved.weights);
    if (path == u"precision.autocast"_s) return word(resolved.autocast);
    if (path == u"precision.batch_norm"_s) return word(resolved.batch_norm);
    if (path == u"precision.scaler"_s) return word(resolved.scaler);
    if (path == u"precision.master_weights"_s) return resolved.master_weights ? u"true"_s : u"false"_s;
    return {};  // the recipe's
}

QIcon chooserIcon(const QLineEdit& edit) { return iconInside(edit, u"folder"_s, size::icon); }

std::vector<Choice> choicesOf(const engine::FieldInfo& info) {
    std::vector<Choice> choices;
    if (info.optional && !info.choices.empty()) choices.push_back({{}, {}, {}});
    for (const auto& choice : info.choices) {
        const QString summary = engineText(choice.summary);
        choices.push_back(
            {QString::fromStdString(choice.value), engineText(choice.title),
             summary.isEmpty() ? QString() : u"<p>"_s + summary.toHtmlEscaped() + u"</p>"_s});
    }
    return choices;
}

}  // namespace

std::vector<Choice> catalogChoices(const QString& path) {
    const auto* info = engine::find_field(path.toStdString());
    return info != nullptr ? choicesOf(*info) : std::vector<Choice>();
}

SettingsField::SettingsField(SettingsModel* model, const QString& path, QWidget* parent)
    : QWidget(parent), model_(model), path_(path), info_(model->field(path)) {
    makeRow(this);
    connect(model_, &SettingsModel::changed, this, &SettingsField::refresh);
}

SettingsField::SettingsField(SettingsModel* model, const QString& path, const QString& unit,
                             QWidget* parent)
    : SettingsField(model, path, parent) {
    edit_ = new QLineEdit(this);
    unit_ = makeSmall({}, "dim", edit_);
    unit_->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* inside = makeRow(edit_, {0, 0, 8, 0});
    inside->addStretch();
    inside->addWidget(unit_);
    setUnit(unit);
    connect(edit_, &QLineEdit::editingFinished, this, [this] { commitText(); });
    if (info_ != nullptr && info_->path_kind != engine::PathKind::none) addChooser();
    take(edit_);
}

SettingsField::SettingsField(SettingsModel* model, const QString& path, std::vector<Choice> choices,
                             QWidget* parent)
    : SettingsField(model, path, parent) {
    combo_ = new ChoiceBox(this);
    combo_->letShrink();
    setChoices(std::move(choices));
    connect(combo_, &QComboBox::activated, this,
            [this](int index) { model_->set(path_, combo_->itemData(index).toString()); });
    take(combo_);
}

SettingsField* SettingsField::forValue(SettingsModel* model, const QString& path, bool withUnit,
                                       QWidget* parent) {
    const auto info = model->field(path);
    if (!isFlag(info)) {
        auto choices = info != nullptr ? choicesOf(*info) : std::vector<Choice>();
        if (!choices.empty()) return new SettingsField(model, path, std::move(choices), parent);
        const QString unit = withUnit && info != nullptr ? engineText(info->unit) : QString();
        auto* field = new SettingsField(model, path, unit, parent);
        field->withUnit_ = withUnit;
        return field;
    }
    auto* field = new SettingsField(model, path, parent);
    field->check_ = new CheckBox(field);
    connect(field->check_, &QCheckBox::clicked, field,
            [field](bool on) { field->model_->set(field->path_, on ? u"true"_s : u"false"_s); });
    field->take(field->check_);
    return field;
}

void SettingsField::take(QWidget* editor) {
    editor_ = editor;
    setFocusProxy(editor);
    nameEditor();
    layout()->addWidget(editor);
    dot_ = withName(new ChangedMark(this), u"changed"_s);
    editor->setContextMenuPolicy(Qt::CustomContextMenu);
    editor->installEventFilter(this);
    connect(editor, &QWidget::customContextMenuRequested, this, &SettingsField::openMenu);
    refresh();
}

bool SettingsField::isFolder() const { return info_->path_kind == engine::PathKind::folder; }

void SettingsField::addChooser() {
    chooser_ = edit_->addAction(chooserIcon(*edit_), QLineEdit::TrailingPosition);
    chooser_->setText(isFolder() ? tr("Choose a folder…") : tr("Choose a file…"));
    chooser_->setToolTip(chooser_->text());
    connect(chooser_, &QAction::triggered, this, &SettingsField::choosePath);
}

void SettingsField::choosePath() {
    const QString from = model_->text(path_), title = model_->label(path_);
    const QPointer alive(this);  // the dialog turns the event loop
    const QString path = isFolder() ? QFileDialog::getExistingDirectory(this, title, from)
                                    : QFileDialog::getOpenFileName(this, title, from);
    if (alive && !locked_ && !path.isEmpty()) model_->set(path_, path);
}

void SettingsField::commitText() {
    if (locked_) return;
    model_->set(path_, edit_->text());
    // From here on Ctrl+Z takes back the change of the settings, not letters of it.
    const int cursor = edit_->cursorPosition();
    edit_->setText(model_->text(path_));
    edit_->setCursorPosition(cursor);
}

void SettingsField::setLocked(bool locked) {
    // Called after a change of the theme as well.
    if (chooser_ != nullptr) chooser_->setIcon(chooserIcon(*edit_));
    if (picker_ != nullptr) picker_->setEnabled(!locked);
    if (locked == locked_) return;
    locked_ = locked;
    if (edit_ != nullptr) edit_->setReadOnly(locked);
    if (chooser_ != nullptr) chooser_->setEnabled(!locked);
    restyle(editor_, "locked", locked);
    describe();
}

bool SettingsField::eventFilter(QObject* watched, QEvent* event) {
    if (watched != editor_) return QWidget::eventFilter(watched, event);
    // Looked up only for the field that is typed in: it costs a parse of the settings.
    if (edit_ != nullptr && event->type() == QEvent::FocusIn)
        edit_->setInputMethodHints(model_->takesNumber(path_) ? Qt::ImhFormattedNumbersOnly
                                                              : Qt::ImhNone);
    if (!locked_ || edit_ != nullptr) return QWidget::eventFilter(watched, event);
    switch (event->type()) {
        case QEvent::MouseButtonPress:
        case QEvent::MouseButtonRelease:
        case QEvent::MouseButtonDblClick:
            return true;
        case QEvent::KeyPress: {
            const int key = static_cast<QKeyEvent*>(event)->key();
            return key != Qt::Key_Tab && key != Qt::Key_Backtab && key != Qt::Key_Escape;
        }
        default:
            return QWidget::eventFilter(watched, event);
    }
}

void SettingsField::nameEditor() {
    editor_->setAccessibleName(model_->label(path_));
    // The list that drops down takes the focus, so it is announced as well.
    if (combo_ != nullptr) combo_->view()->setAccessibleName(editor_->accessibleName());
}

void SettingsField::followKind() {
    const auto info = model_->field(path_);
    const bool same = info == info_ || (info != nullptr && info_ != nullptr && *info == *info_);
    if (info == nullptr || same) return;
    info_ = info;
    nameEditor();
    if (combo_ != nullptr && !info->choices.empty()) setChoices(choicesOf(*info));
    if (withUnit_) setUnit(engineText(info->unit));
}

void SettingsField::setChoices(std::vector<Choice> choices) {
    QSignalBlocker quiet(combo_);
    combo_->clear();
    auto* items = qobject_cast<QStandardItemModel*>(combo_->model());
    for (const Choice& choice : choices) {
        combo_->addItem(choice.title, choice.value);
        const int at = combo_->count() - 1;
        combo_->setItemData(at, choice.why.isEmpty() ? choice.help : choice.why, Qt::ToolTipRole);
        if (!choice.why.isEmpty()) items->item(at)->setEnabled(false);
    }
    listed_ = combo_->count();
    refresh();
}

/// Names with a comma stand as JSON, since a comma parts names.
void SettingsField::setColumns(const QStringList& columns) {
    if (picker_ == nullptr) {
        if (columns.isEmpty()) return;
        picker_ = new ColumnPicker(edit_);
        picker_->setEnabled(!locked_);
        connect(picker_, &ColumnPicker::picked, this, [this](const QStringList& picked) {
            const bool commas = picked.join(QString()).contains(u',');
            const QByteArray json =
                QJsonDocument(QJsonArray::fromStringList(picked)).toJson(QJsonDocument::Compact);
            model_->set(path_, commas ? QString::fromUtf8(json) : picked.join(u", "_s));
        });
    }
    picker_->setColumns(columns);
    picker_->setTicked(model_->columnsOf(path_));
}

void SettingsField::setUnit(const QString& unit) {
    unit_->setText(unit);
    edit_->setTextMargins(0, 0, unit.isEmpty() ? 0 : unit_->sizeHint().width() + 4, 0);
}

void SettingsField::refreshChoice(const QString& text) {
    QSignalBlocker quiet(combo_);
    while (combo_->count() > listed_) combo_->removeItem(listed_);
    if (listed_ > 0 && info_ != nullptr && info_->optional &&
        combo_->itemData(0).toString().isEmpty()) {
        const QString preset = presetValue(*model_, path_);
        combo_->setItemText(0, preset.isEmpty() ? engineText(std::string("Auto"))
                                                : tr("Preset: %1").arg(combo_->itemText(
                                                      combo_->findData(preset))));
    }
    // A value from a file that is not among the choices stays listed until another is chosen.
    if (combo_->findData(text) < 0 && listed_ > 0) combo_->addItem(text, text);
    combo_->setCurrentIndex(combo_->findData(text));
}

void SettingsField::refresh() {
    if (editor_ == nullptr) return;
    followKind();
    const QString text = model_->text(path_);
    if (edit_ != nullptr && edit_->text() != text && !(edit_->hasFocus() && edit_->isModified())) {
        edit_->setText(text);
        edit_->setCursorPosition(0);
    }
    if (edit_ != nullptr) edit_->setModified(false);
    if (combo_ != nullptr) refreshChoice(text);
    if (picker_ != nullptr) picker_->setTicked(model_->columnsOf(path_));
    if (check_ != nullptr) check_->setChecked(text == u"true"_s);
    describe();
}

/// The effect of the current choice, with its full name if that is cut off.
QString SettingsField::choiceTip() const {
    if (combo_ == nullptr) return {};
    const QString help = combo_->currentData(Qt::ToolTipRole).toString();
    if (!combo_->isCut()) return help;
    return u"<p><b>%1</b></p>"_s.arg(combo_->currentText().toHtmlEscaped()) + help;
}

void SettingsField::describe() {
    const QString error = model_->errorAt(path_);
    restyle(editor_, "refused", !error.isEmpty());
    const bool changed = model_->isChanged(path_);
    dot_->setVisible(changed && error.isEmpty());
    editor_->setToolTip(error.isEmpty() ? choiceTip() : error);
    QStringList words;
    if (!error.isEmpty()) words << error;
    if (changed) words << tr("Changed from %1.").arg(model_->defaultText(path_));
    if (locked_) words << tr("Locked while a run trains.");
    if (info_ != nullptr) words << engineText(info_->help);
    editor_->setAccessibleDescription(joined(words));
}

void SettingsField::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (dot_ == nullptr) return;
    if (combo_ != nullptr) describe();
    const int left = check_ != nullptr ? check_->sizeHint().width() + 2 : 2;
    dot_->move(left, (height() - dot_->height()) / 2);
    dot_->raise();
}

void SettingsField::openMenu(const QPoint& at) {
    auto* menu = edit_ != nullptr ? edit_->createStandardContextMenu() : new QMenu(editor_);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!menu->isEmpty()) menu->addSeparator();
    if (chooser_ != nullptr) menu->addAction(chooser_);
    const QString value = model_->defaultText(path_);
    const int item = combo_ != nullptr ? combo_->findData(value) : -1;
    const QString shown = item >= 0 ? combo_->itemText(item) : value;
    auto* back = menu->addAction(shown.isEmpty() ? tr("Back to default")
                                                 : tr("Back to default (%1)").arg(shown));
    back->setEnabled(model_->isChanged(path_) && !locked_);
    connect(back, &QAction::triggered, this, [this] {
        if (edit_ != nullptr) edit_->setModified(false);
        model_->reset(path_);
    });
    menu->popup(editor_->mapToGlobal(at));
}

FieldLabel::FieldLabel(SettingsModel* model, const QString& path, const QString& text,
                       QWidget* parent)
    : QLabel(parent), model_(model), path_(path), fixed_(text) {
    setProperty("role", u"label"_s);
    setWordWrap(true);
    setCursor(Qt::WhatsThisCursor);
    connect(model_, &SettingsModel::changed, this, &FieldLabel::refresh);
    refresh();
}

void FieldLabel::refresh() {
    setText(fixed_.isEmpty() ? model_->label(path_) : fixed_);
    const auto info = model_->field(path_);
    setToolTip(info == nullptr ? QString()
                               : u"<p>"_s + engineText(info->help).toHtmlEscaped() + u"</p>"_s);
}

void FieldLabel::mouseReleaseEvent(QMouseEvent* event) {
    QLabel::mouseReleaseEvent(event);
    if (event->button() == Qt::LeftButton && rect().contains(event->pos()))
        showHelp(this, helpPage(*model_, path_));
}

SettingsRow::SettingsRow(SettingsModel* model, QWidget* label, std::vector<SettingsField*> fields,
                         QWidget* beside, QWidget* parent)
    : QWidget(parent), model_(model), fields_(std::move(fields)) {
    auto* rows = makeColumn(this, {}, 1);
    auto* line = makeRow(size::grid + 2);
    label->setFixedWidth(size::labelColumn);
    line->addWidget(label);
    for (auto* field : fields_) {
        line->addWidget(field, 1);
        if (beside != nullptr && field == fields_.front()) line->addWidget(beside);
    }
    rows->addLayout(line);
    error_ = withName(makeSmall({}, "bad", this), u"fieldError"_s);
    error_->setWordWrap(true);
    error_->setTextFormat(Qt::PlainText);
    rows->addWidget(error_);
    connect(model_, &SettingsModel::changed, this, &SettingsRow::refresh);
    refresh();
}

void SettingsRow::refresh() {
    QStringList wrong;
    bool applies = false;
    for (const auto* field : fields_) {
        const QString error = model_->errorAt(field->path());
        if (!error.isEmpty()) wrong << error;
        applies = applies || model_->applies(field->path());
    }
    error_->setText(wrong.join(u'\n'));
    error_->setVisible(!wrong.isEmpty());
    setVisible(applies || !wrong.isEmpty());
}

}  // namespace ui
