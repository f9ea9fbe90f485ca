#include "tryit/draw_board.h"

#include <QDragEnterEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>
#include <QUrl>


namespace ui {
namespace {

constexpr int fine = 10;  // pixels of ink in one of the model's
constexpr int largest = 280;
constexpr std::size_t maxUndo = 30;

/// A copy that the image owns.
QImage imageOf(const engine::Picture& picture) {
    return QImage(picture.rgb.data(), picture.width, picture.height, picture.width * 3,
                  QImage::Format_RGB888)
        .copy();
}

}  // namespace

DrawBoard::DrawBoard(Theme* theme, int width, int height, bool drawable, QWidget* parent)
    : PaintedWidget(theme, parent), model_(width, height), drawable_(drawable) {
    setAcceptDrops(true);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(drawable ? Qt::CrossCursor : Qt::ArrowCursor);
    setAccessibleName(drawable ? tr("Canvas to draw on") : tr("Picture for the model"));
    setAccessibleDescription(drawable ? tr("The mouse draws, its right button erases. Arrow keys "
                                           "move the pen; with Shift they draw.")
                                      : tr("Drop a PNG or JPEG file here."));
    setToolTip(accessibleDescription());
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    ink_ = QImage(model_ * fine, QImage::Format_RGB888);
    ink_.fill(Qt::black);
    cursor_ = QPointF(ink_.width(), ink_.height()) / 2;
}

QSize DrawBoard::sizeHint() const { return {largest, heightForWidth(largest)}; }

int DrawBoard::heightForWidth(int width) const {
    return std::min(width, largest) * model_.height() / std::max(1, model_.width());
}

QRectF DrawBoard::area() const {
    const QSizeF whole = QSizeF(model_).scaled(QSizeF(size()), Qt::KeepAspectRatio);
    return {QPointF(0, 0), whole};
}

QPointF DrawBoard::toInk(const QPointF& at) const {
    const QRectF shown = area();
    return {(at.x() - shown.x()) * ink_.width() / shown.width(),
            (at.y() - shown.y()) * ink_.height() / shown.height()};
}

void DrawBoard::keep() {
    before_.push_back(ink_);
    if (before_.size() > maxUndo) before_.erase(before_.begin());
    if (!file_) return;
    ink_ = imageOf(*file_).scaled(ink_.size(), Qt::IgnoreAspectRatio, Qt::FastTransformation);
    file_.reset();
}

void DrawBoard::clear() {
    if (blank_) return;
    keep();
    file_.reset();
    ink_.fill(Qt::black);
    blank_ = true;
    update();
    emit edited();
}

QVariant DrawBoard::kept() const {
    if (blank_) return {};
    return file_ ? imageOf(*file_) : ink_;
}

void DrawBoard::setKept(const QVariant& picture) {
    const auto image = picture.value<QImage>();
    if (image.isNull()) return;
    ink_ = image.scaled(ink_.size(), Qt::IgnoreAspectRatio, Qt::FastTransformation);
    file_.reset();
    blank_ = false;
    update();
    emit edited();
}

void DrawBoard::undo() {
    if (before_.empty()) return;
    ink_ = before_.back();
    before_.pop_back();
    file_.reset();
    QImage black(ink_.size(), ink_.format());
    black.fill(Qt::black);
    blank_ = ink_ == black;
    update();
    emit edited();
}

void DrawBoard::show(const engine::Picture& fitted) {
    keep();
    file_ = fitted;
    blank_ = false;
    update();
    emit edited();
}

engine::Picture DrawBoard::picture() const {
    if (file_) return *file_;
    engine::Picture out{ink_.width(), ink_.height(), {}};
    const auto row = static_cast<std::size_t>(ink_.width()) * 3;
    out.rgb.reserve(row * static_cast<std::size_t>(ink_.height()));
    for (int y = 0; y < ink_.height(); ++y) {
        const uchar* line = ink_.constScanLine(y);
        out.rgb.insert(out.rgb.end(), line, line + row);
    }
    return out;
}

void DrawBoard::line(const QPointF& from, const QPointF& to, bool erase) {
    QPainter painter(&ink_);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(erase ? Qt::black : Qt::white, pen_ * fine, Qt::SolidLine, Qt::RoundCap,
                        Qt::RoundJoin));
    if (from == to) {
        painter.drawPoint(from);
    } else {
        painter.drawLine(from, to);
    }
    blank_ = false;
    update();
    emit edited();
}

