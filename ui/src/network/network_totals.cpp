#include "network/network_totals.h"

#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>

#include "network/network_columns.h"
#include "network/network_model.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int barWidth = 190, notch = 3;
constexpr double paleTotals = 0.36;
constexpr double passesOfAStep = 3;  // the backward pass costs two of the forward pass

struct MemoryPart {
    double bytes;
    double opacity;  ///< of its colour
};

/// From the left: activations with all that is neither of the others, gradients, weights with their
/// copies, and the optimizer's state.
std::array<MemoryPart, 4> memoryParts(const engine::StepMemory& memory) {
    const double weights = memory.weights + memory.masters + memory.low_copies;
    const double rest = memory.peak - weights - memory.optimizer;
    const double gradients = std::min(memory.gradients, std::max(rest, 0.0));
    return {{{std::max(rest - gradients, 0.0), 1}, {gradients, 0.65}, {weights, 0.42}, {memory.optimizer, 0.25}}};
}

bool isTooLarge(const NetworkMemory& memory, const NetworkMemory::Step& step) { return memory.limit > 0 && step.memory.peak > memory.limit; }

/// "712 MB", and what fits where that is too large.
QString stepText(const NetworkMemory& memory, const NetworkMemory::Step& step, const QString& fits, const QString& nothing) {
    const QString peak = savedText(step.memory.peak);
    if (!isTooLarge(memory, step)) return peak;
    return peak + u" · "_s + (step.fitting > 0 ? fits.arg(count(step.fitting)) : nothing);
}

}  // namespace

NetworkMemoryBars::NetworkMemoryBars(const Theme* theme, NetworkModel* model, QWidget* parent) : PaintedWidget(theme, parent), model_(model) {
    setAccessibleName(tr("Predicted peak memory of a step"));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(model, &NetworkModel::checked, this, [this] {
        updateGeometry();
        update();
    });
}

const NetworkMemory& NetworkMemoryBars::memory() const { return model_->good().memory; }

QString NetworkMemoryBars::title() const { return tr("predicted peak at batch %1").arg(count(memory().batch_size)); }

int NetworkMemoryBars::rowHeight() const { return QFontMetrics(Theme::caption()).height(); }

int NetworkMemoryBars::namesWidth() const {
    const QFontMetrics metrics(Theme::caption());
    int width = 0;
    for (const auto& step : memory().steps) width = std::max(width, metrics.horizontalAdvance(precisionTitle(step.preset)));
    return width + size::gap;
}

int NetworkMemoryBars::figuresWidth() const {
    const QFontMetrics metrics(Theme::caption());
    int width = metrics.horizontalAdvance(u"999 MB"_s);
    for (const auto& step : memory().steps) width = std::max(width, metrics.horizontalAdvance(stepText(memory(), step, tr("batch %1 fits"), tr("no batch fits"))));
    return width + size::gap;
}

QSize NetworkMemoryBars::sizeHint() const {
    const int rows = static_cast<int>(memory().steps.size());
    const QFontMetrics metrics(Theme::caption());
    return {std::max(namesWidth() + barWidth + figuresWidth(), metrics.horizontalAdvance(title())), rows > 0 ? rowHeight() * (rows + 1) : 0};
}

void NetworkMemoryBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(Theme::caption());
    const Tokens& tokens = theme_->tokens();
    if (model_->isStale()) painter.setOpacity(paleTotals);
    const int height = rowHeight(), names = namesWidth();
    painter.setPen(tokens.dim);
    painter.drawText(QRect(0, 0, width(), height), Qt::AlignLeft | Qt::AlignVCenter, title());
    const double limit = memory().limit, most = memory().most();
    const double all = limit > 0 ? std::min(most, limit) : most;
    int top = height;
    for (const auto& step : memory().steps) {
        const QColor colour = theme_->precision(step.preset);
        painter.setPen(colour);
        painter.drawText(QRect(0, top, names, height), Qt::AlignLeft | Qt::AlignVCenter, precisionTitle(step.preset));
        double left = names;
        const double end = names + barWidth;
        for (const MemoryPart& part : memoryParts(step.memory)) {
            const double next = std::min(end, left + (all > 0 ? barWidth * part.bytes / all : 0));
            painter.fillRect(QRectF(left, top + 3, next - left, height - 5), blend(tokens.panel, colour, part.opacity));
            left = next;
        }
        const bool large = isTooLarge(memory(), step);
        if (large) painter.fillRect(QRectF(end - notch, top + 1, notch, height - 2), tokens.bad);
        painter.setPen(large ? tokens.bad : tokens.text);
        painter.drawText(QRectF(left + size::grid, top, width() - left, height), Qt::AlignLeft | Qt::AlignVCenter,
                         stepText(memory(), step, tr("batch %1 fits"), tr("no batch fits")));
        top += height;
    }
}

bool NetworkMemoryBars::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return PaintedWidget::event(event);
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), spoken().replace(u"; "_s, u"\n"_s), this);
    return true;
}

QString NetworkMemoryBars::spoken() const {
    QStringList said{title()};
    for (const auto& step : memory().steps) {
        const auto parts = memoryParts(step.memory);
        said << tr("%1: %2, of which activations %3, gradients %4, weights %5, optimizer %6")
                    .arg(precisionTitle(step.preset), stepText(memory(), step, tr("batch %1 fits"), tr("no batch fits")), savedText(parts[0].bytes),
                         savedText(parts[1].bytes), savedText(parts[2].bytes), savedText(parts[3].bytes));
    }
    if (memory().steps.empty()) said << unmeasured();
    return said.join(u"; "_s);
}

NetworkTotals::NetworkTotals(const Theme* theme, NetworkModel* model, QWidget* parent)
    : QWidget(parent), model_(model), parameters_(makeLabel({})), forward_(makeLabel({})), bars_(new NetworkMemoryBars(theme, model, this)) {
    auto* row = makeRow(this, {}, 2 * size::inside);
    const auto add = [row](const QString& caption, QLabel* value) {
        auto* column = makeColumn(2);
        value->setAccessibleName(caption);
        value->setFont(Theme::bold());
        addWidgets(column, {makeSmall(caption, "dim"), value});
        column->addStretch(1);
        row->addLayout(column);
    };
    add(tr("parameters"), parameters_);
    add(tr("forward pass, one sample"), forward_);
    row->addWidget(bars_, 0, Qt::AlignTop);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(model, &NetworkModel::checked, this, &NetworkTotals::refresh);
    refresh();
}

void NetworkTotals::refresh() {
    const auto& view = model_->good();
    const bool any = !view.text.isEmpty();
    const double batch = static_cast<double>(std::max<std::int64_t>(view.memory.batch_size, 1));
    parameters_->setText(any ? count(view.network.parameter_count()) : unmeasured());
    parameters_->setToolTip(tr("%1 tensors").arg(count(std::ssize(view.network.parameters))));
    forward_->setText(any ? flopsText(view.network.flops()) : unmeasured());
    forward_->setToolTip(tr("A step of %1 samples: %2").arg(count(view.memory.batch_size), flopsText(passesOfAStep * batch * view.network.flops())));
    for (QLabel* each : {parameters_, forward_}) each->setEnabled(!model_->isStale());
    bars_->setVisible(!view.memory.steps.empty());
    updateGeometry();
}

}  // namespace ui
