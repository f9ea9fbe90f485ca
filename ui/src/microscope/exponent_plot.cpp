#include "microscope/exponent_plot.h"

#include <QGuiApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainterPath>
#include <QToolTip>
#include <cmath>

#include "feed/run_track.h"
#include "text/format.h"
#include "widgets/panel.h"

namespace ui {

using engine::ExponentHistogram;

namespace {

constexpr double knob = 7;
constexpr int decades = 5;  // shares from 1e-5 up to 1

}  // namespace

ExponentPlot::ExponentPlot(const Theme* theme, MicroscopeModel* model, QWidget* parent)
    : PaintedWidget(theme, parent, {860, 340}, {380, 196}),
      model_(model),
      shadow_(new QPushButton(tr("Run the shadow pass"), this)) {
    setFocusPolicy(Qt::StrongFocus);
    setFont(Theme::caption());
    setAccessibleName(tr("Exponents of the selected layer"));
    connect(model_, &MicroscopeModel::contentChanged, this, &ExponentPlot::describe);
    connect(model_, &MicroscopeModel::layerChanged, this, &ExponentPlot::describe);
    connect(model_, &MicroscopeModel::scaleDragged, this, qOverload<>(&QWidget::update));
    connect(model_, &MicroscopeModel::stateChanged, this, &ExponentPlot::placeButton);
    connect(shadow_, &QPushButton::clicked, model_, &MicroscopeModel::computeShadow);
    shadow_->setFont(Theme::caption());
    placeButton();
}

void ExponentPlot::setLinear(bool linear) {
    linear_ = linear;
    update();
}

int ExponentPlot::rowLabelWidth() const {
    return std::max(56, fontMetrics().horizontalAdvance(u"100 %"_s) + size::inside);
}
int ExponentPlot::handleRow() const { return std::max(40, 3 * fontMetrics().height()); }
int ExponentPlot::rulerHeight() const { return std::max(15, fontMetrics().height()); }

QRectF ExponentPlot::plot() const {
    const int bottom = rulersTop() - size::grid;
    return QRectF(rowLabelWidth(), handleRow(), width() - rowLabelWidth() - size::inside,
                  std::max(20, bottom - handleRow()));
}

int ExponentPlot::rulersTop() const {
    const int rulers = static_cast<int>(engine::histogram_formats().size()) * rulerHeight();
    return height() - rulers - fontMetrics().height() - size::gap;
}

ExponentAxis ExponentPlot::axis() const { return {plot().left(), plot().right()}; }

FormatRulers ExponentPlot::rulers() const {
    return {.axis = axis(),
            .place = QRectF(0, rulersTop(), width(), rulerHeight()),
            .nameWidth = rowLabelWidth() - 8};
}

double ExponentPlot::y(double count) const {
    const auto* layer = model_->selectedLayer();
    const double share = count / std::max<double>(1, static_cast<double>(layer->values.total()));
    if (count <= 0) return plot().bottom();
    if (linear_) return plot().bottom() - share * plot().height();
    const double least = 1.0 / std::max<double>(1, static_cast<double>(layer->values.total()));
    const double floor = std::max(least, std::pow(10.0, -decades)) / 2;
    const double up = std::log(std::max(share, floor) / floor) / std::log(1 / floor);
    return plot().bottom() - up * plot().height();
}

/// The median of the values that have an exponent.
double ExponentPlot::anchor() const {
    const auto* layer = model_->selectedLayer();
    const double shift = std::log2(model_->counted());
    std::int64_t all = 0;
    for (const std::int64_t count : layer->values.bins) all += count;
    std::int64_t below = 0;
    for (std::size_t i = 0; i < layer->values.bins.size(); ++i) {
        below += layer->values.bins[i];
        if (2 * below >= all && all > 0)
            return ExponentHistogram::first_exponent + static_cast<double>(i) + 0.5 - shift;
    }
    return -24 - shift;
}

double ExponentPlot::handleX(double scale) const {
    return std::clamp(axis().x(anchor() + std::log2(scale)), plot().left(), plot().right());
}

QRectF ExponentPlot::handle() const {
    if (!model_->scaled() || model_->selectedLayer() == nullptr) return {};
    const double x = handleX(model_->draggedScale());
    return {x - knob, handleRow() / 2.0 - knob, 2 * knob, 2 * knob};
}

QString ExponentPlot::spoken() const {
    const auto* layer = model_->selectedLayer();
    if (layer == nullptr) return model_->emptiness();
    const auto high = engine::largest_exponent(layer->values);
    const auto low = engine::smallest_exponent(layer->values);
    return tr("%1: %2 values from %3 to %4, %5 zero, %6 infinite or NaN")
        .arg(QString::fromStdString(layer->layer), count(layer->values.total()),
             low ? exponentText(*low) : unmeasured(), high ? exponentText(*high) : unmeasured(),
             count(layer->values.zero), count(layer->values.non_finite()));
}

void ExponentPlot::describe() {
    setAccessibleDescription(spoken());
    placeButton();
    update();
}

void ExponentPlot::paintZones(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const FormatLimits limits = limitsOf(model_->format());
    const QRectF area = plot();
    const ExponentAxis at = axis();
    const auto zone = [&](double from, double to, const QColor& color, const QString& name) {
        const double left = std::clamp(at.x(from), area.left(), area.right());
        const double right = std::clamp(at.x(to), area.left(), area.right());
        if (right - left < 1) return;
        const QRectF place(left, 0, right - left, area.bottom());
        if (color.isValid()) painter.fillRect(place, blend(t.panel, color, 0.11));
        painter.setPen(t.dim);
        painter.drawText(
            QRectF(left + 6, 2, right - left - 8, fontMetrics().height()), Qt::AlignLeft,
            fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(right - left - 8)));
    };
    zone(ExponentAxis::first, limits.zero, t.bad, tr("rounds to zero"));
    zone(limits.zero, limits.subnormal, t.caution, tr("subnormal"));
    zone(limits.subnormal, limits.overflow, {}, tr("normal"));
    zone(limits.overflow, ExponentAxis::last, t.bad, tr("inf"));
    if (limits.overflow < ExponentAxis::last) {
        painter.setPen(QPen(t.bad, 1.2));
        painter.drawLine(QPointF(at.x(limits.overflow), 0),
                         QPointF(at.x(limits.overflow), area.bottom()));
    }
}

