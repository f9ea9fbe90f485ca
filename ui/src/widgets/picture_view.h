#pragma once

#include <QImage>
#include <QWidget>

#include "engine/io/picture.h"

namespace ui {

/// A picture as large as its place allows: a small one by a whole factor, with sharp pixels.
class PictureView final : public QWidget {
    Q_OBJECT
public:
    explicit PictureView(QWidget* parent = nullptr);

    void setImage(const QImage& image);
    const QImage& image() const { return image_; }
    QSize sizeHint() const override { return image_.size(); }
    QSize minimumSizeHint() const override { return {48, 48}; }

signals:
    /// Chosen by mouse, Space or Return; only where it takes the focus.
    void chosen();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QImage image_;
};

/// A copy for the screen.
QImage toImage(const engine::Picture& picture);

}  // namespace ui
