#include "lab/numbers/calculator_card.h"

#include <QCoreApplication>
#include <QLineEdit>
#include <QPainter>
#include <QPainterPath>
#include <QWidget>
#include <algorithm>
#include <cmath>

#include "lab/numbers/calculator_model.h"
#include "lab/numbers/calculator_table.h"
#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "theme/theme.h"
#include "widgets/axis_marks.h"
#include "widgets/choices.h"
#include "widgets/painted_widget.h"
#include "widgets/panel.h"

namespace ui {

using Operation = CalculatorModel::Operation;
using Row = CalculatorModel::Row;

/// The running sum of each format in its own accumulator, over the number of terms.
class SumPlot final : public PaintedWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::SumPlot)
public:
    SumPlot(const Theme* theme, NumberModel* number, CalculatorModel* model,
            QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Label {
        double y;
        QColor color;
        QString text;
    };

    QRectF area() const;
    double top() const;
    void paintAxes(QPainter& painter) const;
    void paintCurve(QPainter& painter, const CalculatorModel::Row& row) const;
    void paintStall(QPainter& painter, const CalculatorModel::Row& row) const;
    void paintLabels(QPainter& painter) const;
    QPointF place(std::int64_t terms, double sum) const;

    NumberModel* number_;
    CalculatorModel* model_;
};

SumPlot::SumPlot(const Theme* theme, NumberModel* number, CalculatorModel* model, QWidget* parent)
    : PaintedWidget(theme, parent), number_(number), model_(model) {
    setAccessibleName(tr("Running sum in each format"));
    connect(model_, &CalculatorModel::changed, this, qOverload<>(&QWidget::update));
    connect(number_, &NumberModel::changed, this, qOverload<>(&QWidget::update));
}

QSize SumPlot::sizeHint() const { return {22 * fontMetrics().height(), 160}; }
QSize SumPlot::minimumSizeHint() const { return {15 * fontMetrics().height(), 90}; }

QRectF SumPlot::area() const {
    const int em = fontMetrics().height();
    return QRectF(rect()).adjusted(3 * em, em * 0.7, -7 * em, -em * 1.4);
}

/// The largest magnitude shown: of the exact sum, or of a finite one that exceeds it.
double SumPlot::top() const {
    double most = std::fabs(model_->exact());
    for (const Row& row : model_->rows()) {
        const double last = std::fabs(row.own.sum);
        if (std::isfinite(last) && last < 4 * std::fabs(model_->exact()))
            most = std::max(most, last);
    }
    return most > 0 && std::isfinite(most) ? most : 1;
}

QPointF SumPlot::place(std::int64_t terms, double sum) const {
    const QRectF at = area();
    const double share = std::isfinite(sum) ? std::min(std::fabs(sum) / top(), 1.05) : 1.05;
    return {at.left() + at.width() * static_cast<double>(terms) /
                            static_cast<double>(std::max<std::int64_t>(1, model_->terms())),
            at.bottom() - at.height() * share};
}

void SumPlot::paintEvent(QPaintEvent*) {
    if (model_->operation() != CalculatorModel::Operation::sum) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.85);
    painter.setFont(small);
    paintAxes(painter);
    const Row* selected = nullptr;
    for (const Row& row : model_->rows()) {
        if (row.format == &number_->format())
            selected = &row;
        else if (row.format != &engine::tf32_format)  // its accumulator is FP32's
            paintCurve(painter, row);
    }
    if (selected != nullptr) {
        paintCurve(painter, *selected);
        paintStall(painter, *selected);
    }
    paintLabels(painter);
}

void SumPlot::paintAxes(QPainter& painter) const {
    const QRectF at = area();
    auto sums = axisMarks({engine::AxisKind::linear, {0, top()}}, at.bottom(), at.top(), 5);
    for (AxisMark& mark : sums)
        if (model_->exact() < 0 && mark.at < at.bottom()) mark.text.prepend(u'−');
    paintLeftMarks(painter, theme_->tokens(), at, sums);
    const double all = static_cast<double>(std::max<std::int64_t>(1, model_->terms()));
    auto terms = axisMarks({engine::AxisKind::steps, {0, all}}, at.left(), at.right(), 4);
    terms.back().text = tr("%1 terms").arg(terms.back().text);
    paintMarksBelow(painter, theme_->tokens(), at, terms, width());
}

