#include "network/network_strip.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "network/network_editor.h"
#include "network/network_model.h"

namespace ui {

NetworkStrip::NetworkStrip(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent)
    : PaintedWidget(theme, parent), model_(model), editor_(editor) {
    setFocusPolicy(Qt::StrongFocus);
    connect(editor, &NetworkEditor::moved, this, qOverload<>(&QWidget::update));
    connect(model, &NetworkModel::checked, this, qOverload<>(&QWidget::update));
}

int NetworkStrip::headHeight() { return Theme::rowHeight(size::head); }

int NetworkStrip::offset() const {
    const QWidget* top = window();
    return editor_->viewport()->mapTo(top, QPoint()).y() - mapTo(top, QPoint()).y();
}

void NetworkStrip::visitRows(const std::function<void(int, const QRect&)>& draw) const {
    const int down = offset();
    editor_->visitLines([&](int line, const QRect& area) { draw(line, QRect(0, area.top() + down, width(), area.height())); });
}

int NetworkStrip::rowAt(int y) const { return y < headHeight() ? 0 : editor_->lineAt(y - offset()); }

int NetworkStrip::rowTop(int line) const {
    int top = 0;
    visitRows([&](int each, const QRect& row) {
        if (each == line) top = row.top();
    });
    return top;
}

void NetworkStrip::clicked(int line, const QPoint&) { editor_->goTo(line); }

bool NetworkStrip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return PaintedWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int line = rowAt(help->pos().y());
    const QString text = line > 0 ? about(line) : QString();
    QToolTip::showText(help->globalPos(), text, this);
    event->setAccepted(!text.isEmpty());
    return true;
}

void NetworkStrip::speak() {
    QAccessibleEvent said(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&said);
}

void NetworkStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::caption());
    const Tokens& tokens = theme_->tokens();
    painter.fillRect(rect(), tokens.panel);
    const QRect head(0, 0, width(), headHeight());
    painter.save();
    painter.setClipRect(rect().adjusted(0, head.height(), 0, 0));
    visitRows([&](int line, const QRect& row) {
        if (line == editor_->currentLine()) painter.fillRect(row, blend(tokens.panel, tokens.accent, 0.10));
    });
    paintRows(painter);
    painter.restore();
    painter.setPen(tokens.dim);
    paintHead(painter, head);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(tokens.line);
    painter.drawLine(0, head.bottom(), width(), head.bottom());
    painter.drawLine(0, 0, 0, height());
    if (!hasFocus()) return;
    painter.setPen(QPen(tokens.accent, 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
}

void NetworkStrip::mousePressEvent(QMouseEvent* event) {
    const QPoint at = event->position().toPoint();
    if (event->button() != Qt::LeftButton) return;
    if (at.y() < headHeight()) return clickedHead(at);
    if (const int line = rowAt(at.y()); line > 0) clicked(line, at);
}

void NetworkStrip::wheelEvent(QWheelEvent* event) { QCoreApplication::sendEvent(editor_->viewport(), event); }

void NetworkStrip::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Up ? -1 : event->key() == Qt::Key_Down ? 1 : 0;
    if (step == 0) return PaintedWidget::keyPressEvent(event);
    editor_->goTo(std::clamp(editor_->currentLine() + step, 1, editor_->blockCount()));
    speak();
}

void NetworkStrip::focusInEvent(QFocusEvent* event) {
    PaintedWidget::focusInEvent(event);
    update();
}

void NetworkStrip::focusOutEvent(QFocusEvent* event) {
    PaintedWidget::focusOutEvent(event);
    update();
}

}  // namespace ui
