#include "twin/twin_map.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "twin/twin_table.h"
#include "widgets/axis_marks.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int minRow = 12, maxRow = 200;
constexpr int footHeight = 22;
constexpr int minNames = 68;  // as wide as the numbers of the loss gap above

}  // namespace

double twinShade(double value, bool angle) {
    if (!(value > 0)) return 0;
    const double low = angle ? 0.1 : 0.001, high = angle ? 90 : 1;
    return std::clamp(std::log(value / low) / std::log(high / low), 0.0, 1.0);
}

/// The scale is logarithmic already: a root as of heatColor() would blacken its upper half.
QColor twinColor(const Tokens& tokens, const QColor& run, double shade) {
    return heatColor(tokens, run, shade * shade);
}

TwinMap::TwinMap(const Theme* theme, PlotLink* link, TwinModel* model, QWidget* parent)
    : RowMap({minRow, maxRow, 0, footHeight}, parent),
      theme_(theme),
      link_(link),
      model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Gradient error by layer and step"));
    connect(model_, &TwinModel::contentChanged, this, &TwinMap::refresh);
    connect(model_, &TwinModel::grew, this, &TwinMap::refresh);
    connect(model_, &TwinModel::selectionChanged, viewport(), qOverload<>(&QWidget::update));
    connect(theme_, &Theme::changed, this, &TwinMap::refresh);
    refresh();
}

QSize TwinMap::sizeHint() const { return {900, 400}; }
QSize TwinMap::minimumSizeHint() const { return {360, 112}; }

QColor TwinMap::runColor() const { return theme_->run(model_->other()); }

QString TwinMap::spoken() const {
    if (!model_->any()) return model_->emptiness();
    const std::int64_t step = model_->current();
    const std::size_t layer = model_->selected();
    return tr("%1 layers over %2 steps. %3 in step %4: error %5.")
        .arg(count(static_cast<std::int64_t>(model_->layers())), count(model_->steps()),
             model_->name(layer), count(step + 1),
             gradientErrorText(static_cast<double>(model_->error(layer, step))));
}

void TwinMap::showAngle(bool angle) {
    angle_ = angle;
    refresh();
}

void TwinMap::refresh() {
    stale_ = true;
    QStringList names;
    for (std::size_t i = 0; model_->any() && i < model_->layers(); ++i) names << model_->name(i);
    setRows(names);
    emit spanChanged();
    viewport()->update();
}

void TwinMap::resizeEvent(QResizeEvent* event) {
    RowMap::resizeEvent(event);
    stale_ = true;
    emit spanChanged();
}

int TwinMap::selectedRow() const {
    return model_->any() ? static_cast<int>(model_->selected()) : -1;
}

void TwinMap::selectRow(int row) { model_->select(static_cast<std::size_t>(row)); }

int TwinMap::nameWidth() const {
    return std::clamp(widestName() + size::inside, minNames,
                      std::max(minNames, viewport()->width() / 4));
}

/// Rectangle of all rows, scrolled or not.
QRectF TwinMap::plot() const {
    const double left = nameWidth() + size::gap;
    return {left, topOf(0), std::max(40.0, viewport()->width() - left - size::inside),
            rowHeight() * std::max(1, rowCount())};
}

double TwinMap::end() const {
    const auto& track = model_->other();
    const std::int64_t planned = track && !track->done() ? track->plannedSteps() : 0;
    return static_cast<double>(std::max({std::int64_t{1}, planned, model_->steps()}));
}

double TwinMap::xOf(double step) const { return plot().left() + plot().width() * step / end(); }

std::int64_t TwinMap::stepAt(double x) const {
    const double step = std::round((x - plot().left()) / plot().width() * end());
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(step), 1,
                                    std::max<std::int64_t>(1, model_->steps()));
}

/// The largest value of the steps that share a pixel, so that no step is hidden.
void TwinMap::makeImage() {
    stale_ = false;
    const auto columns = static_cast<std::int64_t>(plot().width());
    const auto rows = static_cast<int>(model_->layers());
    image_ = QImage(static_cast<int>(columns), rows, QImage::Format_RGB32);
    image_.fill(theme_->tokens().panel);
    std::array<QRgb, 256> shades{};
    for (std::size_t i = 0; i < shades.size(); ++i)
        shades[i] = twinColor(theme_->tokens(), runColor(), static_cast<double>(i) / 255).rgb();
    const QRgb lost = blend(theme_->tokens().panel, theme_->tokens().bad, 0.35).rgb();
    const double per = end() / static_cast<double>(columns);
    std::vector<float> most(static_cast<std::size_t>(rows));
    for (std::int64_t column = 0; column < columns; ++column) {
        const auto first = static_cast<std::int64_t>(static_cast<double>(column) * per);
        const auto last =
            std::max(first + 1, static_cast<std::int64_t>(static_cast<double>(column + 1) * per));
        if (first >= model_->steps()) break;
        std::ranges::fill(most, -1.0F);
        // Step by step, as the values lie in memory. NaN never replaces a value.
        for (std::int64_t i = first; i < std::min(last, model_->steps()); ++i) {
            const std::span<const float> values = model_->stepValues(i, angle_);
            for (std::size_t row = 0; row < most.size(); ++row)
                most[row] = values[row] > most[row] ? values[row] : most[row];
        }
        for (int row = 0; row < rows; ++row) {
            const float value = most[static_cast<std::size_t>(row)];
            const double shade = twinShade(static_cast<double>(value), angle_);
            reinterpret_cast<QRgb*>(image_.scanLine(row))[column] =
                value < 0 ? lost : shades[static_cast<std::size_t>(shade * 255)];
        }
    }
}

