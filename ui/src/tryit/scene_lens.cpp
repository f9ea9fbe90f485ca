#include "tryit/scene_lens.h"

#include <algorithm>
#include <cmath>

namespace ui {
namespace {

constexpr int smallestLevel = 512;
constexpr double largestPixel = 48;  // of the picture, in pixels of the screen
constexpr double leastRange = 8;     // to which every picture can be enlarged

double fitting(const QSizeF& view, const QSizeF& picture) {
    return std::min(view.width() / picture.width(), view.height() / picture.height());
}

}  // namespace

ScenePicture::ScenePicture(const QImage& whole) {
    if (whole.isNull()) return;
    levels_.push_back(whole);
    while (std::max(levels_.back().width(), levels_.back().height()) > smallestLevel) {
        const QSize half((levels_.back().width() + 1) / 2, (levels_.back().height() + 1) / 2);
        levels_.push_back(
            levels_.back().scaled(half, Qt::IgnoreAspectRatio, Qt::SmoothTransformation));
    }
}

const QImage& ScenePicture::level(double scale) const {
    std::size_t at = 0;
    for (; at + 1 < levels_.size() && scale <= 0.5; scale *= 2) ++at;
    return levels_[at];
}

void SceneLens::setScore(double score) {
    score = std::clamp(score, 0.0, 1.0);
    if (score == score_) return;
    score_ = score;
    emit changed();
}

void SceneLens::setOpacity(double opacity) {
    opacity_ = std::clamp(opacity, 0.0, 1.0);
    emit changed();
}

void SceneLens::setMasks(bool masks) {
    masks_ = masks;
    emit changed();
}

void SceneLens::setShown(std::int32_t label, bool shown) {
    if (shown)
        hidden_.remove(label);
    else
        hidden_.insert(label);
    emit changed();
}

void SceneLens::highlight(int row) {
    if (row == highlighted_) return;
    highlighted_ = row;
    emit changed();
}

QRectF SceneLens::placeIn(const QSizeF& view, const QSizeF& picture) const {
    if (picture.isEmpty() || view.isEmpty()) return {};
    const QSizeF size = picture * (fitting(view, picture) * zoom_);
    const auto start = [](double inside, double outside, double centre) {
        if (inside <= outside) return (outside - inside) / 2;
        return std::clamp(outside / 2 - centre * inside, outside - inside, 0.0);
    };
    return {QPointF(start(size.width(), view.width(), centre_.x()),
                    start(size.height(), view.height(), centre_.y())),
            size};
}

void SceneLens::zoom(double factor, const QPointF& at, const QSizeF& view, const QSizeF& picture) {
    const QRectF before = placeIn(view, picture);
    if (before.isEmpty()) return;
    const double most = std::max(leastRange, largestPixel / fitting(view, picture));
    const double next = std::clamp(zoom_ * factor, 1.0, most);
    const QPointF share((at.x() - before.x()) / before.width(),
                        (at.y() - before.y()) / before.height());
    const QSizeF size = before.size() * (next / zoom_);
    zoom_ = next;
    centre_ = {share.x() + (view.width() / 2 - at.x()) / size.width(),
               share.y() + (view.height() / 2 - at.y()) / size.height()};
    pan({}, view, picture);
}

/// Takes the centre from where the picture really lies, so that a drag beyond its edge is not kept.
void SceneLens::pan(const QPointF& by, const QSizeF& view, const QSizeF& picture) {
    const QRectF place = placeIn(view, picture);
    if (place.isEmpty()) return;
    const auto moved = [](double centre, double by_, double inside) {
        return centre - by_ / inside;
    };
    centre_ = {moved(centre_.x(), by.x(), place.width()),
               moved(centre_.y(), by.y(), place.height())};
    const QRectF now = placeIn(view, picture);
    centre_ = {(view.width() / 2 - now.x()) / now.width(),
               (view.height() / 2 - now.y()) / now.height()};
    emit this->moved();
}

void SceneLens::fit() {
    zoom_ = 1;
    centre_ = {0.5, 0.5};
    emit moved();
}

}  // namespace ui
