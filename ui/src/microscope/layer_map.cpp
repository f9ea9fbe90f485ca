#include "microscope/layer_map.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

#include "feed/run_track.h"
#include "text/format.h"

namespace ui {

using engine::ExponentHistogram;
using engine::LayerHistogram;

namespace {

constexpr int lowestRow = 26, highestRow = 64;
constexpr int minHead = 20;
constexpr int minShades = 80;
constexpr double low = 2;  // bits of headroom that deserve a mark

int lineHeight() { return std::max(minHead, QFontMetrics(Theme::caption()).height() + 2); }

QString layerName(const LayerHistogram& layer) {
    return layer.layer.empty() ? LayerMap::tr("(the model)") : QString::fromStdString(layer.layer);
}

}  // namespace

LayerMap::LayerMap(const Theme* theme, MicroscopeModel* model, QWidget* parent)
    : RowMap({lowestRow, highestRow, lineHeight(), lineHeight()}, parent),
      theme_(theme),
      model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Exponents by layer"));
    connect(model_, &MicroscopeModel::contentChanged, this, &LayerMap::refresh);
    connect(model_, &MicroscopeModel::layerChanged, this, &LayerMap::refresh);
    connect(model_, &MicroscopeModel::scaleDragged, viewport(), qOverload<>(&QWidget::update));
    connect(theme_, &Theme::changed, viewport(), qOverload<>(&QWidget::update));
    refresh();
}

QSize LayerMap::sizeHint() const { return {446, 600}; }
QSize LayerMap::minimumSizeHint() const { return {230, 110}; }

int LayerMap::zeroColumn() const {
    return std::max(52, fontMetrics().horizontalAdvance(tr("zero %")) + size::gap);
}

int LayerMap::headroomColumn() const {
    return std::max(66, fontMetrics().horizontalAdvance(tr("headroom, bits")) + size::gap);
}

void LayerMap::refresh() {
    QStringList names;
    for (const auto* layer : model_->layers()) names << layerName(*layer);
    setRows(names);
    if (const int row = selectedRow(); row >= 0) setAccessibleDescription(rows()[row]);
    viewport()->update();
}

QString LayerMap::spoken() const {
    const int row = selectedRow();
    if (row < 0) return model_->emptiness();
    return tr("%1 layers; %2 is selected.").arg(count(rowCount()), rows().value(row));
}

int LayerMap::selectedRow() const { return model_->selected(); }

void LayerMap::selectRow(int row) { model_->select(row); }

int LayerMap::nameWidth() const {
    const int room = viewport()->width() - zeroColumn() - headroomColumn() - minShades;
    return std::clamp(widestName() + size::gap, 40,
                      std::max(40, std::min(room, viewport()->width() / 3)));
}

ExponentAxis LayerMap::axis() const {
    return {static_cast<double>(nameWidth() + size::inside),
            static_cast<double>(viewport()->width() - zeroColumn() - headroomColumn())};
}

void LayerMap::paintHead(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const FormatLimits limits = limitsOf(model_->format());
    const auto mark = [&](double exponent, const QString& text, const QColor& color) {
        if (exponent <= ExponentAxis::first || exponent >= ExponentAxis::last) return;
        painter.setPen(color);
        painter.drawText(QRectF(axis().x(exponent) - 30, 2, 60, lineHeight() - 2), Qt::AlignCenter,
                         text);
    };
    const auto power = [](double exponent) {
        return exponentText(static_cast<int>(std::lround(exponent)));
    };
    mark(limits.zero, power(limits.zero), t.dim);
    if (axis().x(limits.subnormal) - axis().x(limits.zero) > 34)
        mark(limits.subnormal, power(limits.subnormal), t.dim);
    mark(limits.overflow, tr("inf"), t.bad);
    painter.setPen(t.dim);
    const double right = viewport()->width() - 6;
    painter.drawText(QRectF(right - headroomColumn(), 2, headroomColumn(), lineHeight() - 2),
                     Qt::AlignRight | Qt::AlignVCenter, tr("headroom, bits"));
    painter.drawText(
        QRectF(right - headroomColumn() - zeroColumn(), 2, zeroColumn(), lineHeight() - 2),
        Qt::AlignRight | Qt::AlignVCenter, tr("zero %"));
}