void ExponentPlot::paintBars(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const auto& values = model_->selectedLayer()->values;
    const ExponentAxis at = axis();
    const FormatLimits limits = limitsOf(model_->format());
    for (std::size_t i = 0; i < values.bins.size(); ++i) {
        if (values.bins[i] == 0) continue;
        const double e = ExponentHistogram::first_exponent + static_cast<double>(i);
        const double top = y(static_cast<double>(values.bins[i]));
        const QRectF bar(at.x(e) + 0.5, top, at.x(e + 1) - at.x(e) - 1, plot().bottom() - top);
        painter.fillRect(bar,
                         e >= std::floor(limits.overflow) ? t.bad : theme_->run(model_->track()));
    }
    if (values.non_finite() > 0) {
        const double top = y(static_cast<double>(values.non_finite()));
        painter.fillRect(QRectF(plot().right() - 6, top, 6, plot().bottom() - top), t.bad);
    }
    const QRectF lost = lostZone();
    if (lost.isEmpty()) return;
    painter.fillRect(lost, QBrush(blend(t.panel, t.dim, 0.45), Qt::BDiagPattern));
    painter.setPen(t.dim);
    painter.drawText(lost.adjusted(8, 8, -8, 0), Qt::AlignLeft | Qt::TextWordWrap,
                     tr("rounded to zero, size unknown"));
}

QRectF ExponentPlot::lostZone() const {
    const auto* layer = model_->selectedLayer();
    if (layer == nullptr || !layer->flushed || model_->shadowShown()) return {};
    const double right = axis().x(limitsOf(engine::fp16_format).zero);
    return {plot().left(), plot().top(), right - plot().left(), plot().height()};
}

