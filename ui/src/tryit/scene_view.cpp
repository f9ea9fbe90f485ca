#include "tryit/scene_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "tryit/tried_model.h"

namespace ui {
namespace {

constexpr double smallestPlated = 12;  // sides of boxes, pixels of the screen
constexpr double boxLine = 1.5, casing = 1;
constexpr double zoomStep = 1.25, panStep = 40;
constexpr int wheelNotch = 120;
constexpr int edgeWidth = 2;
constexpr double half = 0.5;

/// One axis of a mask with a frame of zeros, as engine/data/detection/mask_paste.h has it: where
/// each pixel of the screen lies between two of the mask.
struct MaskAxis {
    struct Tap {
        std::size_t low;
        double share;  ///< of the next one
    };
    std::vector<Tap> taps;

    MaskAxis(double start, double extent, std::size_t side, int first, int count) {
        const double scale = static_cast<double>(side) / std::max(extent, 1e-9);
        const double last = static_cast<double>(side) + 1;
        for (int i = 0; i < count; ++i) {
            const double at =
                std::clamp((first + i + half - start) * scale + half, 0.0, last);  // in the frame
            const double low = std::min(std::floor(at), last - 1);
            taps.push_back({static_cast<std::size_t>(low), at - low});
        }
    }
};

/// Where a mask is above one half, with a border of zeros of `edgeWidth` around the pixels.
class MaskBits {
public:
    MaskBits(const std::vector<float>& shape, const QRectF& box, const QRect& clip)
        : stride_(static_cast<std::size_t>(clip.width() + 2 * edgeWidth)),
          bits_(stride_ * static_cast<std::size_t>(clip.height() + 2 * edgeWidth)) {
        const auto side = static_cast<std::size_t>(std::lround(std::sqrt(shape.size())));
        std::vector<double> framed((side + 2) * (side + 2));
        for (std::size_t y = 0; y < side; ++y)
            for (std::size_t x = 0; x < side; ++x)
                framed[(y + 1) * (side + 2) + x + 1] = static_cast<double>(shape[y * side + x]);
        // One pixel more on each side, so that an edge at the clip's border is an edge or none.
        const MaskAxis across(box.x(), box.width(), side, clip.x() - edgeWidth,
                              clip.width() + 2 * edgeWidth);
        const MaskAxis down(box.y(), box.height(), side, clip.y() - edgeWidth,
                            clip.height() + 2 * edgeWidth);
        std::size_t at = 0;
        for (const auto& row : down.taps) {
            const double* top = &framed[row.low * (side + 2)];
            const double* bottom = top + side + 2;
            for (const auto& column : across.taps) {
                const auto mix = [&](const double* line) {
                    return line[column.low] +
                           column.share * (line[column.low + 1] - line[column.low]);
                };
                const double above = mix(top);
                bits_[at++] = above + row.share * (mix(bottom) - above) > half ? 1 : 0;
            }
        }
    }

    bool at(int x, int y) const { return bits_[index(x, y)] != 0; }
    /// A pixel beyond the mask lies within edgeWidth.
    bool isEdge(int x, int y) const {
        for (int d = 1; d <= edgeWidth; ++d) {
            if (!at(x - d, y) || !at(x + d, y) || !at(x, y - d) || !at(x, y + d)) return true;
        }
        return false;
    }

private:
    std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y + edgeWidth) * stride_ +
               static_cast<std::size_t>(x + edgeWidth);
    }
    std::size_t stride_;
    std::vector<char> bits_;
};

double area(const std::array<double, 4>& box) { return box[2] * box[3]; }

}  // namespace

QImage pastedMask(const std::vector<float>& shape, const QRectF& box, const QRect& clip,
                  const QColor& color, double fill) {
    if (shape.empty() || clip.isEmpty()) return {};
    const MaskBits bits(shape, box, clip);
    QImage out(clip.size(), QImage::Format_ARGB32_Premultiplied);
    const QRgb edge = color.rgb();
    QColor within = color;
    within.setAlphaF(static_cast<float>(fill));
    const QRgb inside = qPremultiply(within.rgba());
    for (int y = 0; y < clip.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(out.scanLine(y));
        for (int x = 0; x < clip.width(); ++x)
            line[x] = !bits.at(x, y) ? 0 : bits.isEdge(x, y) ? edge : inside;
    }
    return out;
}

SceneView::SceneView(const Theme* theme, SceneLens* lens, QWidget* parent)
    : PaintedWidget(theme, parent), lens_(lens) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAcceptDrops(false);  // the page takes what is dropped anywhere on it
    setAccessibleName(tr("Objects in the picture"));
    setToolTip(tr("The wheel enlarges, a drag moves, a double click fits."));
    connect(lens_, &SceneLens::changed, this, qOverload<>(&QWidget::update));
    connect(lens_, &SceneLens::moved, this, [this] {
        forgetMasks();
        update();
    });
}

