#include "panels/history/run_delegate.h"

#include <QPainter>

#include "models/run_list_model.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace ui {
namespace {

constexpr int linePadding = 4;
constexpr int eyeWidth = 22;
constexpr int dotWidth = 14;

QRect firstLine(const QRect& row, const QFontMetrics& metrics) {
    return {row.left() + eyeWidth, row.top() + linePadding, row.width() - eyeWidth - size::gap,
            metrics.height()};
}

}  // namespace

QRect RunDelegate::eye(const QRect& row) { return {row.topLeft(), QSize(eyeWidth, row.height())}; }

QSize RunDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {120,
            2 * linePadding + QFontMetrics(Theme::bold()).height() +
                std::max(option.fontMetrics.height(), QFontMetrics(Theme::caption()).height())};
}

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const QRect area = option.rect;
    painter->save();
    if ((option.state & QStyle::State_Selected) != 0)
        painter->fillRect(area, blend(t.panel, t.accent, 0.16));
    painter->setPen(t.grid);
    painter->drawLine(area.bottomLeft(), area.bottomRight());
    const qreal ratio = painter->device()->devicePixelRatioF();
    const bool shown = index.data(RunListModel::ShownRole).toBool();
    const QPixmap mark =
        iconPixmap(shown ? u"eye"_s : u"eye-off"_s, shown ? t.text : t.dim, size::icon, ratio);
    const QRect line = firstLine(area, QFontMetrics(Theme::bold()));
    const QRect left = eye(area);
    painter->drawPixmap(left.left() + (eyeWidth - size::icon) / 2,
                        line.top() + (line.height() - size::icon) / 2, mark);
    const auto preset = index.data(RunListModel::PrecisionRole).toString().toStdString();
    painter->drawPixmap(line.left(), line.top() + (line.height() - 10) / 2,
                        iconPixmap(u"dot"_s, theme_->precision(preset), 10, ratio));
    painter->setPen(t.text);
    painter->setFont(Theme::figures());
    const QString value = index.data(RunListModel::MetricRole).toString();
    painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, value);
    painter->setFont(Theme::bold());
    const QFontMetrics metrics(Theme::bold());
    const int room = line.width() - dotWidth - size::gap -
                     QFontMetrics(Theme::figures()).horizontalAdvance(value);
    painter->drawText(
        line.adjusted(dotWidth, 0, 0, 0), Qt::AlignVCenter,
        metrics.elidedText(index.data(RunListModel::NameRole).toString(), Qt::ElideMiddle, room));
    paintDetail(painter, line.translated(0, line.height()), index);
    painter->restore();
}

void RunDelegate::paintDetail(QPainter* painter, const QRect& line,
                              const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const QFontMetrics metrics(Theme::caption());
    painter->setFont(Theme::caption());
    const QString metric = index.data(RunListModel::MetricNameRole).toString();
    painter->setPen(t.dim);
    painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, metric);
    QRect rest = line.adjusted(dotWidth, 0, -metrics.horizontalAdvance(metric) - size::gap, 0);
    const QString state = index.data(RunListModel::StateRole).toString();
    if (!state.isEmpty()) {
        const QString head = state + u" · "_s;
        painter->setPen(index.data(RunListModel::BrokenRole).toBool() ? t.bad : t.dim);
        painter->drawText(rest, Qt::AlignVCenter, head);
        rest.setLeft(rest.left() + metrics.horizontalAdvance(head));
    }
    painter->setPen(t.dim);
    painter->drawText(rest, Qt::AlignVCenter,
                      metrics.elidedText(index.data(RunListModel::DetailRole).toString(),
                                         Qt::ElideRight, rest.width()));
}

void RunDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                                       const QModelIndex&) const {
    const QRect line = firstLine(option.rect, QFontMetrics(Theme::bold()));
    editor->setGeometry(QRect(line.left() + dotWidth, option.rect.top(), line.width() - dotWidth,
                              editor->sizeHint().height()));
}

}  // namespace ui
