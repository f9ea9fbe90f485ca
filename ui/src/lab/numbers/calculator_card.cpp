#include "lab/numbers/calculator_card.h"

#include <QLineEdit>

#include "lab/numbers/calculator_model.h"
#include "lab/numbers/calculator_table.h"
#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "lab/numbers/sum_plot.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;
using Operation = CalculatorModel::Operation;

CalculatorCard::CalculatorCard(const Context& context, NumberModel* number, CalculatorModel* model,
                               QWidget* parent)
    : QFrame(parent), context_(context), model_(model) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {1, size::grid, 1, size::grid}, size::grid);
    column->addLayout(makeHead());
    auto* rule = new QFrame(this);
    rule->setObjectName(u"rule"_s);
    column->addWidget(rule);
    auto* row = new QHBoxLayout;
    table_ = new CalculatorTable(context_.theme, number, model_, this);
    plot_ = new SumPlot(context_.theme, number, model_, this);
    row->addWidget(table_, 5);
    row->addWidget(plot_, 3);
    column->addLayout(row, 1);
    connect(model_, &CalculatorModel::changed, this, &CalculatorCard::refresh);
    refresh();
}

QLineEdit* CalculatorCard::addField(QHBoxLayout* row, QLabel*& label, int letters) {
    label = makeLabel({}, "dim", this);
    auto* field = new QLineEdit(this);
    field->ensurePolished();  // its font may be that of a style sheet
    field->setFixedWidth(letters * field->fontMetrics().horizontalAdvance(u'0') + 20);
    label->setBuddy(field);
    addWidgets(row, {label, field});
    return field;
}

QLayout* CalculatorCard::makeHead() {
    auto* row = makeRow(nullptr, {size::inside, 0, size::inside, 0}, size::gap);
    auto* title = makeLabel(tr("Calculator"), nullptr, this);
    QFont strong = font();
    strong.setWeight(QFont::Bold);
    title->setFont(strong);
    row->addWidget(title);
    operations_ =
        new Segments(tr("Operation"), {u"a + b"_s, u"a × b"_s, tr("sum of n terms")}, this);
    row->addWidget(operations_);
    first_ = addField(row, firstLabel_, 8);
    second_ = addField(row, secondLabel_, 7);
    accumulator_ = new ChoiceBox(this);
    accumulator_->setAccessibleName(tr("Accumulator"));
    accumulator_->setToolTip(tr("Type of the accumulator in the last column"));
    for (const auto* format : engine::number_formats()) {
        if (fixed_accumulator(*format) != nullptr) continue;
        accumulator_->addItem(tr("in %1").arg(formatTitle(*format)),
                              QVariant::fromValue(static_cast<int>(format->kind)));
    }
    row->addWidget(accumulator_);
    exact_ = makeLabel({}, "dim", this);
    exact_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    exact_->setMinimumWidth(1);
    row->addWidget(exact_, 1);
    connect(operations_->buttons(), &QButtonGroup::idClicked, model_,
            [this](int id) { model_->setOperation(static_cast<Operation>(id)); });
    connect(first_, &QLineEdit::textEdited, model_, &CalculatorModel::setFirst);
    connect(second_, &QLineEdit::textEdited, model_, &CalculatorModel::setSecond);
    connect(accumulator_, &QComboBox::activated, model_, [this](int index) {
        const int kind = accumulator_->itemData(index).toInt();
        for (const auto* format : engine::number_formats())
            if (static_cast<int>(format->kind) == kind) model_->setAccumulator(*format);
    });
    return row;
}

void CalculatorCard::refresh() {
    const bool sums = model_->operation() == Operation::sum;
    operations_->setCurrent(static_cast<int>(model_->operation()));
    firstLabel_->setText(sums ? tr("term") : u"a"_s);
    secondLabel_->setText(sums ? u"n"_s : u"b"_s);
    first_->setAccessibleName(firstLabel_->text());
    second_->setAccessibleName(secondLabel_->text());
    if (first_->text() != model_->first()) first_->setText(model_->first());
    if (second_->text() != model_->second()) second_->setText(model_->second());
    accumulator_->setVisible(sums);
    plot_->setVisible(sums);
    const bool wrong = !model_->problem().isEmpty();
    exact_->setText(wrong ? model_->problem()
                          : tr("exact result: %1").arg(nearText(model_->exact(), 8)));
    exact_->setToolTip(exact_->text());
    if (exact_->property("role").toString() != (wrong ? u"bad"_s : u"dim"_s))
        restyle(exact_, "role", wrong ? u"bad"_s : u"dim"_s);
}

}  // namespace ui