void SceneView::setPicture(const ScenePicture& picture) {
    picture_ = picture;
    forgetMasks();
    update();
}

void SceneView::setObjects(const std::vector<SceneObject>* objects, std::size_t run,
                           const std::vector<engine::FoundObject>* known,
                           std::vector<std::string> classes) {
    objects_ = objects;
    run_ = run;
    known_ = known;
    classes_ = std::move(classes);
    hovered_ = -1;
    forgetMasks();
    update();
}

std::vector<int> SceneView::drawn() const {
    std::vector<int> out;
    if (known_ == nullptr) return out;
    for (int row = 0; row < static_cast<int>(objects_->size()); ++row) {
        const SceneObject& each = object(row);
        if (each.found[run_] && each.scores[run_] >= lens_->score() && lens_->shows(each.label))
            out.push_back(row);
    }
    std::ranges::stable_sort(
        out, [this](int a, int b) { return area(found(a).box) > area(found(b).box); });
    return out;
}

QRectF SceneView::place() const { return lens_->placeIn(size(), picture_.size()); }

QRectF SceneView::boxOnScreen(int row) const {
    const QRectF whole = place();
    const double across = whole.width() / picture_.size().width();
    const double down = whole.height() / picture_.size().height();
    const auto& box = found(row).box;
    return {whole.x() + box[0] * across, whole.y() + box[1] * down, box[2] * across, box[3] * down};
}

int SceneView::objectAt(const QPointF& at) const {
    const auto rows = drawn();
    const auto hit = std::find_if(rows.rbegin(), rows.rend(),
                                  [&](int row) { return boxOnScreen(row).contains(at); });
    return hit == rows.rend() ? -1 : *hit;
}

QString SceneView::spoken() const {
    if (known_ == nullptr) return {};
    QStringList out;
    for (const int row : drawn()) out << plateText(row);
    return out.isEmpty() ? nothingAbove(lens_->score(), *known_, classes_) : out.join(u", "_s);
}

QString SceneView::plateText(int row) const {
    return className(classes_, static_cast<std::size_t>(object(row).label - 1)) + u' ' +
           QString::number(object(row).scores[run_], 'f', 2);
}

const SceneView::Pasted& SceneView::pastedOf(int row) {
    const double fill = lens_->opacity();
    const auto known = std::ranges::find(pasted_, row, &Pasted::row);
    if (known != pasted_.end() && known->fill == fill) return *known;
    const qreal scale = devicePixelRatioF();
    const QRectF box = boxOnScreen(row);
    const QRectF onDevice(box.topLeft() * scale, box.size() * scale);
    const QRect clip = onDevice.toAlignedRect().adjusted(-1, -1, 1, 1) &
                       QRect(QPoint(0, 0), (QSizeF(size()) * scale).toSize());
    Pasted made{row, clip, fill,
                pastedMask(found(row).shape, onDevice, clip, classColor(object(row).label), fill)};
    if (known != pasted_.end()) return *known = std::move(made);
    return pasted_.emplace_back(std::move(made));
}

void SceneView::paintMask(QPainter& painter, int row) {
    const Pasted& mask = pastedOf(row);
    if (mask.image.isNull()) return;
    const qreal scale = devicePixelRatioF();
    painter.drawImage(
        QRectF(QPointF(mask.place.topLeft()) / scale, QSizeF(mask.place.size()) / scale),
        mask.image);
}

void SceneView::paintBox(QPainter& painter, int row) const {
    const QRectF box = boxOnScreen(row);
    const bool alone = object(row).found.size() > 1 && object(row).runsFrom(lens_->score()) == 1;
    const double line = row == lens_->highlighted() ? 2 * boxLine : boxLine;
    painter.setPen(QPen(Qt::white, line + 2 * casing));
    painter.drawRect(box);
    QPen pen(classColor(object(row).label), line);
    if (alone) pen.setDashPattern({4, 3});
    painter.setPen(pen);
    painter.drawRect(box);
}

