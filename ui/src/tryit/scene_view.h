#pragma once

#include <optional>

#include "text/spoken.h"
#include "tryit/scene_lens.h"
#include "tryit/scene_objects.h"
#include "widgets/painted_widget.h"

namespace ui {

/// A mask on the screen: opaque where its edge is, half-transparent within.
///
/// shape   a square of probabilities over `box`
/// box     in pixels of the screen
/// clip    the pixels that are drawn; the result has its size, and is null where no mask is
/// fill    opacity within
QImage pastedMask(const std::vector<float>& shape, const QRectF& box, const QRect& clip,
                  const QColor& color, double fill);

/// One run's objects in a picture: masks, boxes, and names on plates. The wheel enlarges, a drag
/// moves, a double click fits; + and -, 0 and the arrow keys do so by keyboard.
class SceneView final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    SceneView(const Theme* theme, SceneLens* lens, QWidget* parent = nullptr);

    void setPicture(const ScenePicture& picture);
    /// `run`: which one of the objects' runs this is; `known`: what it found, nothing before its
    /// answer.
    void setObjects(const std::vector<SceneObject>* objects, std::size_t run,
                    const std::vector<engine::FoundObject>* known,
                    std::vector<std::string> classes);
    /// Rows of the objects that are drawn, large boxes first.
    std::vector<int> drawn() const;
    /// The names that are drawn on plates, in the order in which they found room.
    QStringList plates() const { return plates_; }
    /// The row of the smallest object at a point; -1: none.
    int objectAt(const QPointF& at) const;
    QString spoken() const override;

    QSize sizeHint() const override { return {420, 420}; }
    QSize minimumSizeHint() const override { return {160, 160}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

signals:
    /// Click on an object, or beside all (-1).
    void chosen(int row);

private:
    struct Pasted {
        int row;
        QRect place;  ///< in pixels of the device
        double fill;
        QImage image;
    };
    const SceneObject& object(int row) const { return (*objects_)[static_cast<std::size_t>(row)]; }
    const engine::FoundObject& found(int row) const { return (*known_)[*object(row).found[run_]]; }
    QRectF place() const;
    QRectF boxOnScreen(int row) const;
    void forgetMasks() { pasted_.clear(); }
    const Pasted& pastedOf(int row);
    void paintMask(QPainter& painter, int row);
    void paintBox(QPainter& painter, int row) const;
    void paintPlates(QPainter& painter, const std::vector<int>& rows);
    QString plateText(int row) const;

    SceneLens* lens_;
    ScenePicture picture_;
    const std::vector<SceneObject>* objects_ = nullptr;
    const std::vector<engine::FoundObject>* known_ = nullptr;
    std::size_t run_ = 0;
    std::vector<std::string> classes_;
    std::vector<Pasted> pasted_;
    QStringList plates_;
    std::optional<QPointF> drag_;
    bool dragged_ = false;
    int hovered_ = -1;
};

}  // namespace ui
