#pragma once

#include <QImage>
#include <QVariant>
#include <optional>

#include "engine/io/picture.h"
#include "widgets/painted_widget.h"

namespace ui {

/// A picture for a model: drawn in white on black, as in the data sets of digits and clothes, or
/// read from a file. The right button erases; the arrow keys move the pen, with Shift it draws.
class DrawBoard final : public PaintedWidget {
    Q_OBJECT
    /// The picture, for widgets/widget_state.h; invalid while it is blank.
    Q_PROPERTY(QVariant kept READ kept WRITE setKept)
public:
    /// `width`, `height`: of the model's input. `drawable`: else it shows files alone.
    DrawBoard(Theme* theme, int width, int height, bool drawable, QWidget* parent = nullptr);

    void setPen(double modelPixels) { pen_ = modelPixels; }
    void clear();
    /// Takes back the last stroke, or the clearing.
    void undo();
    /// A picture of the model's size.
    void show(const engine::Picture& fitted);
    bool isBlank() const { return blank_; }
    /// The drawing that the model is asked about.
    engine::Picture picture() const;
    QVariant kept() const;
    void setKept(const QVariant& picture);
    QSize sizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void edited();
    void fileDropped(const QString& file);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QRectF area() const;
    QPointF toInk(const QPointF& at) const;
    /// Keeps the drawing for undo(), before a change. A file's picture becomes ink.
    void keep();
    void line(const QPointF& from, const QPointF& to, bool erase);
    bool moveByKey(const QKeyEvent& event);

    QSize model_;
    bool drawable_;
    double pen_ = 2.5;
    QImage ink_;                           ///< the model's size times `fine`
    std::optional<engine::Picture> file_;  ///< until somebody draws on it
    std::vector<QImage> before_;
    bool blank_ = true;
    QPointF last_;        ///< of the pen, in ink_
    QPointF cursor_;      ///< of the keyboard's pen, in ink_
    bool keyed_ = false;  ///< the keyboard moved it last
};

}  // namespace ui