/// Paints the visible names, leaving out those that would overlap.
void TwinMap::paintNames(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const int line = fontMetrics().height(), selected = selectedRow();
    double drawn = -2.0 * line;
    for (int i = firstInView(); i < lastInView(); ++i) {
        const double y = topOf(i);
        const bool chosen = i == selected;
        if (chosen) painter.fillRect(QRectF(0, y, 3, rowHeight()), t.accent);
        if (!chosen && y - drawn < line) continue;
        drawn = y;
        QFont font = Theme::caption();
        font.setBold(chosen);
        painter.setFont(font);
        painter.setPen(chosen ? t.text : t.dim);
        painter.drawText(QRectF(4, y, nameWidth() - 4, rowHeight()),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QFontMetrics(font).elidedText(rows()[i], Qt::ElideLeft, nameWidth() - 6));
    }
}

void TwinMap::paintMarks(QPainter& painter, double bottom) const {
    const Tokens& t = theme_->tokens();
    const double row = rowHeight();
    // Marks of the parts before a resync are thinner, and stay.
    for (const engine::TwinMark& mark : model_->digest().earlier_marks()) {
        const int at = static_cast<int>(mark.layer);
        if (at < firstInView() || at >= lastInView()) continue;
        const double x = xOf(static_cast<double>(mark.step)), y = topOf(at);
        for (const auto& [color, width] : {std::pair{t.panel, 3}, {t.text, 1}}) {
            painter.setPen(QPen(color, width));
            painter.drawLine(QPointF(x, y + 1), QPointF(x, y + row - 1));
        }
    }
    const auto first = model_->digest().first_to_diverge();
    for (int at = firstInView(); at < lastInView(); ++at) {
        const auto i = static_cast<std::size_t>(at);
        const std::int64_t diverged = model_->digest().layers()[i].diverged;
        if (diverged == 0) continue;
        const double x = xOf(static_cast<double>(diverged)), y = topOf(at);
        // The darkest or lightest shade may be that of the text.
        for (const auto& [color, width] : {std::pair{t.panel, 4}, {t.text, 2}}) {
            painter.setPen(QPen(color, width));
            painter.drawLine(QPointF(x, y + 1), QPointF(x, y + row - 1));
        }
        if (first != i) continue;
        painter.setBrush(t.panel);
        painter.drawEllipse(QPointF(x, y + row / 2), 5, 5);
    }
    painter.setPen(QPen(t.accent, 1.4, Qt::DashLine));
    for (const std::int64_t step : model_->resyncs()) {
        const double x = xOf(static_cast<double>(step));
        painter.drawLine(QPointF(x, 0), QPointF(x, bottom));
    }
    painter.setPen(QPen(t.accent, 1.4));
    const double x = xOf(static_cast<double>(model_->current() + 1));
    painter.drawLine(QPointF(x, 0), QPointF(x, bottom));
}

void TwinMap::paintAxis(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const double top = footTop();
    painter.fillRect(QRectF(0, top, viewport()->width(), footHeight), t.panel);
    painter.setPen(QPen(t.bad, 1.4));
    const QRectF area = plot();
    const double all = end();
    for (std::int64_t i = 0; i < model_->steps(); ++i) {
        if (!model_->skipped(i)) continue;
        const double x = area.left() + area.width() * static_cast<double>(i + 1) / all;
        painter.drawLine(QPointF(x, top), QPointF(x, top + 4));
    }
    paintMarksBelow(painter, t, QRectF(0, 0, 0, top + 2),
                    axisMarks({engine::AxisKind::steps, {0, all}}, area.left(), area.right()),
                    viewport()->width());
}

