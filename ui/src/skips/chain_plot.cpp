#include "skips/chain_plot.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>

#include "feed/run_track.h"
#include "text/format.h"
#include "widgets/axis_marks.h"
#include "widgets/panel.h"

namespace ui {

using engine::ChainLink;

namespace {

constexpr int labelColumn = 48;
constexpr double limit = 65504;
constexpr int highest = 20;  // exponent at the top of the axis

}  // namespace

double chainValue(const ChainLink& link, bool f32) {
    const double weights = f32 ? link.weights_in_f32 : link.weights;
    const double outputs = f32 ? link.largest_in_f32 : link.largest;
    const bool isUnknown = std::isnan(weights) || std::isnan(outputs);
    // In FP32 that is what has no counterpart there; a forward pass has no gradients of weights.
    if (isUnknown && (!f32 || weights == 0)) return std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(weights)) return outputs;
    return std::isnan(outputs) ? weights : std::max(weights, outputs);
}

ChainBar chainBar(const ChainLink& link, bool showsF32) {
    if (!std::isfinite(chainValue(link, false))) return ChainBar::not_finite;
    if (showsF32 || link.dtype != "f32") return ChainBar::run;
    return chainValue(link, false) > limit ? ChainBar::above : ChainBar::fp32;
}

QString chainText(const ChainLink& link) {
    const QString name = ChainPlot::nameOf(link);
    if (link.weights == 0)
        return ChainPlot::tr("%1: largest %2, in FP32 %3")
            .arg(name, significant(link.largest), measured(link.largest_in_f32, significant));
    return ChainPlot::tr("%1: largest %2, in FP32 %3; of its parameters' gradients %4, in FP32 %5")
        .arg(name, significant(link.largest), measured(link.largest_in_f32, significant),
             significant(link.weights), measured(link.weights_in_f32, significant));
}

ChainPlot::ChainPlot(const Theme* theme, SkipsModel* model, QWidget* parent)
    : PaintedWidget(theme, parent, {600, 240}, {260, 140}), model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Largest values by layer"));
    connect(model_, &SkipsModel::stepChanged, this, qOverload<>(&QWidget::update));
}

QString ChainPlot::spoken() const {
    const auto* report = model_->report();
    if (report == nullptr || report->chain.empty())
        return tr("The largest values by layer, once a step is examined.");
    const auto size = [](const ChainLink& link) {
        const double value = chainValue(link, true);
        return std::isnan(value) ? -1.0 : value;
    };
    const auto most = std::ranges::max_element(report->chain, {}, size);
    return tr("%1 layers; the largest value in FP32 is %2, in %3.")
        .arg(count(static_cast<std::int64_t>(report->chain.size())), significant(size(*most)),
             QString::fromStdString(most->module));
}

void ChainPlot::showF32(bool f32) {
    f32_ = f32;
    update();
}

QRectF ChainPlot::plot() const {
    const int below = (namesAreFlat() ? 2 : 5) * fontMetrics().height();
    return QRectF(labelColumn, 8, std::max(40, width() - labelColumn - size::inside),
                  std::max(40, height() - 8 - below));
}

QString ChainPlot::nameOf(const ChainLink& link) {
    return link.module.empty() ? tr("(the model)") : QString::fromStdString(link.module);
}

/// Few layers have room for their names beside one another; those of many are slanted.
bool ChainPlot::namesAreFlat() const {
    const auto* report = model_->report();
    if (report == nullptr || report->chain.empty()) return false;
    const int room = (width() - labelColumn - size::inside) / static_cast<int>(report->chain.size());
    return std::ranges::all_of(report->chain, [&](const ChainLink& link) {
        return fontMetrics().horizontalAdvance(nameOf(link)) + size::gap <= room;
    });
}

int ChainPlot::at(double x) const {
    const auto* report = model_->report();
    if (report == nullptr || report->chain.empty() || x < plot().left()) return -1;
    const auto count = static_cast<int>(report->chain.size());
    const int index = static_cast<int>((x - plot().left()) / plot().width() * count);
    return index < count ? index : -1;
}