/// The highlighted object has a plate in any case, the others by falling score where there is room.
void SceneView::paintPlates(QPainter& painter, const std::vector<int>& rows) {
    plates_.clear();
    painter.setFont(Theme::caption());
    const QFontMetricsF metrics(painter.font());
    std::vector<int> order = rows;
    const auto isForced = [this](int row) {
        return row == lens_->highlighted() || row == hovered_;
    };
    std::ranges::sort(order);  // objects come by falling score
    std::ranges::stable_partition(order, isForced);
    std::vector<QRectF> taken;
    for (const int row : order) {
        const QRectF box = boxOnScreen(row);
        const QString text = plateText(row);
        const QSizeF room(metrics.horizontalAdvance(text) + 8, metrics.height() + 2);
        const bool small = box.width() < smallestPlated || box.height() < smallestPlated;
        if ((small && !isForced(row)) || !box.intersects(QRectF(rect()))) continue;
        QRectF plate(QPointF(box.x() - boxLine / 2, box.y() - room.height()), room);
        if (plate.top() < 0) plate.moveTop(std::max(0.0, box.top()));  // inside if cut
        plate.moveLeft(std::clamp(plate.left(), 0.0, std::max(0.0, width() - room.width())));
        const bool covered =
            std::ranges::any_of(taken, [&](const QRectF& each) { return each.intersects(plate); });
        if (covered && !isForced(row)) continue;
        taken.push_back(plate);
        plates_ << text;
        painter.fillRect(plate, classColor(object(row).label));
        painter.setPen(Qt::white);
        painter.drawText(plate, Qt::AlignCenter, text);
    }
}

void SceneView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Tokens& t = theme_->tokens();
    painter.fillRect(rect(), t.field);
    if (picture_.isNull()) {
        painter.setPen(t.dim);
        painter.drawText(QRectF(rect()).adjusted(size::inside, 0, -size::inside, 0),
                         Qt::AlignCenter | Qt::TextWordWrap, tr("Drop or paste a picture."));
    } else {
        const QRectF whole = place();
        const double scale = whole.width() / picture_.size().width() * devicePixelRatioF();
        const QImage& level = picture_.level(scale);
        // Only what is seen: a large picture has more pixels than a widget can be drawn from.
        const QRectF seen = whole & QRectF(rect());
        const double across = level.width() / whole.width(), down = level.height() / whole.height();
        painter.setRenderHint(QPainter::SmoothPixmapTransform, scale < 4);
        painter.drawImage(seen, level,
                          QRectF((seen.x() - whole.x()) * across, (seen.y() - whole.y()) * down,
                                 seen.width() * across, seen.height() * down));
        const auto rows = drawn();
        if (lens_->masks()) {
            for (const int row : rows) paintMask(painter, row);
        }
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(Qt::NoBrush);
        for (const int row : rows) paintBox(painter, row);
        paintPlates(painter, rows);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(hasFocus() ? t.accent : t.line, hasFocus() ? 2 : 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

void SceneView::resizeEvent(QResizeEvent*) { forgetMasks(); }

void SceneView::wheelEvent(QWheelEvent* event) {
    if (picture_.isNull()) return event->ignore();
    const double notches = event->angleDelta().y() / static_cast<double>(wheelNotch);
    lens_->zoom(std::pow(zoomStep, notches), event->position(), size(), picture_.size());
    event->accept();
}

void SceneView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    drag_ = event->position();
    dragged_ = false;
}

void SceneView::mouseMoveEvent(QMouseEvent* event) {
    if (drag_ && (event->buttons() & Qt::LeftButton)) {
        const QPointF by = event->position() - *drag_;
        if (!dragged_ && by.manhattanLength() < 4) return;
        dragged_ = true;
        drag_ = event->position();
        lens_->pan(by, size(), picture_.size());
        return;
    }
    const int row = objectAt(event->position());
    if (row == hovered_) return;
    hovered_ = row;
    lens_->highlight(row);
    update();
}

void SceneView::mouseReleaseEvent(QMouseEvent* event) {
    if (drag_ && !dragged_) emit chosen(objectAt(event->position()));
    drag_.reset();
}

void SceneView::mouseDoubleClickEvent(QMouseEvent*) { lens_->fit(); }

void SceneView::leaveEvent(QEvent*) {
    if (hovered_ < 0) return;
    hovered_ = -1;
    lens_->highlight(-1);
}

void SceneView::keyPressEvent(QKeyEvent* event) {
    const QPointF middle = QRectF(rect()).center();
    const auto zoom = [&](double factor) { lens_->zoom(factor, middle, size(), picture_.size()); };
    const auto pan = [&](double x, double y) {
        lens_->pan({x * panStep, y * panStep}, size(), picture_.size());
    };
    switch (event->key()) {
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(zoomStep);
        case Qt::Key_Minus:
            return zoom(1 / zoomStep);
        case Qt::Key_0:
            return lens_->fit();
        case Qt::Key_Left:
            return pan(1, 0);
        case Qt::Key_Right:
            return pan(-1, 0);
        case Qt::Key_Up:
            return pan(0, 1);
        case Qt::Key_Down:
            return pan(0, -1);
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace ui
