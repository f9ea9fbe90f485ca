#include "lab/numbers/calculator_table.h"

#include <QMouseEvent>
#include <QPainter>
#include <cmath>

#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"

namespace ui {

using Operation = CalculatorModel::Operation;
using Row = CalculatorModel::Row;

namespace {

constexpr int digits = 6;
constexpr double wrongFrom = 0.05;  // of the exact result: shown red

}  // namespace

QColor formatColor(const Theme& theme, const engine::NumberFormat& format) {
    const Tokens& t = theme.tokens();
    switch (format.kind) {
        case engine::FormatKind::fp32:
            return t.fp32;
        case engine::FormatKind::fp16:
            return t.fp16;
        case engine::FormatKind::bf16:
            return t.bf16;
        default:
            break;
    }
    return t.text;
}

CalculatorTable::CalculatorTable(const Theme* theme, NumberModel* number, CalculatorModel* model,
                                 QWidget* parent)
    : PaintedWidget(theme, parent), number_(number), model_(model) {
    setAccessibleName(tr("Results in each format"));
    connect(model_, &CalculatorModel::changed, this, qOverload<>(&QWidget::update));
    connect(number_, &NumberModel::changed, this, qOverload<>(&QWidget::update));
}

QSize CalculatorTable::sizeHint() const {
    return {30 * fontMetrics().height(), 7 * (fontMetrics().height() + 8)};
}
QSize CalculatorTable::minimumSizeHint() const {
    return {26 * fontMetrics().height(), 7 * (fontMetrics().height() + 2)};
}
int CalculatorTable::rowHeight() const {
    return std::min(height() / 7, fontMetrics().height() * 5 / 2);
}

QStringList CalculatorTable::titles() const {
    if (model_->operation() == Operation::sum)
        return {QString(), tr("%1 stored as").arg(model_->first()), tr("same-type accumulator"),
                tr("stalls after"), tr("%1 accumulator").arg(formatTitle(model_->accumulator()))};
    return {QString(), tr("a stored as"), tr("b stored as"),
            model_->operation() == Operation::add ? u"a + b"_s : u"a × b"_s, tr("error")};
}

QStringList CalculatorTable::texts(const Row& row) const {
    const auto near = [](double value) { return nearText(value, digits); };
    QStringList out{formatTitle(*row.format), nearText(row.first, 5)};
    if (model_->operation() != Operation::sum) {
        const double error = row.result - model_->exact();
        return out << near(row.second) << near(row.result)
                   << (error == 0             ? tr("exact")
                       : std::isfinite(error) ? near(error)
                                              : u"–"_s);
    }
    const bool fixed = fixed_accumulator(*row.format) != nullptr;
    out << (fixed ? tr("always %1").arg(formatTitle(*fixed_accumulator(*row.format)))
                  : near(row.own.sum));
    out << (fixed                  ? QString()
            : row.own.stalls_after ? tr("%1 terms").arg(count(*row.own.stalls_after))
                                   : tr("no stall"));
    return out << near(row.chosen.sum);
}

QColor CalculatorTable::colorOf(const Row& row, int column) const {
    const Tokens& t = theme_->tokens();
    if (column == 0) return formatColor(*theme_, *row.format);
    const bool sums = model_->operation() == Operation::sum;
    const auto judged = [&](double value) {
        const double off = std::fabs(value - model_->exact());
        return std::isfinite(model_->exact()) && !(off <= wrongFrom * std::fabs(model_->exact()))
                   ? t.bad
                   : t.text;
    };
    if (!sums) return column == 3 ? judged(row.result) : column == 4 ? t.dim : t.text;
    if (fixed_accumulator(*row.format) != nullptr && (column == 2 || column == 3)) return t.dim;
    if (column == 2) return judged(row.own.sum);
    if (column == 3) return row.own.stalls_after ? t.text : t.dim;
    return column == 4 ? judged(row.chosen.sum) : t.text;
}

void CalculatorTable::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    const QList<int> shares{17, 17, 27, 17, 22};
    const int inside = size::inside, wide = width() - 2 * inside, high = rowHeight();
    QFont small = font(), strong = font();
    small.setPointSizeF(small.pointSizeF() * 0.85);
    strong.setWeight(QFont::Bold);
    const auto line = [&](int row, const QStringList& texts, const auto& colorAt) {
        int x = inside;
        for (int column = 0; column < 5; ++column) {
            const int share = wide * shares[column] / 100;
            const QRect cell(x, row * high, share - 4, high);
            painter.setFont(row == 0 ? small : column == 0 ? strong : font());
            painter.setPen(colorAt(column));
            painter.drawText(
                cell, (column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter,
                painter.fontMetrics().elidedText(texts[column], Qt::ElideRight, cell.width()));
            x += share;
        }
    };
    line(0, titles(), [&](int) { return t.dim; });
    int at = 1;
    for (const Row& row : model_->rows()) {
        if (row.format == &number_->format())
            painter.fillRect(QRect(inside / 2, at * high, width() - inside, high),
                             blend(t.panel, t.accent, 0.14));
        line(at++, texts(row), [&](int column) { return colorOf(row, column); });
    }
}

void CalculatorTable::mousePressEvent(QMouseEvent* event) {
    const auto row = static_cast<std::size_t>(event->position().y() / std::max(1, rowHeight()));
    if (row >= 1 && row <= model_->rows().size())
        number_->setFormat(*model_->rows()[row - 1].format);
}

}  // namespace ui
