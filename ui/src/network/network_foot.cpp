#include "network/network_foot.h"

#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>

#include "network/network_columns.h"
#include "network/network_editor.h"
#include "network/network_model.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int shownFaults = 2;  // rows of the list

/// A caption above its value.
QLabel* addFact(QHBoxLayout* row, const QString& caption) {
    auto* column = makeColumn(0);
    auto* value = makeLabel({});
    value->setAccessibleName(caption);
    addWidgets(column, {makeSmall(caption, "dim"), value});
    row->addLayout(column);
    return value;
}

}  // namespace

NetworkFoot::NetworkFoot(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent)
    : QFrame(parent), theme_(theme), model_(model), editor_(editor), parts_(new QStackedWidget(this)) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {1, 1, 1, 1}, 0);
    column->addWidget(parts_);
    parts_->addWidget(makeLayer());
    parts_->addWidget(makeFaults());
    unknown_ = new QWidget(this);
    unknownText_ = new ElidedLabel(unknown_);
    unknownText_->setAccessibleName(tr("Forced types without a layer"));
    unknownText_->setProperty("role", u"caution"_s);
    makeRow(unknown_, {size::inside, 0, size::inside, size::grid}, 0)->addWidget(unknownText_);
    unknown_->hide();
    column->addWidget(unknown_);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(model, &NetworkModel::checked, this, &NetworkFoot::refresh);
    connect(editor, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        showLayer();
        chooseAtCursor();
    });
    connect(theme, &Theme::changed, this, [this] {
        faults_->clear();  // their marks have the theme's colour
        showFaults();
    });
    refresh();
}

QWidget* NetworkFoot::makeLayer() {
    auto* part = new QWidget(this);
    auto* row = makeRow(part, {size::inside, size::grid, size::inside, size::grid}, 2 * size::inside);
    auto* column = makeColumn(0);
    place_ = makeSmall({}, "dim");
    layer_ = new ElidedLabel(this);
    layer_->setAccessibleName(tr("Layer"));
    layer_->setFont(Theme::bold());
    addWidgets(column, {place_, layer_});
    row->addLayout(column, 1);
    shape_ = addFact(row, tr("output"));
    parameters_ = addFact(row, tr("parameters"));
    flops_ = addFact(row, tr("forward pass, one sample"));
    auto* reason = makeColumn(0);
    why_ = new ElidedLabel(this);
    why_->setAccessibleName(tr("why this type"));
    addWidgets(reason, {makeSmall(tr("why this type"), "dim"), why_});
    row->addLayout(reason, 1);
    type_ = new QPushButton(this);
    type_->setAccessibleName(tr("Type of this layer"));
    type_->setToolTip(tr("The type that the layer computes in. Another one can be forced, for the next run."));
    auto* menu = new QMenu(type_);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        addTypeChoices(menu, model_, row_);
    });
    type_->setMenu(menu);
    row->addWidget(type_);
    return part;
}

QWidget* NetworkFoot::makeFaults() {
    auto* part = new QWidget(this);
    auto* row = makeRow(part, {size::grid, size::grid, size::inside, size::grid}, size::gap);
    faults_ = new QListWidget(this);
    faults_->setAccessibleName(tr("Errors of the text"));
    faults_->setFrameShape(NoFrame);
    faults_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    faults_->setTextElideMode(Qt::ElideRight);
    faults_->setUniformItemSizes(true);
    faults_->setFixedHeight(shownFaults * (fontMetrics().height() + size::grid) + size::gap);
    replace_ = new QPushButton(tr("Replace"), this);
    row->addWidget(faults_, 1);
    row->addWidget(replace_, 0, Qt::AlignTop);
    const auto go = [this](QListWidgetItem* item) {
        const auto faults = model_->faults();
        const auto index = static_cast<std::size_t>(faults_->row(item));
        if (index < faults.size()) editor_->goTo(faults[index].place);
    };
    connect(faults_, &QListWidget::itemClicked, this, go);
    connect(faults_, &QListWidget::itemActivated, this, [this, go](QListWidgetItem* item) {
        go(item);
        editor_->setFocus();
    });
    connect(faults_, &QListWidget::currentRowChanged, this, [this](int current) {
        const auto faults = model_->faults();
        const auto index = static_cast<std::size_t>(current);
        const bool any = current >= 0 && index < faults.size() && faults[index].replacement;
        replace_->setEnabled(any && !model_->isReadOnly());
        replace_->setToolTip(any ? tr("Replaces it by %1 (Alt+Enter)").arg(QString::fromStdString(*faults[index].replacement))
                                 : tr("This error has no replacement that the program knows."));
    });
    connect(replace_, &QPushButton::clicked, this, [this] {
        const auto faults = model_->faults();
        const auto index = static_cast<std::size_t>(faults_->currentRow());
        if (index < faults.size()) model_->replace(faults[index]);
        editor_->setFocus();
    });
    return part;
}

