#include "lab/numbers/block_plot.h"

#include <QKeyEvent>
#include <QPainter>
#include <cmath>

#include "engine/number/number_text.h"
#include "lab/numbers/block_model.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "widgets/key_rule.h"

namespace ui {

BlockPlot::BlockPlot(const Theme* theme, BlockModel* model, QWidget* parent)
    : PaintedWidget(theme, parent), model_(model) {
    setFocusPolicy(Qt::StrongFocus);
    setPressedBySpace(this);
    setCursor(Qt::SizeVerCursor);
    setAccessibleName(tr("Numbers that share a scale"));
    connect(model_, &BlockModel::changed, this, [this] {
        describe();
        update();
    });
    describe();
}

QSize BlockPlot::sizeHint() const { return {900, 14 * fontMetrics().height()}; }
QSize BlockPlot::minimumSizeHint() const {
    return {30 * fontMetrics().height(), 6 * fontMetrics().height()};
}

QRectF BlockPlot::area() const {
    const int em = fontMetrics().height();
    return QRectF(rect()).adjusted(size::inside + 3 * em, 1.6 * em, -size::inside, -1.4 * em);
}

QRectF BlockPlot::columnRect(int index) const {
    const QRectF at = area();
    const double wide = at.width() / BlockModel::count;
    return {at.left() + index * wide, at.top(), wide, at.height()};
}

double BlockPlot::yOf(double exponent) const {
    const QRectF at = area();
    const double share = (exponent - BlockModel::least) / (BlockModel::most - BlockModel::least);
    return at.bottom() - at.height() * std::clamp(share, 0.0, 1.0);
}

void BlockPlot::describe() {
    const engine::BlockElement& now = model_->element(model_->selected());
    setAccessibleDescription(tr("Number %1 is %2, its value %3; %4 of %5 became 0")
                                 .arg(model_->selected() + 1)
                                 .arg(nearText(now.number, 6), nearText(now.value, 6))
                                 .arg(model_->zeroed())
                                 .arg(BlockModel::count));
}

void BlockPlot::drag(double y) {
    const QRectF at = area();
    const double share = (at.bottom() - y) / at.height();
    model_->setExponent(BlockModel::least + share * (BlockModel::most - BlockModel::least));
}

void BlockPlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const QRectF at = area();
    model_->select(static_cast<int>((event->position().x() - at.left()) / at.width() *
                                    BlockModel::count));
}

void BlockPlot::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) drag(event->position().y());
}

void BlockPlot::keyPressEvent(QKeyEvent* event) {
    const double number = std::fabs(model_->numbers()[static_cast<std::size_t>(model_->selected())]);
    const double exponent = std::log2(number);
    switch (event->key()) {
        case Qt::Key_Left:
            return model_->select(model_->selected() - 1);
        case Qt::Key_Right:
            return model_->select(model_->selected() + 1);
        case Qt::Key_Up:
            return model_->setExponent(exponent + 1);
        case Qt::Key_Down:
            return model_->setExponent(exponent - 1);
        case Qt::Key_Space:
            return model_->flipSign();
        default:
            QWidget::keyPressEvent(event);
    }
}

void BlockPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.85);
    painter.setFont(small);
    paintAxis(painter);
    paintBlocks(painter);
    for (int i = 0; i < BlockModel::count; ++i) paintNumber(painter, i);
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme_->tokens().accent, 2));
        painter.drawRoundedRect(rect().adjusted(2, 1, -2, -1), size::fieldRadius,
                                size::fieldRadius);
    }
}

void BlockPlot::paintAxis(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const QRectF at = area();
    const double high = painter.fontMetrics().height();
    for (int exponent = static_cast<int>(BlockModel::least); exponent <= BlockModel::most;
         exponent += 8) {
        const double y = yOf(exponent);
        painter.fillRect(QRectF(at.left(), y, at.width(), 1), t.grid);
        painter.setPen(t.dim);
        painter.drawText(QRectF(size::inside, y - high / 2, at.left() - size::inside - 6, high),
                         Qt::AlignRight | Qt::AlignVCenter, u"2"_s + superscript(exponent));
    }
}

/// Frames of the blocks, and their scales above.
void BlockPlot::paintBlocks(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const int size = static_cast<int>(engine::block_size(model_->kind()));
    const engine::NumberFormat& format = engine::block_scale_format(model_->kind());
    for (int first = 0; first < BlockModel::count; first += size) {
        const int last = std::min(first + size, BlockModel::count) - 1;
        const QRectF frame = columnRect(first).united(columnRect(last));
        if (first > 0) painter.fillRect(QRectF(frame.left() - 1, 0, 2, frame.bottom()), t.dim);
        const engine::NumberBlock& block = model_->block(first);
        painter.setPen(t.text);
        painter.drawText(
            QRectF(frame.left() + 4, 0, frame.width() - 8, frame.top()),
            Qt::AlignLeft | Qt::AlignVCenter,
            tr("scale %1 = %2")
                .arg(QString::fromStdString(hexadecimal(format, block.scale_bits)),
                     nearText(block.scale, 6)));
    }
}

/// An outline as high as the number, filled up to the value of its code.
void BlockPlot::paintNumber(QPainter& painter, int index) const {
    const Tokens& t = theme_->tokens();
    const engine::BlockElement& each = model_->element(index);
    const QRectF column = columnRect(index);
    const bool selected = index == model_->selected();
    if (selected) painter.fillRect(column, blend(t.panel, t.accent, 0.14));
    const double in = column.width() * 0.2;
    const auto bar = [&](double value) {
        const double top = value == 0 ? column.bottom() : yOf(std::log2(std::fabs(value)));
        return QRectF(column.left() + in, top, column.width() - 2 * in, column.bottom() - top);
    };
    const QColor color = each.zeroed ? t.bad : each.saturated ? t.caution : t.accent;
    painter.fillRect(bar(each.value), color);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(each.zeroed ? t.bad : t.text, selected ? 2 : 1,
                        each.zeroed ? Qt::DashLine : Qt::SolidLine));
    painter.drawRect(bar(each.number));
    painter.setPen(each.zeroed ? t.bad : t.dim);
    const QString code = QString::number(each.bits, 16).toUpper();
    painter.drawText(QRectF(column.left() - 4, column.bottom(), column.width() + 8,
                            height() - column.bottom()),
                     Qt::AlignCenter, code);
}

}  // namespace ui