void LayerMap::paintFoot(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const double top = footTop();
    painter.fillRect(QRectF(0, top, viewport()->width(), lineHeight()), t.panel);
    const bool wide = axis().x(16) - axis().x(0) > 40;
    const int stop = model_->isMoved() ? -16 : 0;  // where the note begins
    paintMarksBelow(painter, t, QRectF(0, 0, 0, top - 1), axis().marks(-48, stop, wide ? 16 : 32),
                    viewport()->width());
    if (!model_->isMoved()) return;
    const QString text = tr("largest at %1").arg(powerOfTwo(model_->draggedScale()));
    const double x = axis().x(4);
    painter.setPen(QPen(t.accent, 2));
    painter.drawLine(QPointF(x, top + 4), QPointF(x, top + lineHeight() - 5));
    painter.setPen(t.text);
    painter.drawText(QRectF(x + 6, top, viewport()->width() - x - 6, lineHeight()),
                     Qt::AlignLeft | Qt::AlignVCenter, text);
}

void LayerMap::paintShades(QPainter& painter, const ExponentHistogram& values,
                           const QRectF& area) const {
    std::int64_t most = 1;
    for (const std::int64_t count : values.bins) most = std::max(most, count);
    const ExponentAxis at = axis();
    for (std::size_t i = 0; i < values.bins.size(); ++i) {
        if (values.bins[i] == 0) continue;
        const double e = ExponentHistogram::first_exponent + static_cast<double>(i);
        const double share = static_cast<double>(values.bins[i]) / static_cast<double>(most);
        const double left = std::floor(at.x(e)), right = std::floor(at.x(e + 1));
        painter.fillRect(QRectF(left, area.top(), right - left, area.height()),
                         heatColor(theme_->tokens(), theme_->run(model_->track()), share));
    }
}

void LayerMap::paintFigures(QPainter& painter, const LayerHistogram& layer, double top) const {
    const Tokens& t = theme_->tokens();
    const double right = viewport()->width() - 6;
    const double relative = model_->draggedScale() / model_->counted();
    const auto found = engine::outcome(layer.values, model_->format(), relative);
    // Values that were zero before they had a format count too: there is no telling them apart.
    const double all = std::max<double>(1, static_cast<double>(layer.values.total()));
    const double zero = 100 * (found.zero + static_cast<double>(layer.values.zero)) / all;
    const QString zeros = zero == 0 ? u"0"_s : zero < 0.01 ? u"<0.01"_s : significant(zero);
    painter.setPen(t.text);
    painter.drawText(
        QRectF(right - headroomColumn() - zeroColumn(), top, zeroColumn(), rowHeight()),
        Qt::AlignRight | Qt::AlignVCenter, zeros);
    const double up = engine::headroom_up(layer.values, model_->format(), relative);
    const bool lost = layer.values.non_finite() > 0;
    const bool tight = lost || up < low;
    painter.setPen(lost || up < 0 ? t.bad : tight ? t.caution : t.text);
    QString text = lost             ? tr("none")
                   : std::isnan(up) ? unmeasured()
                                    : QString::number(up, 'f', 1).replace(u'-', u'−');
    if (tight) text = u"▲ "_s + text;
    painter.drawText(QRectF(right - headroomColumn(), top, headroomColumn(), rowHeight()),
                     Qt::AlignRight | Qt::AlignVCenter, text);
}

void LayerMap::paintRow(QPainter& painter, int row) const {
    const Tokens& t = theme_->tokens();
    const LayerHistogram& layer = *model_->layers()[static_cast<std::size_t>(row)];
    const bool chosen = row == selectedRow();
    const double top = topOf(row);
    if (chosen) {
        painter.fillRect(QRectF(0, top, viewport()->width(), rowHeight()),
                         blend(t.panel, t.accent, 0.12));
        painter.fillRect(QRectF(0, top, 3, rowHeight()), t.accent);
    }
    QFont font = Theme::caption();
    font.setBold(chosen);
    painter.setFont(font);
    painter.setPen(chosen ? t.text : t.dim);
    const int room = nameWidth();
    painter.drawText(QRectF(size::grid, top, room, rowHeight()), Qt::AlignRight | Qt::AlignVCenter,
                     QFontMetrics(font).elidedText(rows()[row], Qt::ElideLeft, room));
    painter.setFont(Theme::caption());
    const QRectF area(axis().left, top + 2, axis().right - axis().left, rowHeight() - 4);
    paintShades(painter, layer.values, area);
    const auto high = engine::largest_exponent(layer.values);
    if (layer.values.non_finite() > 0) {
        const double x = axis().x(limitsOf(model_->format()).overflow);
        painter.fillRect(QRectF(x, top + 2, 3, rowHeight() - 4), t.bad);
    } else if (high && model_->isMoved()) {
        const double largest = layer.values.largest > 0 ? std::log2(layer.values.largest) : *high;
        const double at = largest + std::log2(model_->draggedScale() / model_->counted());
        const bool over = at >= limitsOf(model_->format()).overflow;
        painter.fillRect(
            QRectF(std::min(axis().x(at), axis().right) - 1, top + 2, 2, rowHeight() - 4),
            over ? t.bad : t.accent);
    }
    paintFigures(painter, layer, top);
}

