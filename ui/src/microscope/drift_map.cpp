#include "microscope/drift_map.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainterPath>
#include <algorithm>
#include <array>
#include <cmath>

#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "plots/polyline.h"
#include "text/format.h"

namespace ui {

using engine::ExponentHistogram;

namespace {

constexpr int labelColumn = 56;
constexpr int widthWithNotes = 560;
constexpr int highest = 8;  // exponents above it are rare before scaling

}  // namespace

DriftMap::DriftMap(const Theme* theme, PlotLink* link, MicroscopeModel* model, QWidget* parent)
    : PaintedWidget(theme, parent, {860, 220}, {380, 120}), link_(link), model_(model) {
    setFocusPolicy(Qt::StrongFocus);
    setFont(Theme::caption());
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(tr("Exponents of the selected layer by step"));
    connect(model_, &MicroscopeModel::contentChanged, this, &DriftMap::refresh);
    connect(model_, &MicroscopeModel::layerChanged, this, &DriftMap::refresh);
    connect(model_, &MicroscopeModel::driftGrew, this, &DriftMap::refresh);
    connect(link_, &PlotLink::selectedChanged, this, qOverload<>(&QWidget::update));
    connect(theme_, &Theme::changed, this, &DriftMap::refresh);
}

void DriftMap::refresh() {
    stale_ = true;
    update();
}

void DriftMap::resizeEvent(QResizeEvent*) { stale_ = true; }

QRectF DriftMap::plot() const {
    const int line = fontMetrics().height();
    return QRectF(labelColumn, 6, std::max(40, width() - labelColumn - notesColumn()),
                  std::max(20, height() - line - 14));
}

/// One for each line of paintLines(), from above.
QStringList DriftMap::notes() {
    return {tr("overflows above"), tr("subnormal below"), tr("zero below")};
}

/// Right of the map, so that the last step of a run that has ended does not take their room.
int DriftMap::notesColumn() const {
    int widest = 0;
    if (model_->kind() == engine::HistogramKind::gradients && width() >= widthWithNotes)
        for (const QString& note : notes())
            widest = std::max(widest, size::gap + fontMetrics().horizontalAdvance(note));
    return widest + size::inside;
}

double DriftMap::end() const {
    const auto& track = model_->track();
    const std::int64_t steps = track ? track->lastStep() : 0;
    return static_cast<double>(std::max<std::int64_t>(1, steps));
}

double DriftMap::xOf(double step) const { return plot().left() + plot().width() * step / end(); }

double DriftMap::yOf(double exponent) const {
    const double share = (highest - exponent) / (highest - ExponentAxis::first);
    return plot().top() + plot().height() * std::clamp(share, 0.0, 1.0);
}

/// A column a pixel, of all samples that fall into it, and a row an exponent, both before scaling.
QString DriftMap::spoken() const {
    const auto* layer = model_->selectedLayer();
    if (layer == nullptr) return model_->emptiness();
    return tr("%1 over %2 steps.")
        .arg(QString::fromStdString(layer->layer), count(static_cast<std::int64_t>(end())));
}

void DriftMap::makeImage() {
    stale_ = false;
    const Drift& drift = model_->drift();
    const int columns = std::max(1, static_cast<int>(plot().width()));
    constexpr int exponents = highest - ExponentAxis::first;
    std::vector<double> sums(static_cast<std::size_t>(columns * exponents));
    std::vector<double> most(static_cast<std::size_t>(columns));
    // A sample stands until the next one.
    for (std::size_t i = 0; i < drift.steps.size(); ++i) {
        const double step = static_cast<double>(drift.steps[i]);
        const double next = i + 1 < drift.steps.size() ? static_cast<double>(drift.steps[i + 1])
                            : i > 0 ? 2 * step - static_cast<double>(drift.steps[i - 1])
                                    : step + 1;
        const int from = static_cast<int>(step / end() * columns);
        const int to = std::max(from + 1, static_cast<int>(next / end() * columns));
        const int shift = static_cast<int>(std::lround(std::log2(drift.scales[i])));
        for (std::size_t b = 0; b < drift.values[i].bins.size(); ++b) {
            const int e = ExponentHistogram::first_exponent + static_cast<int>(b) - shift;
            const int row = highest - 1 - e;
            if (row < 0 || row >= exponents || drift.values[i].bins[b] == 0) continue;
            for (int column = from; column < std::min(to, columns); ++column) {
                double& sum = sums[static_cast<std::size_t>(row * columns + column)];
                sum += static_cast<double>(drift.values[i].bins[b]);
                most[static_cast<std::size_t>(column)] =
                    std::max(most[static_cast<std::size_t>(column)], sum);
            }
        }
    }
    const QColor run = theme_->run(model_->track());
    std::array<QRgb, 256> shades{};
    for (std::size_t i = 0; i < shades.size(); ++i)
        shades[i] = heatColor(theme_->tokens(), run, static_cast<double>(i) / 255).rgb();
    image_ = QImage(columns, exponents, QImage::Format_RGB32);
    for (int row = 0; row < exponents; ++row) {
        auto* line = reinterpret_cast<QRgb*>(image_.scanLine(row));
        for (int column = 0; column < columns; ++column) {
            const double sum = sums[static_cast<std::size_t>(row * columns + column)];
            const double all = most[static_cast<std::size_t>(column)];
            const double share = all > 0 ? sum / all : 0;
            line[column] =
                shades[share > 0 ? std::max<std::size_t>(1, static_cast<std::size_t>(share * 255))
                                 : 0];
        }
    }
}

void DriftMap::paintLines(QPainter& painter) const {
    const Drift& drift = model_->drift();
    if (drift.steps.empty() || model_->kind() != engine::HistogramKind::gradients) return;
    const Tokens& t = theme_->tokens();
    const FormatLimits limits = limitsOf(model_->format());
    const auto line = [&](double limit, const QPen& pen) {
        QPainterPath path;
        for (std::size_t i = 0; i < drift.steps.size(); ++i) {
            // The scale is the same for long stretches: a point where it changes, and the ends.
            const bool inner = i > 0 && i + 1 < drift.steps.size();
            if (inner && drift.scales[i] == drift.scales[i - 1]) continue;
            const double x = xOf(static_cast<double>(drift.steps[i]));
            const double y = yOf(limit - std::log2(drift.scales[i]));
            if (i == 0) {
                path.moveTo(x, y);
            } else {
                path.lineTo(x, path.currentPosition().y());
            }
            path.lineTo(x, y);
        }
        painter.setPen(pen);
        painter.drawPath(path);
    };
    painter.setBrush(Qt::NoBrush);
    line(limits.overflow, QPen(t.bad, 1.5));
    line(limits.subnormal, QPen(t.accent, 1.2, Qt::DashLine));
    line(limits.zero, QPen(t.accent, 1.5));
}

void DriftMap::paintNotes(QPainter& painter) const {
    const Drift& drift = model_->drift();
    if (drift.steps.empty() || model_->kind() != engine::HistogramKind::gradients) return;
    if (notesColumn() == size::inside) return;
    const double x = plot().right() + size::gap;
    const Tokens& t = theme_->tokens();
    const FormatLimits limits = limitsOf(model_->format());
    const double scale = std::log2(drift.scales.back());
    const int line = fontMetrics().height();
    // Beside their lines, and apart where a small scale moves the lines to one edge.
    const double wanted[] = {yOf(limits.overflow - scale), yOf(limits.subnormal - scale),
                             yOf(limits.zero - scale)};
    const auto at =
        spreadLabels({std::begin(wanted), std::end(wanted)}, line, plot().top(), plot().bottom());
    const QStringList words = notes();
    for (qsizetype i = 0; i < words.size(); ++i) {
        painter.setPen(i == 0 ? t.bad : t.accent);
        painter.drawText(
            QRectF(x, at[static_cast<std::size_t>(i)] - line / 2.0, width() - x, line),
            Qt::AlignLeft | Qt::AlignVCenter, words[i]);
    }
}

void DriftMap::paintAxes(QPainter& painter) const {
    const auto place = [this](int exponent) { return yOf(exponent); };
    paintLeftMarks(painter, theme_->tokens(), plot(),
                   exponentMarks(std::array{0, -8, -16, -24, -32, -40}, place), false);
    paintMarksBelow(painter, theme_->tokens(), plot(),
                    axisMarks({engine::AxisKind::steps, {0, end()}}, plot().left(), plot().right()),
                    width());
}

void DriftMap::paintEvent(QPaintEvent*) {
    if (model_->selectedLayer() == nullptr) return;  // the plot above says why
    if (stale_) makeImage();
    QPainter painter(this);
    painter.drawImage(plot(), image_);
    painter.setRenderHint(QPainter::Antialiasing);
    paintAxes(painter);
    paintLines(painter);
    paintNotes(painter);
    const std::int64_t step = model_->sample()->step;
    painter.setPen(QPen(theme_->tokens().accent, 1.2));
    painter.drawLine(QPointF(xOf(static_cast<double>(step)), plot().top()),
                     QPointF(xOf(static_cast<double>(step)), plot().bottom()));
    if (hasFocus()) {
        painter.setPen(QPen(theme_->tokens().accent, 1, Qt::DotLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(plot());
    }
}

void DriftMap::pick(double x) {
    const auto& track = model_->track();
    if (!track || track->rows() == 0) return;
    const double step = std::round((x - plot().left()) / plot().width() * end());
    link_->select(std::clamp<std::int64_t>(static_cast<std::int64_t>(step), 1, track->rows()),
                  track);
}

void DriftMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) pick(event->position().x());
}

void DriftMap::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0) pick(event->position().x());
}

void DriftMap::keyPressEvent(QKeyEvent* event) {
    const int direction = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const Drift& drift = model_->drift();
    if (direction == 0 || !model_->sample() || drift.steps.empty())
        return QWidget::keyPressEvent(event);
    const auto at = std::ranges::lower_bound(drift.steps, model_->sample()->step);
    const auto next = (at - drift.steps.begin()) + direction;
    if (next >= 0 && next < std::ssize(drift.steps))
        link_->select(drift.steps[static_cast<std::size_t>(next)], model_->track());
}

}  // namespace ui
