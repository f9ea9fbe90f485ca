#include "network/network_gutter.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "network/network_editor.h"
#include "network/network_model.h"

namespace ui {

NetworkGutter::NetworkGutter(const Theme* theme, NetworkModel* model, NetworkEditor* editor) : PaintedWidget(theme, editor), model_(model), editor_(editor) {}

int NetworkGutter::lineWidth() const {
    int digits = 2;
    for (int lines = editor_->blockCount(); lines >= 100; lines /= 10) ++digits;
    const QFontMetrics metrics = editor_->fontMetrics();
    return size::mark + metrics.horizontalAdvance(u'9') * digits + 2 * metrics.horizontalAdvance(u' ') + size::gap;
}

int NetworkGutter::offset() const { return editor_->viewport()->y() - y(); }

void NetworkGutter::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QRect area = rect();
    const Tokens& tokens = theme_->tokens();
    painter.fillRect(area, tokens.panel);
    painter.setFont(editor_->font());
    painter.setRenderHint(QPainter::Antialiasing);
    const int top = offset();
    const int arrow = 2 * editor_->fontMetrics().horizontalAdvance(u' ');
    const auto& view = model_->now();
    editor_->visitLines([&](int line, const QRect& row) {
        const QRect here(area.left(), row.top() + top, area.width(), row.height());
        const auto fault = std::ranges::find(view.network.faults, line, [](const auto& each) { return each.place.line; });
        const bool faulty = fault != view.network.faults.end();
        const QColor mark = !faulty ? tokens.dim : fault->note ? tokens.caution : tokens.bad;
        if (faulty) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(mark);
            painter.drawEllipse(QPointF(here.left() + size::mark * 0.6, here.center().y() + 0.5), size::mark * 0.4, size::mark * 0.4);
        }
        if (model_->changed().contains(line)) painter.fillRect(QRect(here.right() - 2, here.top(), 3, here.height()), tokens.accent);
        painter.setPen(line == editor_->currentLine() && !faulty ? tokens.text : mark);
        // The number of a row that is cut stands or falls as a whole.
        if (here.center().y() + painter.fontMetrics().capHeight() / 2 + 1 > area.bottom()) return;
        painter.drawText(here.adjusted(0, 0, -arrow - size::grid, 0), Qt::AlignRight | Qt::AlignVCenter, QString::number(line));
        const auto index = static_cast<std::size_t>(line - 1);
        if (index >= view.lines.size() || view.lines[index].end < line) return;
        painter.setPen(tokens.dim);
        painter.drawText(here.adjusted(0, 0, -size::grid / 2, 0), Qt::AlignRight | Qt::AlignVCenter, editor_->isFolded(line) ? u"▸"_s : u"▾"_s);
    });
}

void NetworkGutter::mousePressEvent(QMouseEvent* event) {
    const int line = editor_->lineAt(event->position().toPoint().y() - offset());
    if (line == 0) return;
    const auto index = static_cast<std::size_t>(line - 1);
    const auto& lines = model_->now().lines;
    if (index < lines.size() && lines[index].end >= line)
        editor_->fold(line, !editor_->isFolded(line));
    else
        editor_->goTo(line);
}

void NetworkGutter::wheelEvent(QWheelEvent* event) { event->ignore(); }

}  // namespace ui