void DrawBoard::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::SmoothPixmapTransform, !file_ || model_.width() > 64);
    const QRectF shown = area();
    painter.fillRect(shown, Qt::black);
    if (file_) {
        painter.drawImage(shown, imageOf(*file_));
    } else if (drawable_) {
        painter.drawImage(shown, ink_);
    }
    if (blank_) {
        painter.setPen(QColor(Qt::lightGray));
        painter.drawText(shown.adjusted(size::inside, size::inside, -size::inside, -size::inside),
                         Qt::AlignCenter | Qt::TextWordWrap,
                         drawable_ ? tr("Draw here, or drop a picture.") : tr("Drop a picture."));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    if (hasFocus() && keyed_) {
        const QPointF at(cursor_.x() * shown.width() / ink_.width(),
                         cursor_.y() * shown.height() / ink_.height());
        painter.setPen(QPen(t.accent, 1.5));
        painter.drawEllipse(at, 4, 4);
    }
    painter.setPen(QPen(hasFocus() ? t.accent : t.line, hasFocus() ? 2 : 1));
    painter.drawRect(shown.adjusted(0.5, 0.5, -0.5, -0.5));
}

void DrawBoard::mousePressEvent(QMouseEvent* event) {
    if (!drawable_ || !(event->buttons() & (Qt::LeftButton | Qt::RightButton))) return;
    keep();
    keyed_ = false;
    last_ = toInk(event->position());
    line(last_, last_, event->buttons() & Qt::RightButton);
}

void DrawBoard::mouseMoveEvent(QMouseEvent* event) {
    if (!drawable_ || !(event->buttons() & (Qt::LeftButton | Qt::RightButton))) return;
    const QPointF to = toInk(event->position());
    line(last_, to, event->buttons() & Qt::RightButton);
    last_ = to;
}

void DrawBoard::mouseReleaseEvent(QMouseEvent*) { cursor_ = drawable_ ? last_ : cursor_; }

bool DrawBoard::moveByKey(const QKeyEvent& event) {
    QPointF step;
    if (event.key() == Qt::Key_Left) step = {-fine, 0};
    if (event.key() == Qt::Key_Right) step = {fine, 0};
    if (event.key() == Qt::Key_Up) step = {0, -fine};
    if (event.key() == Qt::Key_Down) step = {0, fine};
    if (step.isNull()) return false;
    const QPointF to(std::clamp(cursor_.x() + step.x(), 0.0, ink_.width() - 1.0),
                     std::clamp(cursor_.y() + step.y(), 0.0, ink_.height() - 1.0));
    if (event.modifiers() & Qt::ShiftModifier) {
        if (!event.isAutoRepeat()) keep();
        line(cursor_, to, false);
    }
    cursor_ = to;
    keyed_ = true;
    update();
    return true;
}

void DrawBoard::keyPressEvent(QKeyEvent* event) {
    if (drawable_ && moveByKey(*event)) return;
    if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) return clear();
    if (event->matches(QKeySequence::Undo)) return undo();
    QWidget::keyPressEvent(event);
}

void DrawBoard::dragEnterEvent(QDragEnterEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void DrawBoard::dropEvent(QDropEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (urls.isEmpty()) return;
    event->acceptProposedAction();
    emit fileDropped(urls.front().toLocalFile());
}

}  // namespace ui