void LayerMap::paintLimits(QPainter& painter, double top, double bottom) const {
    const Tokens& t = theme_->tokens();
    const FormatLimits limits = limitsOf(model_->format());
    const auto line = [&](double exponent, const QPen& pen) {
        if (exponent <= ExponentAxis::first || exponent >= ExponentAxis::last) return;
        painter.setPen(pen);
        painter.drawLine(QPointF(axis().x(exponent), top), QPointF(axis().x(exponent), bottom));
    };
    line(limits.zero, QPen(t.dim, 1));
    line(limits.subnormal, QPen(t.dim, 1, Qt::DotLine));
    line(limits.overflow, QPen(blend(t.panel, t.bad, 0.6), 1));
}

void LayerMap::paintEvent(QPaintEvent*) {
    if (model_->layers().empty()) return;  // the plot beside it says why
    QPainter painter(viewport());
    painter.setFont(Theme::caption());
    painter.setRenderHint(QPainter::Antialiasing);
    const int room = viewport()->height() - lineHeight() - lineHeight();
    painter.save();
    painter.setClipRect(0, lineHeight(), viewport()->width(), room);
    for (int row = firstInView(); row < lastInView(); ++row) paintRow(painter, row);
    painter.restore();
    const double bottom = std::min(topOf(rowCount()), static_cast<double>(lineHeight() + room));
    paintLimits(painter, lineHeight(), bottom);
    paintHead(painter);
    paintFoot(painter);
}

void LayerMap::mousePressEvent(QMouseEvent* event) {
    if (const int row = rowAt(event->position().y()); row >= 0) model_->select(row);
}

bool LayerMap::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return RowMap::viewportEvent(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int row = rowAt(help->pos().y());
    if (row < 0) return true;
    const LayerHistogram& layer = *model_->layers()[static_cast<std::size_t>(row)];
    QToolTip::showText(help->globalPos(),
                       tr("%1: %2 values, stored as %3")
                           .arg(layerName(layer), count(layer.values.total()),
                                QString::fromUtf8(engine::name(layer.type))),
                       viewport());
    return true;
}

namespace {

constexpr int legendStrip = 64, legendHeight = 8;  // pixels

}  // namespace

ShareLegend::ShareLegend(const Theme* theme, const MicroscopeModel* model, QWidget* parent)
    : PaintedWidget(theme, parent), model_(model) {
    setFont(Theme::caption());
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    setAccessibleName(tr("Shades: from few values to most of the layer's values"));
    setToolTip(accessibleName());
    connect(model_, &MicroscopeModel::contentChanged, this, qOverload<>(&QWidget::update));
}

QSize ShareLegend::sizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.horizontalAdvance(tr("few")) + metrics.horizontalAdvance(tr("most")) +
                legendStrip + 2 * size::gap,
            metrics.height()};
}

void ShareLegend::paintEvent(QPaintEvent*) {
    if (!model_->sample()) return;
    QPainter painter(this);
    const Tokens& t = theme_->tokens();
    const QColor run = theme_->run(model_->track());
    const int words = fontMetrics().horizontalAdvance(tr("few"));
    const int left = words + size::gap, top = (height() - legendHeight) / 2;
    for (int x = 0; x < legendStrip; ++x) {
        const double share = static_cast<double>(x) / (legendStrip - 1);
        painter.fillRect(left + x, top, 1, legendHeight, heatColor(t, run, share));
    }
    painter.setPen(t.line);
    painter.drawRect(left, top, legendStrip - 1, legendHeight);
    painter.setPen(t.dim);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, tr("few"));
    painter.drawText(rect(), Qt::AlignRight | Qt::AlignVCenter, tr("most"));
}

}  // namespace ui