void NetworkFoot::refresh() {
    const bool faulty = !model_->now().network.usable();
    parts_->setCurrentIndex(faulty ? 1 : 0);
    const QStringList unknown = stringList(model_->now().types.unknown);
    unknownText_->setText(tr("This text has no %1, whose type is forced: a run of it is refused.").arg(unknown.join(u", "_s)));
    unknown_->setVisible(!faulty && !unknown.isEmpty());
    showFaults();
    showLayer();
}

void NetworkFoot::showFaults() {
    const auto faults = model_->faults();
    QStringList texts;
    for (const auto& fault : faults)
        texts << u"%1:%2   %3"_s.arg(fault.place.line).arg(fault.place.column).arg(engineText(fault.text));
    bool same = texts.size() == faults_->count();
    for (int i = 0; same && i < faults_->count(); ++i) same = faults_->item(i)->text() == texts[i];
    if (!same) {
        faults_->clear();
        const QIcon mark(iconPixmap(u"error"_s, theme_->tokens().bad, size::icon, devicePixelRatioF()));
        for (const QString& text : texts) {
            auto* item = new QListWidgetItem(mark, text, faults_);
            item->setToolTip(text);
        }
    }
    chooseAtCursor();
}

void NetworkFoot::chooseAtCursor() {
    const auto faults = model_->faults();
    const auto here = std::ranges::find(faults, editor_->currentLine(), [](const auto& fault) { return fault.place.line; });
    if (here != faults.end())
        faults_->setCurrentRow(static_cast<int>(here - faults.begin()));
    else if (faults_->currentRow() < 0 && !faults.empty())
        faults_->setCurrentRow(0);
}

void NetworkFoot::showLayer() {
    const auto& view = model_->now();
    const auto index = static_cast<std::size_t>(editor_->currentLine() - 1);
    const bool known = index < view.rows.lines.size() && view.rows.lines[index].state != NetworkLineRow::State::nothing;
    const NetworkLineRow values = known ? view.rows.lines[index] : NetworkLineRow();
    const auto* row = values.row >= 0 ? &view.network.rows[static_cast<std::size_t>(values.row)] : nullptr;
    place_->setText(row != nullptr && !row->module.empty() ? tr("line %1 · %2").arg(count(editor_->currentLine()), QString::fromStdString(row->module))
                                                          : tr("line %1").arg(count(editor_->currentLine())));
    layer_->setText(row != nullptr ? QString::fromStdString(row->layer) : values.box.isEmpty() ? unmeasured() : values.box);
    const bool figures = values.state == NetworkLineRow::State::layer || values.state == NetworkLineRow::State::head;
    shape_->setText(figures ? values.shape : unmeasured());
    parameters_->setText(figures ? count(values.parameters) : unmeasured());
    flops_->setText(figures ? flopsText(values.flops) : unmeasured());
    row_ = values.row;
    const auto* op = row != nullptr ? view.types.find(row_) : nullptr;
    why_->setText(op != nullptr ? QString::fromStdString(op->op) + u": "_s + engineText(op->why) : unmeasured());
    type_->setText(op != nullptr ? QString::fromStdString(view.types.rows[static_cast<std::size_t>(row_)]) : unmeasured());
    type_->setEnabled(op != nullptr);
}

}  // namespace ui
