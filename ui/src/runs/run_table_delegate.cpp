#include "runs/run_table_delegate.h"

#include <QApplication>
#include <QPainter>
#include <QPainterPath>
#include <QTreeView>
#include <algorithm>
#include <cmath>
#include <limits>

#include "models/run_table_model.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace ui {
namespace {

constexpr int starWidth = 22;
constexpr int dotWidth = 14;
constexpr int dotSize = 10;
constexpr int currentWidth = 2;  ///< of the mark of the row that the keyboard is on
constexpr int rowPadding = 5;
constexpr int cellPadding = 6;  // as in the head
constexpr int sketchWidth = 44;
constexpr int sketchPadding = 6;

bool isPlain(const QModelIndex& index) {
    return index.column() != 0 || index.data(RunTableModel::GroupRole).toBool();
}

/// Each run has a scale of its own. A gap: no loss of these steps was finite.
void paintSketch(QPainter* painter, const QRect& area, const std::vector<float>& losses,
                 const QColor& colour) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (const float loss : losses) {
        if (!std::isfinite(loss)) continue;
        low = std::min(low, loss);
        high = std::max(high, loss);
    }
    if (losses.size() < 2 || !(high > low)) return;
    QPainterPath path;
    bool drawing = false;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const bool known = std::isfinite(losses[i]);
        const qreal x = area.left() + area.width() * static_cast<qreal>(i) /
                                          static_cast<qreal>(losses.size() - 1);
        const qreal y =
            area.top() + area.height() * static_cast<qreal>((high - losses[i]) / (high - low));
        if (known && drawing)
            path.lineTo(x, y);
        else if (known)
            path.moveTo(x, y);
        drawing = known;
    }
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(colour, 1.2));
    painter->drawPath(path);
}

}  // namespace

QRect RunTableDelegate::star(const QRect& cell) {
    return {cell.topLeft(), QSize(starWidth, cell.height())};
}

QSize RunTableDelegate::sizeHint(const QStyleOptionViewItem& option,
                                 const QModelIndex& index) const {
    const QSize size = QStyledItemDelegate::sizeHint(option, index);
    const int extra = isPlain(index) ? size::gap : starWidth + dotWidth + size::gap;
    return {size.width() + extra, QFontMetrics(Theme::bold()).height() + 2 * rowPadding};
}

void RunTableDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const QRect cell = option.rect;
    const bool selected = (option.state & QStyle::State_Selected) != 0;
    painter->save();
    painter->setClipRect(cell);
    // Over the style's own row, which has a gradient.
    painter->fillRect(cell, selected ? blend(t.panel, t.accent, 0.16) : t.panel);
    painter->setPen(t.grid);
    painter->drawLine(cell.bottomLeft(), cell.bottomRight());
    // The view draws the text of a group, over all columns.
    if (!index.data(RunTableModel::GroupRole).toBool()) {
        if (index.column() == 0)
            paintRun(painter, cell, index);
        else
            paintText(painter, cell, index);
    }
    const auto* view = qobject_cast<const QTreeView*>(option.widget);
    const bool current = view != nullptr && index.column() == 0 && view->hasFocus() &&
                         view->currentIndex().siblingAtColumn(0) == index;
    if (current) painter->fillRect(cell.left(), cell.top(), currentWidth, cell.height(), t.accent);
    painter->restore();
}

void RunTableDelegate::paintText(QPainter* painter, const QRect& cell,
                                 const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const auto* model = static_cast<const RunTableModel*>(index.model());
    const bool broken =
        index.data(RunTableModel::BrokenRole).toBool() && model->fieldOf(index.column()) == "state";
    const QFont font = QApplication::font();
    painter->setFont(font);
    painter->setPen(broken ? t.bad : t.text);
    const QRect words = cell.adjusted(cellPadding, 0, -cellPadding, 0);
    const auto alignment =
        index.data(Qt::TextAlignmentRole).value<Qt::Alignment>() | Qt::AlignVCenter;
    painter->drawText(words, static_cast<int>(alignment),
                      QFontMetrics(font).elidedText(index.data(Qt::DisplayRole).toString(),
                                                    Qt::ElideRight, words.width()));
}

void RunTableDelegate::paintRun(QPainter* painter, const QRect& cell,
                                const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const auto middle = [&](int height) { return cell.top() + (cell.height() - height) / 2; };
    const qreal ratio = painter->device()->devicePixelRatioF();
    const bool starred = index.data(RunTableModel::StarRole).toBool();
    painter->drawPixmap(
        cell.left() + (starWidth - size::icon) / 2, middle(size::icon),
        iconPixmap(starred ? u"star-filled"_s : u"star"_s,
                   starred ? t.caution : blend(t.panel, t.dim, 0.65), size::icon, ratio));
    const auto preset = index.data(RunTableModel::PrecisionRole).toString().toStdString();
    painter->drawPixmap(cell.left() + starWidth, middle(dotSize),
                        iconPixmap(u"dot"_s, theme_->precision(preset), dotSize, ratio));
    const QRect words = cell.adjusted(starWidth + dotWidth, 0, -cellPadding, 0);
    const QFontMetrics metrics(Theme::bold());
    const QString name = index.data(Qt::DisplayRole).toString();
    painter->setFont(Theme::bold());
    painter->setPen(t.text);
    painter->drawText(words, Qt::AlignVCenter,
                      metrics.elidedText(name, Qt::ElideRight, words.width()));
    const auto* run = static_cast<const RunTableModel*>(index.model())->run(index);
    const int left = words.right() - sketchWidth;
    if (run == nullptr || words.left() + metrics.horizontalAdvance(name) + size::gap > left) return;
    paintSketch(painter,
                {left, cell.top() + sketchPadding, sketchWidth, cell.height() - 2 * sketchPadding},
                run->loss_sketch, theme_->precision(preset));
}

void RunTableDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                                            const QModelIndex& index) const {
    if (index.data(RunTableModel::GroupRole).toBool()) {
        // Over the text of the group, which has the whole row.
        QRect row = option.rect;
        row.setRight(editor->parentWidget()->width() - size::gap);
        return editor->setGeometry(row);
    }
    editor->setGeometry(option.rect.adjusted(starWidth + dotWidth - size::grid, 0, 0, 0));
}

}  // namespace ui
