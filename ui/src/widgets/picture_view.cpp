#include "widgets/picture_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/key_rule.h"

namespace ui {

PictureView::PictureView(QWidget* parent) : QWidget(parent) { setPressedBySpace(this); }

void PictureView::setImage(const QImage& image) {
    image_ = image;
    updateGeometry();
    update();
}

void PictureView::paintEvent(QPaintEvent*) {
    if (image_.isNull()) return;
    const qreal pixels = devicePixelRatioF();
    const QSizeF room = QSizeF(size()) * pixels;
    const qreal fit = std::min(room.width() / image_.width(), room.height() / image_.height());
    const qreal factor = fit >= 1 ? std::floor(fit) : fit;
    const QSizeF shown = QSizeF(image_.size()) * factor / pixels;
    QPainter painter(this);
    painter.setRenderHint(QPainter::SmoothPixmapTransform, factor < 1);
    painter.drawImage(QRectF(QPointF(0, 0), shown), image_);
}

void PictureView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && rect().contains(event->pos())) emit chosen();
}

void PictureView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return) return emit chosen();
    QWidget::keyPressEvent(event);
}

QImage toImage(const engine::Picture& picture) {
    const QImage seen(picture.rgb.data(), picture.width, picture.height, picture.width * 3,
                      QImage::Format_RGB888);
    return seen.copy();
}

}  // namespace ui
