#include "xray/op_delegate.h"

#include <QPainter>

#include "theme/theme.h"
#include "xray/op_tree.h"

namespace ui {

QColor typeColor(const Theme& theme, const QString& type) {
    const Tokens& t = theme.tokens();
    if (type == u"f16"_s) return t.fp16;
    if (type == u"bf16"_s) return t.bf16;
    if (type == u"f32"_s || type == u"f64"_s) return t.fp32;
    return t.dim;
}

QPixmap forceMark(const Theme& theme, ForceMark mark) {
    constexpr double ratio = 2;
    constexpr double inset = 1.5;
    QPixmap picture(QSize(size::mark, size::mark) * ratio);
    picture.setDevicePixelRatio(ratio);
    picture.fill(Qt::transparent);
    if (mark == ForceMark::none) return picture;
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool user = mark == ForceMark::user;
    const QColor color = user ? theme.tokens().accent : theme.tokens().dim;
    painter.setPen(QPen(color, 1.2));
    painter.setBrush(user ? QBrush(color) : Qt::NoBrush);
    painter.drawEllipse(
        QRectF(0, 0, size::mark, size::mark).adjusted(inset, inset, -inset, -inset));
    return picture;
}

OpDelegate::OpDelegate(const Theme* theme, const QList<int>& types, int time, QObject* parent)
    : QStyledItemDelegate(parent), theme_(theme), types_(types), time_(time) {}

void OpDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant role = index.data(OpTree::markRole);
    if (!role.isValid()) return;
    const auto mark = static_cast<ForceMark>(role.toInt());
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->decorationSize = {size::mark, size::mark};
    option->icon = forceMark(*theme_, mark);
    option->font.setBold(mark == ForceMark::user && index.parent().parent().isValid());
}

void OpDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                       const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setFont(option.font);
    if (types_.contains(index.column()))
        paintTypes(*painter, option.rect, index.data(OpTree::typesRole).toStringList());
    if (index.column() == time_) paintTime(*painter, option.rect, index);
    painter->restore();
}

void OpDelegate::paintTypes(QPainter& painter, const QRect& area, const QStringList& types) const {
    const QFontMetrics metrics(painter.font());
    const double height = std::min(area.height() - 4, metrics.height() + 1);
    double x = area.left() + 3;
    for (const QString& type : types) {
        if (type.isEmpty()) {
            painter.setPen(theme_->tokens().dim);
            painter.drawText(QRectF(x, area.top(), 16, area.height()), Qt::AlignCenter, u"→"_s);
            x += 18;
            continue;
        }
        const double width = metrics.horizontalAdvance(type) + 8;
        if (x + width > area.right()) return;
        const QRectF chip(x + 0.5, area.top() + (area.height() - height) / 2, width, height);
        const QColor color = typeColor(*theme_, type);
        painter.setBrush(blend(theme_->tokens().panel, color, 0.12));
        painter.setPen(QPen(color, 1));
        painter.drawRoundedRect(chip, 3, 3);
        painter.drawText(chip, Qt::AlignCenter, type);
        x += width + 3;
    }
}

/// Paints a bar behind the number, from the left.
void OpDelegate::paintTime(QPainter& painter, const QRect& area, const QModelIndex& index) const {
    const double share = index.data(OpTree::shareRole).toDouble();
    if (share <= 0) return;
    // By what was computed, as on the timeline. The inputs may have been cast.
    const QColor color = typeColor(*theme_, index.data(OpTree::mainTypeRole).toString());
    const double room = area.width() * 0.55;
    painter.fillRect(QRectF(area.left() + 4, area.center().y() - 4, std::max(1.0, room * share), 8),
                     blend(theme_->tokens().panel, color, 0.75));
}

}  // namespace ui