void ExponentPlot::placeButton() {
    const QRectF lost = lostZone();
    shadow_->setVisible(!lost.isEmpty());
    shadow_->setEnabled(!model_->busy());
    shadow_->adjustSize();
    shadow_->move(static_cast<int>(lost.left()) + 8,
                  static_cast<int>(lost.top()) + 2 * fontMetrics().height() + 12);
}

void ExponentPlot::resizeEvent(QResizeEvent*) { placeButton(); }

/// The values before they were scaled.
void ExponentPlot::paintHollow(QPainter& painter) const {
    const double shift = std::log2(model_->counted());
    if (!model_->scaled() || shift == 0) return;
    const auto& values = model_->selectedLayer()->values;
    const ExponentAxis at = axis();
    painter.setPen(QPen(blend(theme_->tokens().panel, theme_->tokens().dim, 0.55), 1));
    painter.setBrush(Qt::NoBrush);
    for (std::size_t i = 0; i < values.bins.size(); ++i) {
        if (values.bins[i] == 0) continue;
        const double e = ExponentHistogram::first_exponent + static_cast<double>(i) - shift;
        const double left = at.x(e), right = at.x(e + 1);
        if (right < plot().left() || left > plot().right()) continue;
        const double top = y(static_cast<double>(values.bins[i]));
        painter.drawRect(QRectF(left, top, right - left, plot().bottom() - top));
    }
}

/// The values at the scale of the handle.
void ExponentPlot::paintOutline(QPainter& painter) const {
    if (!model_->scaled() || !model_->isMoved()) return;
    const double shift = std::log2(model_->draggedScale() / model_->counted());
    const auto& values = model_->selectedLayer()->values;
    const ExponentAxis at = axis();
    QPainterPath line;
    line.moveTo(plot().left(), plot().bottom());
    for (std::size_t i = 0; i < values.bins.size(); ++i) {
        const double e = ExponentHistogram::first_exponent + static_cast<double>(i) + shift;
        const double top = y(static_cast<double>(values.bins[i]));
        const auto inside = [&](double x) { return std::clamp(x, plot().left(), plot().right()); };
        line.lineTo(inside(at.x(e)), top);
        line.lineTo(inside(at.x(e + 1)), top);
    }
    line.lineTo(line.currentPosition().x(), plot().bottom());
    painter.setPen(QPen(theme_->tokens().accent, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(line);
}

void ExponentPlot::paintHandle(QPainter& painter) const {
    if (!model_->scaled()) return;
    const Tokens& t = theme_->tokens();
    const double middle = handleRow() / 2.0;
    const double from = handleX(1), now = handleX(model_->scale());
    const double to = handleX(model_->draggedScale());
    painter.setPen(QPen(t.accent, 1.2));
    painter.drawLine(QPointF(std::min(from, to), middle),
                     QPointF(std::max({from, now, to}), middle));
    const double base = anchor();
    const double last = std::log2(std::max({1.0, model_->scale(), model_->draggedScale()}));
    for (int bit = 0; bit <= static_cast<int>(last); ++bit) {
        const double x = axis().x(base + bit);
        if (x < plot().left() || x > plot().right()) continue;
        painter.drawLine(QPointF(x, middle - 2), QPointF(x, middle + 2));
    }
    painter.setBrush(t.panel);
    painter.setPen(QPen(t.dim, 1.4));
    painter.drawEllipse(QPointF(from, middle), 4, 4);
    painter.setBrush(theme_->run(model_->track()));
    painter.setPen(Qt::NoPen);
    painter.drawEllipse(QPointF(now, middle), 4.5, 4.5);
    painter.setBrush(t.accent);
    painter.setPen(QPen(hasFocus() ? t.text : t.panel, 2));
    painter.drawEllipse(QPointF(to, middle), knob - 1, knob - 1);
    painter.setPen(t.accent);
    const QString text = model_->isDragged()
                             ? tr("drag: × %1").arg(powerOfTwo(model_->draggedScale()))
                             : (model_->isScaleNow() ? tr("now × %1; drag") : tr("× %1; drag"))
                                   .arg(powerOfTwo(model_->scale()));
    const double room = fontMetrics().horizontalAdvance(text) + 4;
    // Beside the marks: left of them where the handle is the lowest, else right of all.
    const double right = std::max({from, now, to}) + knob + 6;
    const double left = std::min({from, now, to}) - knob - 6 - room;
    const double ceiling = axis().x(16);
    const bool crosses = (right < ceiling && right + room > ceiling) || right + room > width();
    const bool goesLeft = crosses || (to <= from && left > plot().left());
    const double x = goesLeft ? left : right;
    painter.drawText(QRectF(x, middle - 9, room, 18), Qt::AlignLeft | Qt::AlignVCenter, text);
}

void ExponentPlot::paintAxes(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    paintMarksBelow(painter, t, QRectF(0, 0, 0, height() - fontMetrics().height() - 5),
                    axis().marks(-48, 16, 8), width());
    const double all = static_cast<double>(model_->selectedLayer()->values.total());
    AxisMarks shares;
    for (int decade = 0; decade < decades; ++decade) {
        const double share = linear_ ? 1 - 0.25 * decade : std::pow(10.0, -decade);
        if (share > 0 && share * all >= 1)
            shares.push_back({y(share * all), significant(share * 100, 1) + u" %"_s});
    }
    paintLeftMarks(painter, t, plot(), shares);
}

void ExponentPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QString empty = model_->emptiness();
    if (!empty.isEmpty() || model_->selectedLayer() == nullptr) {
        painter.end();
        paintEmpty(this, *theme_, empty);
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintZones(painter);
    paintAxes(painter);
    paintBars(painter);
    paintHollow(painter);
    paintOutline(painter);
    paintHandle(painter);
    rulers().paint(painter, theme_->tokens(), model_->format(), theme_->run(model_->track()));
}

void ExponentPlot::dragTo(double x) {
    const double bits = axis().exponent(x) - anchor();
    // A loss scale is a power of two unless the user chooses otherwise.
    const bool fine = QGuiApplication::keyboardModifiers().testFlag(Qt::ShiftModifier);
    model_->drag(std::exp2(fine ? bits : std::round(bits)));
}

void ExponentPlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || model_->selectedLayer() == nullptr) return;
    const QPointF at = event->position();
    if (const auto* format = rulers().formatAt(at)) return model_->setFormat(*format);
    if (!model_->scaled() || at.y() > handleRow()) return;
    dragging_ = true;
    dragTo(at.x());
}

