#include "lab/numbers/bit_table.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "widgets/key_rule.h"

namespace ui {

using engine::NumberFormat;
using engine::NumberClass;
using engine::StoredNumber;

namespace {

constexpr int signColumn = -100;
constexpr int maxFraction = 23;
constexpr int maxExponent = 8;

}  // namespace

BitTable::BitTable(const Theme* theme, NumberModel* model, QWidget* parent, Formats formats)
    : PaintedWidget(theme, parent), model_(model), formats_(formats) {
    setFocusPolicy(Qt::StrongFocus);
    setPressedBySpace(this);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setAccessibleName(tr("Bits of the number in each format"));
    connect(model_, &NumberModel::changed, this, [this] {
        describe();
        update();
    });
    describe();
}

int BitTable::rowOf(const NumberFormat& format) const {
    return static_cast<int>(std::ranges::find(formats_, &format) - formats_.begin());
}

QSize BitTable::sizeHint() const {
    return {1200, headHeight() + rows() * (fontMetrics().height() * 2 + 5)};
}
QSize BitTable::minimumSizeHint() const {
    return {54 * fontMetrics().height(), headHeight() + rows() * (fontMetrics().height() + 13)};
}

int BitTable::headHeight() const { return fontMetrics().height() + 8; }
int BitTable::rowHeight() const { return (height() - headHeight()) / rows(); }
QRect BitTable::rowRect(int row) const {
    return {0, headHeight() + row * rowHeight(), width(), rowHeight()};
}

BitTable::Columns BitTable::columns() const {
    const int em = fontMetrics().height();
    const int names = 6 * em + em / 2, stored = 10 * em, error = 6 * em, near = 6 * em + 6,
              gap = 4 * em;
    const int inside = size::inside, spacing = em / 2;
    Columns out{};
    const int bits = 1 + maxExponent + maxFraction;
    const auto cellFor = [&](int figures) {
        return (width() - 2 * inside - names - figures - 2 * spacing - em) / bits;
    };
    out.neighbours = cellFor(stored + error + 2 * near + gap) >= em;
    const int figures = stored + error + (out.neighbours ? 2 * near : 0) + gap;
    out.cell = std::clamp(cellFor(figures), em * 4 / 5, em + em / 2);
    out.sign = inside + names;
    out.fraction = out.sign + (1 + maxExponent) * out.cell + 2 * spacing;
    out.stored = out.fraction + maxFraction * out.cell + em;
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
    for (const auto* format : formats_) {
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
    if (at.y() >= headHeight() && row < rows())
        model_->setFormat(*formats_[static_cast<std::size_t>(row)]);
}

void BitTable::mouseMoveEvent(QMouseEvent* event) {
    setCursor(bitAt(event->position().toPoint()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void BitTable::keyPressEvent(QKeyEvent* event) {
    if (event->modifiers() != Qt::NoModifier && event->modifiers() != Qt::KeypadModifier)
        return QWidget::keyPressEvent(event);
    const int row = rowOf(model_->format());
    const auto select = [&](int to) {
        model_->setFormat(*formats_[static_cast<std::size_t>(std::clamp(to, 0, rows() - 1))]);
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
        if (help->pos().y() < headHeight() || row >= rows()) {
            QToolTip::hideText();
        } else {
            const auto stored =
                model_->stored(*formats_[static_cast<std::size_t>(row)]);
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

namespace {

QFont small(QFont font) {
    font.setPointSizeF(font.pointSizeF() * 0.85);
    return font;
}

QFont bold(QFont font) {
    font.setWeight(QFont::Bold);
    return font;
}

/// Digits that tell a value from its neighbours.
int digitsOf(const NumberFormat& format) { return format.fraction_bits > 10 ? 9 : 7; }

}  // namespace

void BitTable::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Columns at = columns();
    paintHead(painter, at);
    for (int row = 0; row < rows(); ++row) paintRow(painter, at, row);
}

void BitTable::paintHead(QPainter& painter, const Columns& at) const {
    const Tokens& t = theme_->tokens();
    painter.setFont(small(font()));
    const int high = headHeight();
    const auto put = [&](int left, int right, Qt::Alignment side, const QColor& color,
                         const QString& text) {
        painter.setPen(color);
        const QString shown = painter.fontMetrics().elidedText(text, Qt::ElideRight, right - left);
        painter.drawText(QRect(left, 0, right - left, high), side | Qt::AlignVCenter, shown);
    };
    const QString sign = tr("sign"), dot = u" · "_s, exponent = tr("exponent: how large");
    const QFontMetrics metrics = painter.fontMetrics();
    const int end = at.fraction - fontMetrics().height() / 2;
    const int begin = end - metrics.horizontalAdvance(sign + dot + exponent) - 4;
    put(begin, end, Qt::AlignLeft, t.bad, sign);
    put(begin + metrics.horizontalAdvance(sign), end, Qt::AlignLeft, t.good, dot + exponent);
    const QString fraction = tr("fraction: how fine");
    put(at.fraction, at.stored, Qt::AlignLeft, t.accent, fraction);
    put(at.fraction + metrics.horizontalAdvance(fraction) + metrics.height(),
        at.fraction + maxFraction * at.cell, Qt::AlignRight, t.dim,
        tr("right of the bar: dropped by rounding; a first bit of 1 rounds up"));
    put(at.stored, at.error, Qt::AlignLeft, t.dim, tr("stored value"));
    put(at.error, at.below, Qt::AlignRight, t.dim, tr("error"));
    if (at.neighbours) {
        put(at.below, at.above, Qt::AlignRight, t.dim, tr("next below"));
        put(at.above, at.gap, Qt::AlignRight, t.dim, tr("next above"));
    }
    put(at.gap, at.right, Qt::AlignRight, t.dim, tr("gap"));
}

void BitTable::paintRow(QPainter& painter, const Columns& at, int row) const {
    const Tokens& t = theme_->tokens();
    const NumberFormat& format = *formats_[static_cast<std::size_t>(row)];
    const QRect area = rowRect(row);
    const bool selected = &format == &model_->format();
    if (selected) {
        painter.fillRect(area, blend(t.panel, t.accent, 0.14));
        painter.fillRect(QRect(area.left(), area.top(), 3, area.height()), t.accent);
    } else if (row > 0) {
        painter.fillRect(QRect(size::inside, area.top(), area.width() - 2 * size::inside, 1),
                         t.grid);
    }
    const int bits = bitRect(format, format.width() - 1).left();
    const QRect names(size::inside, area.top(), bits - size::inside - 4, area.height());
    painter.setFont(bold(font()));
    painter.setPen(t.text);
    const int middle = area.center().y() + 1;
    painter.drawText(QRect(names.left(), area.top(), names.width(), middle - area.top()),
                     Qt::AlignLeft | Qt::AlignBottom, formatTitle(format));
    painter.setFont(small(font()));
    painter.setPen(t.dim);
    painter.drawText(QRect(names.left(), middle, names.width(), area.bottom() - middle),
                     Qt::AlignLeft | Qt::AlignTop,
                     tr("%1 + %2 + %3 bits")
                         .arg(format.scale ? 0 : 1)
                         .arg(format.exponent_bits)
                         .arg(format.fraction_bits));
    const StoredNumber stored = model_->stored(format);
    paintBits(painter, at, stored);
    paintDropped(painter, at, format);
    paintFigures(painter, at, area, stored);
}

void BitTable::paintBits(QPainter& painter, const Columns& at, const StoredNumber& stored) const {
    const Tokens& t = theme_->tokens();
    const NumberFormat& format = *stored.format;
    QFont digits = bold(font());
    digits.setPixelSize(std::max(8, at.cell * 3 / 5));
    painter.setFont(digits);
    for (int bit = 0; bit < format.width(); ++bit) {
        const bool sign = bit == format.width() - 1 && !format.scale;
        const QColor color = sign                         ? t.bad
                             : bit >= format.fraction_bits ? t.good
                                                           : t.accent;
        const bool set = (stored.bits >> bit & 1u) != 0;
        const QRectF cell = QRectF(bitRect(format, bit)).adjusted(0.5, 0.5, -0.5, -0.5);
        painter.setPen(QPen(set ? color : blend(t.panel, color, 0.5), 1));
        painter.setBrush(set ? color : t.panel);
        painter.drawRoundedRect(cell, 3, 3);
        painter.setPen(set ? t.onAccent : color);
        painter.drawText(cell, Qt::AlignCenter, set ? u"1"_s : u"0"_s);
    }
    if (hasFocus() && &format == &model_->format()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(t.text, 2));
        painter.drawRoundedRect(QRectF(bitRect(format, currentBit())).adjusted(-1, -1, 1, 1), 4, 4);
    }
}

void BitTable::paintDropped(QPainter& painter, const Columns& at,
                            const NumberFormat& format) const {
    if (format.fraction_bits == 0) return;  // a scale: the exponent itself is rounded
    const Tokens& t = theme_->tokens();
    const QString dropped = QString::fromStdString(
        dropped_bits(format, model_->number(), maxFraction - format.fraction_bits));
    if (dropped.isEmpty()) return;
    const QRect last = bitRect(format, 0);
    painter.fillRect(QRect(last.right() + 2, last.top() - 2, 2, last.height() + 4), t.text);
    for (qsizetype i = 0; i < dropped.size(); ++i) {
        QFont digits = i == 0 ? bold(font()) : font();
        digits.setPixelSize(std::max(8, at.cell * 3 / 5));
        painter.setFont(digits);
        painter.setPen(i == 0 ? t.text : t.dim);
        painter.drawText(last.translated(static_cast<int>(i + 1) * at.cell, 0), Qt::AlignCenter,
                         dropped.mid(i, 1));
    }
}

void BitTable::paintFigures(QPainter& painter, const Columns& at, const QRect& row,
                            const StoredNumber& stored) const {
    const Tokens& t = theme_->tokens();
    const bool selected = stored.format == &model_->format();
    const auto put = [&](int left, int right, Qt::Alignment side, const QColor& color,
                         const QString& text) {
        painter.setPen(color);
        painter.drawText(QRect(left, row.top(), right - left, row.height()),
                         side | Qt::AlignVCenter, text);
    };
    const bool finite = std::isfinite(stored.value);
    const QColor valueColor = finite || !std::isfinite(model_->number().value) ? t.text : t.bad;
    painter.setFont(selected ? bold(font()) : font());
    const QString factors = selected ? factoredText(stored.value) : QString();
    if (factors.isEmpty() || row.height() < 2 * fontMetrics().height()) {
        put(at.stored, at.error, Qt::AlignLeft, valueColor, storedText(stored.value));
    } else {
        const int middle = row.center().y() + 2;
        painter.setPen(valueColor);
        painter.drawText(QRect(at.stored, row.top(), at.error - at.stored, middle - row.top()),
                         Qt::AlignLeft | Qt::AlignBottom, storedText(stored.value));
        painter.setFont(small(font()));
        painter.setPen(t.dim);
        painter.drawText(QRect(at.stored, middle, at.error - at.stored, row.bottom() - middle),
                         Qt::AlignLeft | Qt::AlignTop, factors);
    }
    painter.setFont(font());
    const QString error = errorText(stored);
    const QString arrow = stored.error == 0 || error.isEmpty() ? QString()
                          : stored.error > 0                   ? u"▲ "_s
                                                               : u"▼ "_s;
    const bool lost = stored.number_class == NumberClass::zero && stored.error != 0;
    put(at.error, at.below, Qt::AlignRight,
        lost                ? t.bad
        : stored.error == 0 ? t.dim
                            : t.text,
        arrow + error);
    painter.setFont(small(font()));
    if (at.neighbours) {
        const auto near = [&](const std::optional<double>& value) {
            return value ? nearText(*value, digitsOf(*stored.format)) : u"–"_s;
        };
        put(at.below, at.above, Qt::AlignRight, t.dim, near(stored.below));
        put(at.above, at.gap, Qt::AlignRight, t.dim, near(stored.above));
    }
    painter.setFont(font());
    put(at.gap, at.right, Qt::AlignRight, t.text,
        std::isnan(stored.gap) ? u"–"_s : powerOfTwo(stored.gap));
}

}  // namespace ui
