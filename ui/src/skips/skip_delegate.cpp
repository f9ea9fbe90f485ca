#include "skips/skip_delegate.h"

#include <QAbstractItemView>
#include <QPainter>

#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int rowPadding = 5;
constexpr int currentWidth = 3;  // of the mark of the selected row
const QString usualStep = u"8,888"_s;

int lineHeight() { return QFontMetrics(Theme::bold()).height(); }

}  // namespace

int SkipDelegate::stepWidth() const {
    const QFontMetrics metrics(Theme::bold());
    // Digits may differ in width: any number of as many digits fits.
    QString widest = widestStep_;
    for (QChar& c : widest)
        if (c.isDigit()) c = u'8';
    return std::max(metrics.horizontalAdvance(usualStep), metrics.horizontalAdvance(widest));
}

QSize SkipDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
    return {stepWidth() + 2 * size::inside, 2 * lineHeight() + 2 * rowPadding + 1};
}

void SkipDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const QRect& cell = option.rect;
    const bool selected = (option.state & QStyle::State_Selected) != 0;
    painter->save();
    painter->setClipRect(cell);
    painter->fillRect(cell, selected ? blend(t.panel, t.accent, 0.16) : t.panel);
    painter->setPen(t.grid);
    painter->drawLine(cell.bottomLeft(), cell.bottomRight());
    if (selected) painter->fillRect(cell.left(), cell.top(), currentWidth, cell.height(), t.accent);
    paintWords(*painter, cell, index);
    painter->restore();
}

void SkipDelegate::paintWords(QPainter& painter, const QRect& cell,
                              const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const int line = lineHeight(), top = cell.top() + rowPadding;
    const auto text = [&](Role role) { return index.data(role).toString(); };
    const auto write = [&](const QRect& room, const QFont& font, const QColor& color,
                           const QString& words, Qt::Alignment to = Qt::AlignLeft) {
        painter.setFont(font);
        painter.setPen(color);
        const QString shown =
            QFontMetrics(font).elidedText(words, Qt::ElideRight, std::max(0, room.width()));
        painter.drawText(room, static_cast<int>(to | Qt::AlignVCenter), shown);
        return QFontMetrics(font).horizontalAdvance(shown);
    };
    write({cell.left() + size::grid, top, stepWidth(), line}, Theme::bold(), t.text, text(StepRole),
          Qt::AlignRight);
    const int left = cell.left() + size::grid + stepWidth() + size::gap;
    QRect first(left, top, cell.right() - size::grid - left, line);
    const auto tone = static_cast<Tone>(index.data(ToneRole).toInt());
    const QString mark = tone == bad ? u"▲ "_s : QString();
    const int used = write(first, tone == unknown ? Theme::caption() : Theme::bold(),
                           tone == bad       ? t.bad
                           : tone == unknown ? t.dim
                                             : t.text,
                           mark + text(CauseRole));
    first.setLeft(left + used + size::grid + 2);
    write(first, Theme::caption(), t.dim, text(ScalesRole));
    write({left, top + line, cell.right() - size::grid - left, line}, Theme::caption(), t.dim,
          text(DetailRole));
}

}  // namespace ui