void TwinMap::paintEvent(QPaintEvent*) {
    if (!model_->any()) {
        paintEmpty(viewport(), *theme_,
                   tr("How far the gradients of each layer are apart, step by step."));
        return;
    }
    if (stale_) makeImage();
    const Tokens& t = theme_->tokens();
    QPainter painter(viewport());
    painter.setFont(Theme::caption());
    const double bottom =
        std::min(plot().bottom(), static_cast<double>(viewport()->height() - footHeight));
    painter.drawImage(plot(), image_);
    painter.setPen(t.panel);
    for (int i = firstInView() + 1; i < lastInView(); ++i) {
        const double y = std::round(topOf(i));
        painter.drawLine(QPointF(plot().left(), y), QPointF(plot().right(), y));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintNames(painter);
    paintMarks(painter, bottom);
    painter.setFont(Theme::caption());
    paintAxis(painter);
}

void TwinMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !model_->any()) return;
    if (const int row = rowAt(event->position().y()); row >= 0)
        model_->select(static_cast<std::size_t>(row));
    if (event->position().x() >= plot().left())
        link_->select(stepAt(event->position().x()), model_->other());
}

void TwinMap::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0 && model_->any() &&
        event->position().x() >= plot().left())
        link_->select(stepAt(event->position().x()), model_->other());
}

void TwinMap::keyPressEvent(QKeyEvent* event) {
    if (!model_->any()) return RowMap::keyPressEvent(event);
    const std::int64_t step = model_->current() + 1;
    switch (event->key()) {
        case Qt::Key_Left:
            if (step > 1) link_->select(step - 1, model_->other());
            return;
        case Qt::Key_Right:
            if (step < model_->steps()) link_->select(step + 1, model_->other());
            return;
        default:
            RowMap::keyPressEvent(event);
    }
}

bool TwinMap::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !model_->any()) return RowMap::viewportEvent(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int row = rowAt(help->pos().y());
    if (row < 0 || help->pos().x() < plot().left()) return true;
    const std::int64_t step = stepAt(help->pos().x());
    const auto layer = static_cast<std::size_t>(row);
    QToolTip::showText(
        help->globalPos(),
        model_->skipped(step - 1)
            ? tr("Step %1 was skipped").arg(count(step))
            : tr("%1, step %2: error %3, angle %4°")
                  .arg(model_->name(layer), count(step),
                       gradientErrorText(static_cast<double>(model_->error(layer, step - 1))),
                       significant(static_cast<double>(model_->angle(layer, step - 1)))),
        viewport());
    return true;
}

namespace {

constexpr int minStrip = 150, stripHeight = 8;

/// The values whose shades have a number.
std::vector<double> legendValues(bool angle) {
    return angle ? std::vector{0.1, 1.0, 10.0, 90.0} : std::vector{0.001, 0.01, 0.1, 1.0};
}

QString legendText(double value, bool angle) {
    return angle ? QString::number(value) + u'°' : gradientErrorText(value, 1);
}

}  // namespace

TwinLegend::TwinLegend(const Theme* theme, const TwinMap* map, QWidget* parent)
    : PaintedWidget(theme, parent), map_(map) {
    setFont(Theme::caption());
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    showAngle(false);
}

void TwinLegend::showAngle(bool angle) {
    angle_ = angle;
    const auto values = legendValues(angle);
    setAccessibleName(
        tr("Shades from %1 to %2")
            .arg(legendText(values.front(), angle), legendText(values.back(), angle)));
    update();
}

/// So that the numbers of four shades stand apart.
int TwinLegend::stripWidth() const {
    return std::max(minStrip, 4 * fontMetrics().horizontalAdvance(u"100 %"_s));
}

QSize TwinLegend::sizeHint() const {
    const int half = fontMetrics().horizontalAdvance(u"100 %"_s) / 2;
    return {stripWidth() + 2 * half, stripHeight + fontMetrics().height() + 2};
}

void TwinLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Tokens& t = theme_->tokens();
    const int left = (width() - stripWidth()) / 2, top = (height() - sizeHint().height()) / 2;
    for (int x = 0; x < stripWidth(); ++x) {
        const double shade = static_cast<double>(x) / (stripWidth() - 1);
        painter.fillRect(left + x, top, 1, stripHeight, twinColor(t, map_->runColor(), shade));
    }
    painter.setPen(t.line);
    painter.drawRect(left, top, stripWidth() - 1, stripHeight);
    painter.setPen(t.dim);
    AxisMarks marks;
    for (const double value : legendValues(angle_)) {
        const double x = left + twinShade(value, angle_) * (stripWidth() - 1);
        painter.drawLine(QPointF(x, top + stripHeight), QPointF(x, top + stripHeight + 2));
        marks.push_back({x, legendText(value, angle_)});
    }
    paintMarksBelow(painter, t, QRectF(0, 0, 0, top + stripHeight - 1), marks, width());
}

}  // namespace ui