void ExponentPlot::mouseMoveEvent(QMouseEvent* event) {
    if (dragging_) dragTo(event->position().x());
}

void ExponentPlot::mouseReleaseEvent(QMouseEvent*) { dragging_ = false; }

void ExponentPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (model_->scaled() && event->position().y() <= handleRow()) model_->drag(0);
}

void ExponentPlot::keyPressEvent(QKeyEvent* event) {
    const int direction = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (!model_->scaled()) return QWidget::keyPressEvent(event);
    if (event->key() == Qt::Key_Escape && model_->isDragged()) return model_->drag(0);
    if (direction == 0) return QWidget::keyPressEvent(event);
    const double bits = event->modifiers().testFlag(Qt::ShiftModifier) ? 0.1 : 1;
    model_->drag(model_->draggedScale() * std::exp2(direction * bits));
}

bool ExponentPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || model_->selectedLayer() == nullptr)
        return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    if (!plot().contains(help->pos())) return true;
    const int e = static_cast<int>(std::floor(axis().exponent(help->pos().x())));
    const auto at = static_cast<std::size_t>(e - ExponentHistogram::first_exponent);
    const auto& values = model_->selectedLayer()->values;
    if (at >= values.bins.size()) return true;
    const double share = static_cast<double>(values.bins[at]) /
                         std::max<double>(1, static_cast<double>(values.total()));
    QToolTip::showText(
        help->globalPos(),
        tr("%1 to %2: %3 values, %4")
            .arg(exponentText(e), exponentText(e + 1), count(values.bins[at]), percent(share)),
        this);
    return true;
}

}  // namespace ui
