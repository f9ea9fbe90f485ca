#include "twin/loss_gap.h"

#include <QMouseEvent>
#include <QPainterPath>
#include <cmath>
#include <limits>

#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int labelColumn = 64;
constexpr std::size_t averaged = 20;
constexpr std::size_t mostPoints = 4000;  // of the line; more steps than that share points

}  // namespace

LossGap::LossGap(const Theme* theme, PlotLink* link, TwinModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), link_(link), model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Loss gap"));
    connect(model_, &TwinModel::contentChanged, this, &LossGap::refresh);
    connect(model_, &TwinModel::grew, this, &LossGap::refresh);
    connect(model_, &TwinModel::selectionChanged, this, qOverload<>(&QWidget::update));
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize LossGap::sizeHint() const { return {900, 150}; }
QSize LossGap::minimumSizeHint() const { return {360, 100}; }

double LossGap::gap() const {
    return mean_.empty() ? std::numeric_limits<double>::quiet_NaN() : mean_.back();
}

double LossGap::noise() const { return error_.empty() ? 0 : error_.back(); }

void LossGap::refresh() {
    const auto &a = model_->reference(), &b = model_->other();
    if (!a || !b || !model_->any()) {
        raw_.clear();
        mean_.clear();
        error_.clear();
        return update();
    }
    const auto rows = static_cast<std::size_t>(std::min(a->rows(), b->rows()));
    if (rows < raw_.size()) {
        raw_.clear();
        mean_.clear();
        error_.clear();
    }
    for (std::size_t i = raw_.size(); i < rows; ++i) {
        const auto step = static_cast<std::int64_t>(i) + 1;
        raw_.push_back(static_cast<double>(b->at(step).loss) -
                       static_cast<double>(a->at(step).loss));
        double sum = 0, squares = 0, count = 0;
        for (std::size_t k = i + 1 - std::min(i + 1, averaged); k <= i; ++k) {
            if (!std::isfinite(raw_[k])) continue;
            sum += raw_[k];
            squares += raw_[k] * raw_[k];
            ++count;
        }
        const double mean = count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
        mean_.push_back(mean);
        const double variance = count > 1 ? (squares - count * mean * mean) / (count - 1) : 0;
        error_.push_back(count > 1 ? 2 * std::sqrt(std::max(0.0, variance) / count) : 0);
    }
    setAccessibleDescription(tr("Gap %1, noise ±%2").arg(significant(gap()), significant(noise())));
    update();
}

QRectF LossGap::plot() const {
    return QRectF(labelColumn, 8, std::max(40, width() - labelColumn - size::inside),
                  std::max(20, height() - 16));
}

double LossGap::end() const {
    const std::int64_t planned = model_->other() ? model_->other()->plannedSteps() : 0;
    return std::max({1.0, static_cast<double>(planned), static_cast<double>(raw_.size())});
}

double LossGap::xOf(double step) const { return plot().left() + plot().width() * step / end(); }

void LossGap::paintEvent(QPaintEvent*) {
    if (raw_.empty()) {
        paintEmpty(this, *theme_, {});
        return;
    }
    const Tokens& t = theme_->tokens();
    const QColor color = theme_->precision(model_->other()->precision());
    double most = 1e-9;
    for (const double value : raw_) {
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
    }
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto y = [&](double value) {
        return plot().center().y() - std::clamp(value / most, -1.0, 1.0) * plot().height() / 2;
    };
    painter.setPen(t.dim);
    const int line = fontMetrics().height();
    for (const double part : {-1.0, 0.0, 1.0}) {
        painter.setPen(part == 0 ? t.dim : t.grid);
        painter.drawLine(QPointF(plot().left(), y(part * most)),
                         QPointF(plot().right(), y(part * most)));
        painter.setPen(t.dim);
        const QString text =
            part == 0 ? u"0"_s : (part > 0 ? u"+"_s : u"−"_s) + significant(most, 2);
        painter.drawText(QRectF(0, y(part * most) - line / 2.0, labelColumn - 8, line),
                         Qt::AlignRight | Qt::AlignVCenter, text);
    }
    const std::size_t stride = std::max<std::size_t>(1, raw_.size() / mostPoints);
    QPainterPath raw, mean;
    QPolygonF upper, lower;
    bool begun = false, meant = false;
    for (std::size_t i = 0; i < raw_.size(); i += stride) {
        const double x = xOf(static_cast<double>(i + 1));
        if (std::isfinite(raw_[i])) {
            if (begun)
                raw.lineTo(x, y(raw_[i]));
            else
                raw.moveTo(x, y(raw_[i]));
            begun = true;
        } else {
            begun = false;
        }
        if (!std::isfinite(mean_[i])) continue;
        if (meant)
            mean.lineTo(x, y(mean_[i]));
        else
            mean.moveTo(x, y(mean_[i]));
        meant = true;
        upper << QPointF(x, y(error_[i]));
        lower << QPointF(x, y(-error_[i]));
    }
    std::reverse(lower.begin(), lower.end());
    painter.setPen(Qt::NoPen);
    painter.setBrush(blend(t.panel, t.accent, 0.14));
    painter.drawPolygon(upper + lower);
    painter.setBrush(Qt::NoBrush);
    QColor faint = color;
    faint.setAlphaF(0.35f);
    painter.setPen(QPen(faint, size::rawCurve));
    painter.drawPath(raw);
    painter.setPen(QPen(color, size::smoothCurve));
    painter.drawPath(mean);
    painter.setPen(QPen(t.accent, 1.2, Qt::DashLine));
    for (const std::int64_t step : model_->resyncs()) {
        const double x = xOf(static_cast<double>(step));
        painter.drawLine(QPointF(x, plot().top()), QPointF(x, plot().bottom()));
    }
    painter.setPen(QPen(t.accent, 1.4));
    const double at = xOf(static_cast<double>(model_->current() + 1));
    painter.drawLine(QPointF(at, plot().top()), QPointF(at, plot().bottom()));
    const double behind = xOf(static_cast<double>(raw_.size())) + size::gap;
    if (plot().right() - behind > 150) {
        painter.setPen(color);
        painter.drawText(QRectF(behind, y(gap()) - line, plot().right() - behind, line),
                         Qt::AlignLeft, tr("gap %1").arg(significant(gap())));
        painter.setPen(t.accent);
        painter.drawText(QRectF(behind, y(gap()) + 2, plot().right() - behind, line), Qt::AlignLeft,
                         tr("noise of the mean ±%1").arg(significant(noise())));
    }
}

void LossGap::mousePressEvent(QMouseEvent* event) {
    if (raw_.empty() || event->button() != Qt::LeftButton) return;
    const double step =
        std::round((event->position().x() - plot().left()) / plot().width() * end());
    link_->select(std::clamp<std::int64_t>(static_cast<std::int64_t>(step), 1, std::ssize(raw_)),
                  model_->other());
}

}  // namespace ui
