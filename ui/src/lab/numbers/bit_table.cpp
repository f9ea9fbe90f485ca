#include "lab/numbers/bit_table.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "theme/theme.h"
#include "widgets/key_rule.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::NumberFormat;

namespace {

constexpr int signColumn = -100;
constexpr int mostFraction = 23;
constexpr int mostExponent = 8;

int rowOf(const NumberFormat& format) {
    const auto formats = engine::number_formats();
    return static_cast<int>(std::ranges::find(formats, &format) - formats.begin());
}

}  // namespace

BitTable::BitTable(const Theme* theme, NumberModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), model_(model) {
    setFocusPolicy(Qt::StrongFocus);
    setPressedBySpace(this);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setAccessibleName(tr("Bits of the number in each format"));
    connect(model_, &NumberModel::changed, this, [this] {
        describe();
        update();
    });
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
    describe();
}

QSize BitTable::sizeHint() const {
    return {1200, headHeight() + 6 * (fontMetrics().height() * 2 + 5)};
}
QSize BitTable::minimumSizeHint() const {
    return {54 * fontMetrics().height(), headHeight() + 6 * (fontMetrics().height() + 13)};
}

int BitTable::headHeight() const { return fontMetrics().height() + 8; }
int BitTable::rowHeight() const { return (height() - headHeight()) / 6; }
QRect BitTable::rowRect(int row) const {
    return {0, headHeight() + row * rowHeight(), width(), rowHeight()};
}

BitTable::Columns BitTable::columns() const {
    const int em = fontMetrics().height();
    const int names = 6 * em + em / 2, stored = 10 * em, error = 6 * em, near = 6 * em + 6,
              gap = 4 * em;
    const int inside = size::inside, spacing = em / 2;
    Columns out{};
    const int bits = 1 + mostExponent + mostFraction;
    const auto cellFor = [&](int figures) {
        return (width() - 2 * inside - names - figures - 2 * spacing - em) / bits;
    };
    out.neighbours = cellFor(stored + error + 2 * near + gap) >= em;
    const int figures = stored + error + (out.neighbours ? 2 * near : 0) + gap;
    out.cell = std::clamp(cellFor(figures), em * 4 / 5, em + em / 2);
    out.sign = inside + names;
    out.fraction = out.sign + (1 + mostExponent) * out.cell + 2 * spacing;
    out.stored = out.fraction + mostFraction * out.cell + em;
    out.right = width() - inside;
    // The remaining width goes to the right-aligned columns.
    const int spare = std::max(0, out.right - out.stored - figures) / (out.neighbours ? 4 : 2);
    out.gap = out.right - gap - spare / 2;
    out.above = out.gap - (out.neighbours ? near + spare : 0);
    out.below = out.above - (out.neighbours ? near + spare : 0);
    out.error = out.below - error - spare;
    return out;
}

QRect BitTable::bitRect(const NumberFormat& format, int bit) const {
    const Columns at = columns();
    const QRect row = rowRect(rowOf(format));
    const int spacing = fontMetrics().height() / 2;
    const int tall = std::min(at.cell + 4, row.height() - 8);
    const int top = row.center().y() - tall / 2;
    int x = 0;
    if (bit < format.fraction_bits) {
        x = at.fraction + (format.fraction_bits - 1 - bit) * at.cell;
    } else {
        const int back = bit - format.fraction_bits + 1;  // 1: the lowest of the exponent
        x = at.fraction - spacing - back * at.cell;
        if (back > format.exponent_bits) x -= spacing / 2;
    }
    return {x, top, at.cell - 2, tall};
}

std::optional<BitTable::Place> BitTable::bitAt(const QPoint& at) const {
    for (const auto* format : engine::number_formats()) {
        for (int bit = 0; bit < format->width(); ++bit)
            if (bitRect(*format, bit).contains(at)) return Place{format, bit};
    }
    return std::nullopt;
}

int BitTable::cursorBit(const NumberFormat& format) const {
    if (cursor_ == signColumn) return format.width() - 1;
    if (cursor_ >= 0) return format.fraction_bits - 1 - std::min(cursor_, format.fraction_bits - 1);
    return format.fraction_bits - 1 + std::min(-cursor_, format.exponent_bits);
}

int BitTable::currentBit() const { return cursorBit(model_->format()); }

void BitTable::moveCursor(int bit) {
    const NumberFormat& format = model_->format();
    bit = std::clamp(bit, 0, format.width() - 1);
    cursor_ = bit == format.width() - 1    ? signColumn
              : bit < format.fraction_bits ? format.fraction_bits - 1 - bit
                                           : format.fraction_bits - 1 - bit;
    describe();
    update();
}

void BitTable::describe() {
    const NumberFormat& format = model_->format();
    const auto stored = model_->stored(format);
    setAccessibleDescription(tr("%1: %2, bit %3 is %4")
                                 .arg(formatTitle(format), storedText(stored.value))
                                 .arg(currentBit())
                                 .arg(stored.bits >> currentBit() & 1u));
}

void BitTable::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const QPoint at = event->position().toPoint();
    if (const auto place = bitAt(at)) {
        model_->flip(*place->format, place->bit);
        moveCursor(place->bit);
        return;
    }
    const int row = (at.y() - headHeight()) / std::max(1, rowHeight());
    if (at.y() >= headHeight() && row < 6)
        model_->setFormat(*engine::number_formats()[static_cast<std::size_t>(row)]);
}

void BitTable::mouseMoveEvent(QMouseEvent* event) {
    setCursor(bitAt(event->position().toPoint()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void BitTable::keyPressEvent(QKeyEvent* event) {
    if (event->modifiers() != Qt::NoModifier && event->modifiers() != Qt::KeypadModifier)
        return QWidget::keyPressEvent(event);
    const auto formats = engine::number_formats();
    const int row = rowOf(model_->format());
    const auto select = [&](int to) {
        model_->setFormat(*formats[static_cast<std::size_t>(std::clamp(to, 0, 5))]);
    };
    switch (event->key()) {
        case Qt::Key_Left:
            return moveCursor(currentBit() + 1);
        case Qt::Key_Right:
            return moveCursor(currentBit() - 1);
        case Qt::Key_Up:
            return select(row - 1);
        case Qt::Key_Down:
            return select(row + 1);
        case Qt::Key_Home:
            return moveCursor(model_->format().width() - 1);
        case Qt::Key_End:
            return moveCursor(0);
        case Qt::Key_Space:
            return model_->flip(model_->format(), currentBit());
        default:
            QWidget::keyPressEvent(event);
    }
}

bool BitTable::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int row = (help->pos().y() - headHeight()) / std::max(1, rowHeight());
        if (help->pos().y() < headHeight() || row >= 6) {
            QToolTip::hideText();
        } else {
            const auto stored =
                model_->stored(*engine::number_formats()[static_cast<std::size_t>(row)]);
            QToolTip::showText(help->globalPos(),
                               u"%1\n%2\n%3"_s.arg(
                                   formatTitle(*stored.format),
                                   QString::fromStdString(hexadecimal(*stored.format, stored.bits)),
                                   QString::fromStdString(engine::exact_decimal(stored.value))),
                               this);
        }
        return true;
    }
    return QWidget::event(event);
}

}  // namespace ui
