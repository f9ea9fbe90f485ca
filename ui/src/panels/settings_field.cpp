#include "panels/settings_field.h"

#include <QAbstractItemView>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>

#include "engine/catalog.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/help_page.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

const engine::FieldInfo* fieldInfo(const QString& path) {
    for (const auto& field : engine::fields()) {
        if (QString::fromStdString(field.path) == path) return &field;
    }
    return nullptr;
}

/// A list whose arrow has the theme's colour, which a style sheet's picture cannot have.
class ChoiceBox final : public QComboBox {
public:
    using QComboBox::QComboBox;

protected:
    void paintEvent(QPaintEvent* event) override {
        QComboBox::paintEvent(event);
        constexpr int arrow = 10;
        QPainter painter(this);
        painter.drawPixmap(width() - arrow - size::gap, (height() - arrow) / 2,
                           iconPixmap(u"down"_s, palette().color(QPalette::PlaceholderText), arrow,
                                      devicePixelRatioF()));
    }
};

}  // namespace

SettingsField::SettingsField(SettingsModel* model, const QString& path, QWidget* parent)
    : QWidget(parent), model_(model), path_(path) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    connect(model_, &SettingsModel::changed, this, &SettingsField::refresh);
}

SettingsField::SettingsField(SettingsModel* model, const QString& path, const QString& unit,
                             QWidget* parent)
    : SettingsField(model, path, parent) {
    edit_ = new QLineEdit(this);
    unit_ = makeLabel({}, "dim", edit_);
    unit_->setFont(Theme::caption());
    unit_->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* inside = new QHBoxLayout(edit_);
    inside->setContentsMargins(0, 0, 8, 0);
    inside->addStretch();
    inside->addWidget(unit_);
    setUnit(unit);
    connect(edit_, &QLineEdit::editingFinished, this,
            [this] { model_->set(path_, edit_->text()); });
    take(edit_);
}

SettingsField::SettingsField(SettingsModel* model, const QString& path, std::vector<Choice> choices,
                             QWidget* parent)
    : SettingsField(model, path, parent) {
    combo_ = new ChoiceBox(this);
    combo_->setProperty("role", u"choice"_s);
    combo_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo_->setMinimumContentsLength(6);
    setChoices(std::move(choices));
    connect(combo_, &QComboBox::activated, this,
            [this](int index) { model_->set(path_, combo_->itemData(index).toString()); });
    take(combo_);
}

SettingsField* SettingsField::forValue(SettingsModel* model, const QString& path,
                                       const QString& unit, QWidget* parent) {
    const QString value = model->defaultText(path);
    if (value != u"true"_s && value != u"false"_s) {
        return new SettingsField(model, path, unit, parent);
    }
    auto* field = new SettingsField(model, path, parent);
    field->check_ = new QCheckBox(field);
    connect(field->check_, &QCheckBox::clicked, field,
            [field](bool on) { field->model_->set(field->path_, on ? u"true"_s : u"false"_s); });
    field->take(field->check_);
    return field;
}

void SettingsField::take(QWidget* editor) {
    editor_ = editor;
    setFocusProxy(editor);
    const auto* info = fieldInfo(path_);
    editor->setAccessibleName(info != nullptr ? engineText(info->label) : path_);
    if (info != nullptr) editor->setAccessibleDescription(engineText(info->help));
    // The list that drops down takes the focus, so it is announced as well.
    if (combo_ != nullptr) combo_->view()->setAccessibleName(editor->accessibleName());
    layout()->addWidget(editor);
    editor->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(editor, &QWidget::customContextMenuRequested, this, &SettingsField::openMenu);
    refresh();
}

void SettingsField::setChoices(std::vector<Choice> choices) {
    QSignalBlocker quiet(combo_);
    combo_->clear();
    for (const Choice& choice : choices) {
        combo_->addItem(choice.title, choice.value);
        combo_->setItemData(combo_->count() - 1, choice.help, Qt::ToolTipRole);
    }
    refresh();
}

void SettingsField::setUnit(const QString& unit) {
    unit_->setText(unit);
    edit_->setTextMargins(0, 0, unit.isEmpty() ? 0 : unit_->sizeHint().width() + 4, 0);
}

void SettingsField::refresh() {
    if (editor_ == nullptr) return;
    const QString text = model_->text(path_);
    if (edit_ != nullptr && edit_->text() != text && !(edit_->hasFocus() && edit_->isModified())) {
        edit_->setText(text);
        edit_->setCursorPosition(0);
    }
    if (edit_ != nullptr) edit_->setModified(false);
    if (combo_ != nullptr) combo_->setCurrentIndex(combo_->findData(text));
    if (check_ != nullptr) check_->setChecked(text == u"true"_s);
    const QString error = model_->errorAt(path_);
    restyle(editor_, "refused", !error.isEmpty());
    restyle(editor_, "changed", error.isEmpty() && model_->isChanged(path_));
    const QString help =
        combo_ != nullptr ? combo_->currentData(Qt::ToolTipRole).toString() : QString();
    editor_->setToolTip(error.isEmpty() ? help : tr("%1: allowed is %2").arg(text, error));
}

void SettingsField::openMenu(const QPoint& at) {
    auto* menu = edit_ != nullptr ? edit_->createStandardContextMenu() : new QMenu(editor_);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!menu->isEmpty()) menu->addSeparator();
    auto* back = menu->addAction(tr("Back to default (%1)").arg(model_->defaultText(path_)));
    back->setEnabled(model_->isChanged(path_));
    connect(back, &QAction::triggered, this, [this] {
        if (edit_ != nullptr) edit_->setModified(false);
        model_->reset(path_);
    });
    menu->popup(editor_->mapToGlobal(at));
}

FieldLabel::FieldLabel(SettingsModel* model, const QString& path, const QString& text,
                       QWidget* parent)
    : QPushButton(parent) {
    const auto* info = fieldInfo(path);
    setText(!text.isEmpty() || info == nullptr ? text : engineText(info->label));
    setProperty("role", u"label"_s);
    setFlat(true);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::WhatsThisCursor);
    if (info != nullptr) setToolTip(u"<p>"_s + engineText(info->help).toHtmlEscaped() + u"</p>"_s);
    setAccessibleName(tr("Help on %1").arg(this->text()));
    connect(this, &QPushButton::clicked, this,
            [this, model, path] { showHelp(this, helpPage(path, model->defaultText(path))); });
}

}  // namespace ui
