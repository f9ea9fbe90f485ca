#pragma once

#include <QImage>
#include <QObject>
#include <QPointF>
#include <QRectF>
#include <QSet>
#include <vector>

namespace ui {

/// A picture at its size and at halves of it, so that a large one is drawn without aliasing and in
/// little time. Copies share the pixels.
class ScenePicture {
public:
    ScenePicture() = default;
    /// Takes the time of scaling it: off the GUI thread.
    explicit ScenePicture(const QImage& whole);

    bool isNull() const { return levels_.empty(); }
    QSize size() const { return levels_.empty() ? QSize() : levels_.front().size(); }
    /// The smallest level that has as many pixels as are drawn at `scale`.
    const QImage& level(double scale) const;

private:
    std::vector<QImage> levels_;
};

/// State that all views of one picture share: the place looked at, and which objects are drawn how.
class SceneLens final : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    double score() const { return score_; }
    double opacity() const { return opacity_; }
    bool masks() const { return masks_; }
    bool shows(std::int32_t label) const { return !hidden_.contains(label); }
    /// The row of the list of objects that is highlighted; -1: none.
    int highlighted() const { return highlighted_; }

    void setScore(double score);
    void setOpacity(double opacity);
    void setMasks(bool masks);
    void setShown(std::int32_t label, bool shown);
    void highlight(int row);

    /// The picture's place in a view of this size.
    QRectF placeIn(const QSizeF& view, const QSizeF& picture) const;
    /// Enlarges by `factor` and keeps the point of the view where it is.
    void zoom(double factor, const QPointF& at, const QSizeF& view, const QSizeF& picture);
    void pan(const QPointF& by, const QSizeF& view, const QSizeF& picture);
    void fit();
    double magnification() const { return zoom_; }

signals:
    /// Which objects are drawn, or how.
    void changed();
    void moved();

private:
    double score_ = 0.5;
    double opacity_ = 0.35;
    bool masks_ = true;
    QSet<std::int32_t> hidden_;
    int highlighted_ = -1;
    double zoom_ = 1;           ///< 1: the picture fits
    QPointF centre_{0.5, 0.5};  ///< of the view, in shares of the picture
};

}  // namespace ui