void SumPlot::paintCurve(QPainter& painter, const Row& row) const {
    QPainterPath path;
    for (const auto& point : row.own.curve) {
        const QPointF at = place(point.terms, point.sum);
        if (path.elementCount() == 0)
            path.moveTo(at);
        else
            path.lineTo(at);
    }
    const bool selected = row.format == &number_->format();
    const Tokens& t = theme_->tokens();
    const bool grey = row.format->width() == 8;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(
        QPen(grey && !selected ? t.dim : formatColor(*theme_, *row.format), selected ? 2.2 : 1.4));
    painter.save();
    painter.setClipRect(area().adjusted(-2, -8, 2, 2));
    painter.drawPath(path);
    painter.restore();
}

void SumPlot::paintStall(QPainter& painter, const Row& row) const {
    if (!row.own.stalls_after || !std::isfinite(row.own.sum)) return;
    const Tokens& t = theme_->tokens();
    const QPointF at = place(*row.own.stalls_after, row.own.sum);
    painter.setPen(QPen(formatColor(*theme_, *row.format), 1.6));
    painter.setBrush(t.panel);
    painter.drawEllipse(at, 4, 4);
    const double half = engine::gap(*row.format, to_bits(*row.format, row.own.sum)) / 2;
    const QString words = tr("at %1 half a gap is %2, larger than a term")
                              .arg(nearText(row.own.sum, 4), nearText(half, 3));
    // Below the stalled sum, right of the exact one, which rises there.
    const double exact = area().left() + area().width() * std::fabs(row.own.sum) / top();
    const double left = std::max(at.x(), std::min(exact, area().right())) + 4;
    const double high = painter.fontMetrics().height();
    const QRectF room(left, at.y() + 5, area().right() - left, 4 * high);
    if (room.width() < 6 * high || room.top() + 2 * high > area().bottom()) return;
    painter.setPen(t.text);
    painter.drawText(room, Qt::AlignRight | Qt::AlignTop | Qt::TextWordWrap, words);
}

void SumPlot::paintLabels(QPainter& painter) const {
    std::vector<Label> labels;
    for (const Row& row : model_->rows()) {
        if (row.format == &engine::tf32_format) continue;
        labels.push_back({place(model_->terms(), row.own.sum).y(),
                          formatColor(*theme_, *row.format),
                          formatTitle(*row.format).replace(u"FP8 "_s, QString()) + u' ' +
                              nearText(row.own.sum, row.format == &engine::fp32_format ? 6 : 4)});
    }
    std::ranges::stable_sort(labels, std::greater{}, &Label::y);
    const double high = painter.fontMetrics().height();
    // From the lowest upwards, each at least a line above the one before and above the axis's texts.
    double last = area().bottom() + 3 + high / 2;
    QFont strong = painter.font();
    strong.setWeight(QFont::Bold);
    painter.setFont(strong);
    for (const Label& label : labels) {
        const double y = std::min(label.y, last - high);
        painter.setPen(label.color);
        painter.drawText(
            QRectF(area().right() + 6, y - high / 2, width() - area().right() - 6, high),
            Qt::AlignLeft | Qt::AlignVCenter, label.text);
        last = y;
    }
}

CalculatorCard::CalculatorCard(const Context& context, NumberModel* number, CalculatorModel* model,
                               QWidget* parent)
    : QFrame(parent), context_(context), model_(model) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {1, size::grid, 1, size::grid}, size::grid);
    column->addLayout(makeHead());
    auto* rule = withName(new QFrame(this), u"rule"_s);
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
    second_ = addField(row, secondLabel_, 6);
    accumulator_ = new ChoiceBox(this);
    accumulator_->setAccessibleName(tr("Accumulator"));
    accumulator_->setToolTip(tr("Type of the accumulator in the last column"));
    for (const auto* format : engine::common_number_formats()) {
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
        for (const auto* format : engine::common_number_formats())
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
