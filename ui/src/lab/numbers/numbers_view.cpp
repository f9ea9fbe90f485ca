#include "lab/numbers/numbers_view.h"

#include <QAction>
#include <QLineEdit>
#include <QPushButton>
#include <algorithm>

#include "lab/numbers/bit_table.h"
#include "lab/numbers/block_card.h"
#include "lab/numbers/block_model.h"
#include "lab/numbers/calculator_card.h"
#include "lab/numbers/guess_card.h"
#include "lab/numbers/number_line.h"
#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// FP8 E4M3 and all behind it: formats of 8 and 4 bits, and of scales.
BitTable::Formats smallFormats() { return engine::number_formats().subspan(4); }

}  // namespace

NumbersView::NumbersView(const Context& context, NumberModel* model, CalculatorModel* calculator,
                         QWidget* parent)
    : QWidget(parent), context_(context), model_(model) {
    auto* column = makeColumn(this, {}, size::gap);
    auto* bits = makeCard(this);
    auto* stack = makeColumn(bits, {1, size::gap, 1, size::grid}, size::grid);
    stack->addLayout(makeField());
    tables_ = {new BitTable(context_.theme, model_, bits),
               new BitTable(context_.theme, model_, bits, smallFormats())};
    for (QWidget* each : tables_) stack->addWidget(each, 1);
    column->addWidget(bits, 5);
    lower_ = {makeRanges(calculator), new BlockCard(context_.theme, new BlockModel(this), this)};
    for (QWidget* each : lower_) column->addWidget(each, 8);
    connect(groups_->buttons(), &QButtonGroup::idClicked, this, &NumbersView::showFormats);
    const auto common = engine::common_number_formats();
    // The format may have been chosen before.
    const bool small = std::ranges::find(common, &model_->format()) == common.end();
    groups_->setCurrent(small ? 1 : 0);
    showFormats(small ? 1 : 0);
    connect(model_, &NumberModel::changed, this, &NumbersView::refresh);
    connect(context_.theme, &Theme::changed, this, &NumbersView::refresh);
    refresh();
}

/// The number line, and with a calculator that and the questions.
QWidget* NumbersView::makeRanges(CalculatorModel* calculator) {
    auto* page = new QWidget(this);
    auto* column = makeColumn(page, {}, size::gap);
    auto* line = makeCard(page);
    auto* lineColumn = makeColumn(line, {1, size::grid, 1, size::grid});
    lineColumn->addWidget(new NumberLine(context_.theme, model_, line));
    column->addWidget(line, 3);
    if (calculator != nullptr) {
        auto* row = makeRow(size::gap);
        row->addWidget(new CalculatorCard(context_, model_, calculator, page), 12);
        row->addWidget(new GuessCards(context_.theme, model_, page), 7);
        column->addLayout(row, 5);
    }
    return page;
}

/// A format of the other group is exchanged for one of this.
void NumbersView::showFormats(int group) {
    for (int i = 0; i < 2; ++i) {
        tables_[static_cast<std::size_t>(i)]->setVisible(i == group);
        lower_[static_cast<std::size_t>(i)]->setVisible(i == group);
    }
    const auto formats = group == 0 ? engine::common_number_formats() : smallFormats();
    if (std::ranges::find(formats, &model_->format()) == formats.end())
        model_->setFormat(group == 0 ? engine::fp16_format : engine::fp8_e4m3_format);
}

QPushButton* NumbersView::makeNeighbour(int direction) {
    auto* button = new QPushButton(this);
    button->setToolTip(direction > 0 ? tr("Next larger value of the format (Ctrl+↑)")
                                     : tr("Next smaller value of the format (Ctrl+↓)"));
    connect(button, &QPushButton::clicked, model_, [this, direction] { model_->step(direction); });
    auto* action = new QAction(this);
    action->setShortcut(QKeySequence(Qt::CTRL | (direction > 0 ? Qt::Key_Up : Qt::Key_Down)));
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    connect(action, &QAction::triggered, model_, [this, direction] { model_->step(direction); });
    return button;
}

QLayout* NumbersView::makeField() {
    auto* row = makeRow(nullptr, {size::inside, 0, size::inside, 0}, size::gap);
    field_ = new QLineEdit(this);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.2);
    large.setWeight(QFont::Bold);
    field_->setFont(large);
    field_->ensurePolished();
    field_->setMaximumWidth(12 * field_->fontMetrics().height());
    field_->setAccessibleName(tr("Number"));
    field_->setToolTip(
        tr("0.1, 2^-24, 3*2^-5, 1/3, inf, nan, or the bits of the selected format: "
           "0x3c00"));
    auto* label = makeLabel(tr("Number"), "dim", this);
    label->setBuddy(field_);
    below_ = makeNeighbour(-1);
    above_ = makeNeighbour(1);
    headline_ = makeProse({}, nullptr, this);
    headline_->setTextFormat(Qt::RichText);
    headline_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    groups_ = new Segments(tr("Formats"), {tr("FP32 to FP8"), tr("8 and 4 bits")}, this);
    addWidgets(row, {groups_, label, field_, below_, above_});
    row->addWidget(headline_, 1);
    connect(field_, &QLineEdit::textEdited, model_, &NumberModel::setText);
    return row;
}

void NumbersView::refresh() {
    if (field_->text() != model_->text()) field_->setText(model_->text());
    const bool wrong = !model_->problem().isEmpty();
    if (field_->property("refused").toBool() != wrong) restyle(field_, "refused", wrong);
    const QString title = formatTitle(model_->format());
    below_->setText(tr("‹ %1 neighbour").arg(title));
    above_->setText(tr("%1 neighbour ›").arg(title));
    const auto now = model_->stored(model_->format());
    below_->setEnabled(now.below.has_value());
    above_->setEnabled(now.above.has_value());
    const Tokens& t = context_.theme->tokens();
    headline_->setText(
        u"<span style='color:%1'><b>%2</b></span> <span style='color:%3'>%4</span>"_s.arg(
            (wrong ? t.bad : t.text).name(), model_->headline().toHtmlEscaped(), t.dim.name(),
            model_->explanation().toHtmlEscaped()));
}

}  // namespace ui