void ChainPlot::paintEvent(QPaintEvent*) {
    const auto* report = model_->report();
    if (report == nullptr || report->chain.empty()) {
        paintEmpty(this, *theme_,
                   model_->step() == nullptr ? QString()
                   : report == nullptr
                       ? tr("The largest value of each layer against the limit of FP16, once the "
                            "step is examined.")
                       : tr("The fault is before the first layer."));
        return;
    }
    const Tokens& t = theme_->tokens();
    const QColor run = theme_->run(model_->track());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int line = fontMetrics().height();
    double lowest = 8;
    for (const ChainLink& link : report->chain) {
        const double exponent = std::log2(chainValue(link, f32_));
        if (std::isfinite(exponent)) lowest = std::min(lowest, exponent);
    }
    lowest = std::max(-48.0, 4 * std::floor((lowest - 2) / 4));
    const auto y = [&](double exponent) {
        const double inside = std::clamp(exponent, lowest, static_cast<double>(highest));
        return plot().bottom() - (inside - lowest) / (highest - lowest) * plot().height();
    };
    const double ceiling = y(std::log2(limit));
    painter.fillRect(QRectF(plot().left(), plot().top(), plot().width(), ceiling - plot().top()),
                     blend(t.panel, t.bad, 0.11));
    int every = 4;  // with room for a line of text between them
    while (plot().height() / (highest - lowest) * every < line + 2) every *= 2;
    std::vector<int> exponents;
    for (int e = static_cast<int>(lowest); e <= 16; e += every) exponents.push_back(e);
    paintLeftMarks(painter, t, plot(), exponentMarks(exponents, y));
    painter.setPen(QPen(t.bad, 1.4));
    painter.drawLine(QPointF(plot().left(), ceiling), QPointF(plot().right(), ceiling));
    const double step = plot().width() / static_cast<double>(report->chain.size());
    const std::string bad = report->first ? report->first->module : std::string();
    double named = -100;
    for (std::size_t i = 0; i < report->chain.size(); ++i) {
        const ChainLink& link = report->chain[i];
        const double value = chainValue(link, f32_);
        const ChainBar look = chainBar(link, f32_);
        const bool over = look == ChainBar::not_finite;
        const double top = over && !std::isfinite(value) ? plot().top() : y(std::log2(value));
        const double left = plot().left() + static_cast<double>(i) * step;
        const bool first = !bad.empty() && link.module == bad;
        const bool wide = look == ChainBar::fp32 || look == ChainBar::above;
        if (value != 0) {
            const QRectF bar(left + step * 0.15, top, step * 0.7, plot().bottom() - top);
            painter.fillRect(bar, over ? t.bad : blend(t.panel, wide ? t.fp32 : run, 0.55));
            if (look == ChainBar::above) {
                painter.setPen(t.text);
                painter.drawText(QRectF(left, top + 2, step, line), Qt::AlignCenter, u"FP32"_s);
            }
        }
        painter.setPen(first ? t.bad : t.dim);
        if (namesAreFlat()) {
            painter.drawText(QRectF(left, plot().bottom() + 4, step, line), Qt::AlignCenter,
                             nameOf(link));
            continue;
        }
        if (!first && left - named < line + 2) continue;
        named = left;
        painter.save();
        painter.translate(left + step / 2, plot().bottom() + 6);
        painter.rotate(-40);
        painter.drawText(QRectF(-110, -2, 110, line), Qt::AlignRight,
                         fontMetrics().elidedText(nameOf(link), Qt::ElideLeft, 110));
        painter.restore();
    }
    paintLimit(painter, ceiling);
}

/// Over the bars, of which the last may be above the limit.
void ChainPlot::paintLimit(QPainter& painter, double ceiling) const {
    const Tokens& t = theme_->tokens();
    const QString words = tr("FP16 ends at 65,504");
    const int line = fontMetrics().height();
    const QRectF place(plot().right() - fontMetrics().horizontalAdvance(words) - 8,
                       ceiling - line - 3, fontMetrics().horizontalAdvance(words) + 8, line);
    painter.fillRect(place, t.panel);
    painter.setPen(t.bad);
    painter.drawText(place, Qt::AlignCenter, words);
}

bool ChainPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int index = at(help->pos().x());
    if (index < 0) return true;
    QToolTip::showText(help->globalPos(),
                       chainText(model_->report()->chain[static_cast<std::size_t>(index)]), this);
    return true;
}

}  // namespace ui
