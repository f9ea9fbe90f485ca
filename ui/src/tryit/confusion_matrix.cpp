#include "tryit/confusion_matrix.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "text/format.h"
#include "tryit/tried_model.h"

namespace ui {
namespace {

constexpr int gapBeside = 6;  // between names and cells

}  // namespace

ConfusionMatrix::ConfusionMatrix(Theme* theme, const std::string& precision, QWidget* parent)
    : PaintedWidget(theme, parent, {360, 400}, {200, 240}), precision_(precision) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Confusion matrix"));
    setFont(Theme::caption());
}

void ConfusionMatrix::show(const std::vector<std::vector<std::int64_t>>& confusion,
                           const std::vector<std::string>& classes) {
    cells_ = confusion;
    totals_.clear();
    names_.clear();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        totals_.push_back(std::accumulate(cells_[i].begin(), cells_[i].end(), std::int64_t{0}));
        names_.push_back(className(classes, i));
    }
    choose(std::nullopt);
}

QString ConfusionMatrix::sentence(std::size_t row, std::size_t column) const {
    const std::int64_t samples = cells_[row][column];
    const QString share =
        totals_[row] == 0
            ? unmeasured()
            : percent(static_cast<double>(samples) / static_cast<double>(totals_[row]));
    if (row == column)
        return tr("%1 of %2 were recognised (%3)").arg(count(samples), names_[row], share);
    return tr("%1 of %2 were called %3 (%4)")
        .arg(count(samples), names_[row], names_[column], share);
}

int ConfusionMatrix::nameWidth() const {
    int widest = 0;
    for (const QString& name : names_)
        widest = std::max(widest, fontMetrics().horizontalAdvance(name));
    return std::min(widest + 1, width() / 4);  // the advance is rounded
}

ConfusionMatrix::Place ConfusionMatrix::place() const {
    const int line = fontMetrics().height();
    const auto n = static_cast<double>(std::max<std::size_t>(1, cells_.size()));
    const double below = 2.0 * line + size::gap;  // the sentence
    const auto with = [&](double beside, double axis) {
        const double side =
            std::min((width() - beside - axis) / n, (height() - below - beside - axis) / n);
        return Place{beside + axis, beside + axis, std::max(side, 0.5), true};
    };
    Place out = with(nameWidth() + gapBeside, line);
    if (out.side >= line) return out;
    out = with(0, line + gapBeside);
    out.named = false;
    return out;
}

QRectF ConfusionMatrix::cell(std::size_t row, std::size_t column) const {
    const Place at = place();
    return {at.left + static_cast<double>(column) * at.side,
            at.top + static_cast<double>(row) * at.side, at.side, at.side};
}

std::optional<ConfusionMatrix::Cell> ConfusionMatrix::cellAt(const QPointF& at) const {
    const Place from = place();
    const double column = std::floor((at.x() - from.left) / from.side);
    const double row = std::floor((at.y() - from.top) / from.side);
    const auto n = static_cast<double>(cells_.size());
    if (column < 0 || row < 0 || column >= n || row >= n) return std::nullopt;
    return Cell{static_cast<std::size_t>(row), static_cast<std::size_t>(column)};
}

QColor ConfusionMatrix::colorOf(std::size_t row, std::size_t column) const {
    const Tokens& t = theme_->tokens();
    if (totals_[row] == 0) return t.field;
    const double share =
        static_cast<double>(cells_[row][column]) / static_cast<double>(totals_[row]);
    // The root lifts the small shares that most confusions have.
    const QColor full = row == column ? theme_->precision(precision_) : t.bad;
    return blend(t.field, full, std::sqrt(share));
}

void ConfusionMatrix::paintCells(QPainter& painter, const Place& place) const {
    const Tokens& t = theme_->tokens();
    const QFontMetrics metrics = fontMetrics();
    std::int64_t largest = 0;
    for (const auto& row : cells_) largest = std::max(largest, std::ranges::max(row));
    const bool numbers = place.side >= metrics.height() &&
                         metrics.horizontalAdvance(count(largest)) + 4 <= place.side;
    const double gap = place.side >= 8 ? 1 : 0;
    for (std::size_t row = 0; row < cells_.size(); ++row) {
        for (std::size_t column = 0; column < cells_.size(); ++column) {
            const QRectF area(place.left + static_cast<double>(column) * place.side,
                              place.top + static_cast<double>(row) * place.side, place.side - gap,
                              place.side - gap);
            const QColor color = colorOf(row, column);
            painter.fillRect(area, color);
            const std::int64_t samples = cells_[row][column];
            if (!numbers || samples == 0) continue;
            // The nearer of the two would be hard to read on the cell.
            const bool onText = std::abs(color.lightness() - t.text.lightness()) <
                                std::abs(color.lightness() - t.panel.lightness());
            painter.setPen(onText ? t.panel : t.text);
            painter.drawText(area, Qt::AlignCenter, count(samples));
        }
    }
}

void ConfusionMatrix::paintNames(QPainter& painter, const Place& place) const {
    const Tokens& t = theme_->tokens();
    const QFontMetrics metrics = fontMetrics();
    const int line = metrics.height();
    const auto n = static_cast<double>(cells_.size());
    const double whole = n * place.side;
    painter.setPen(t.dim);
    painter.drawText(QRectF(place.left, 0, whole, line), Qt::AlignCenter, tr("Predicted"));
    painter.save();
    painter.rotate(-90);
    painter.drawText(QRectF(-(place.top + whole), 0, whole, line), Qt::AlignCenter, tr("Actual"));
    painter.restore();
    if (!place.named) return;
    painter.setPen(t.text);
    const int room = nameWidth();
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const QString name = metrics.elidedText(names_[i], Qt::ElideRight, room);
        const double at = static_cast<double>(i) * place.side;
        painter.drawText(QRectF(line, place.top + at, room, place.side),
                         Qt::AlignRight | Qt::AlignVCenter, name);
        painter.save();
        painter.rotate(-90);
        painter.drawText(QRectF(-(place.top - gapBeside), place.left + at, room, place.side),
                         Qt::AlignLeft | Qt::AlignVCenter, name);
        painter.restore();
    }
}

void ConfusionMatrix::paintEvent(QPaintEvent*) {
    if (cells_.empty()) return;
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    const Place at = place();
    paintCells(painter, at);
    paintNames(painter, at);
    const int line = fontMetrics().height();
    const double bottom = at.top + static_cast<double>(cells_.size()) * at.side + size::grid;
    painter.setPen(t.dim);
    const QString words =
        chosen_ ? sentence(chosen_->row, chosen_->column) : tr("Point at a cell to read it.");
    painter.drawText(QRectF(0, bottom, width(), 2 * line), Qt::AlignLeft | Qt::TextWordWrap, words);
    if (chosen_) {
        painter.setPen(QPen(t.text, 2));
        painter.drawRect(cell(chosen_->row, chosen_->column));
    }
    if (hasFocus()) {
        painter.setPen(QPen(t.accent, 2));
        const double whole = static_cast<double>(cells_.size()) * at.side;
        painter.drawRect(QRectF(at.left - 2, at.top - 2, whole + 3, whole + 3));
    }
}

void ConfusionMatrix::choose(std::optional<Cell> cell) {
    chosen_ = cell;
    setAccessibleDescription(cell ? sentence(cell->row, cell->column) : QString());
    update();
}

bool ConfusionMatrix::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto cell = cellAt(help->pos());
    if (cell) {
        QToolTip::showText(help->globalPos(), sentence(cell->row, cell->column), this);
    } else {
        QToolTip::hideText();
    }
    return true;
}

void ConfusionMatrix::mouseMoveEvent(QMouseEvent* event) { choose(cellAt(event->position())); }
void ConfusionMatrix::leaveEvent(QEvent*) { choose(std::nullopt); }

void ConfusionMatrix::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    choose(std::nullopt);
}

void ConfusionMatrix::keyPressEvent(QKeyEvent* event) {
    const int across = (event->key() == Qt::Key_Right) - (event->key() == Qt::Key_Left);
    const int down = (event->key() == Qt::Key_Down) - (event->key() == Qt::Key_Up);
    if (cells_.empty() || (across == 0 && down == 0)) return QWidget::keyPressEvent(event);
    const auto moved = [n = static_cast<int>(cells_.size())](std::size_t from, int by) {
        return static_cast<std::size_t>(std::clamp(static_cast<int>(from) + by, 0, n - 1));
    };
    if (!chosen_) return choose(Cell{0, 0});
    choose(Cell{moved(chosen_->row, down), moved(chosen_->column, across)});
}

}  // namespace ui
