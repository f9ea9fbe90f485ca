#include "panels/settings/rate_finder.h"

#include <QPushButton>

#include "models/settings_model.h"
#include "plots/axis_tickers.h"
#include "plots/custom_plot.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// Leaves out the last points, where the loss diverges: with them the rest of the curve would look
/// flat.
auto endOfCurve(const QVector<double>& losses) {
    constexpr qsizetype exploding = 5;
    return losses.size() > 2 * exploding ? losses.cend() - exploding : losses.cend();
}

}  // namespace

RateFinder::RateFinder(const Context& context, QWidget* parent)
    : QDialog(parent),
      context_(context),
      test_([this] { refresh(); }),
      plot_(new QCustomPlot(this)),
      words_(makeProse({}, "dim", this)),
      valley_(new QPushButton(this)),
      steepest_(new QPushButton(this)) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Find the learning rate"));
    auto* column =
        makeColumn(this, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    auto* what =
        makeLabel(tr("Trains a new model while the rate rises from 1e-7 to 10. Nothing is saved."),
                  "dim", this);
    what->setWordWrap(true);
    column->addWidget(what);
    makePlot();
    column->addWidget(plot_, 1);
    column->addWidget(words_);
    makeFoot();
    resize(640, 440);
    start();
}

void RateFinder::makePlot() {
    const Tokens& tokens = context_.theme->tokens();
    plot_->setAccessibleName(tr("Loss while the learning rate rises"));
    styleAxes(plot_, tokens);
    plot_->setMinimumHeight(200);
    plot_->xAxis->setScaleType(QCPAxis::stLogarithmic);
    plot_->xAxis->setTicker(QSharedPointer<AxisTicker>::create(AxisKind::log));
    plot_->yAxis->setTicker(QSharedPointer<AxisTicker>::create(AxisKind::linear));
    plot_->xAxis->setLabel(tr("Learning rate"));
    plot_->yAxis->setLabel(tr("Loss"));
    QColor faint = tokens.accent;
    faint.setAlphaF(0.3F);
    plot_->addGraph()->setPen(QPen(faint, size::rawCurve));
    plot_->addGraph()->setPen(QPen(tokens.accent, size::smoothCurve));
}

void RateFinder::makeFoot() {
    auto* foot = makeRow(size::gap);
    foot->addStretch();
    for (QPushButton* button : {valley_, steepest_}) {
        button->hide();
        foot->addWidget(button);
    }
    auto* close = new QPushButton(tr("Close"), this);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    foot->addWidget(close);
    static_cast<QVBoxLayout*>(layout())->addLayout(foot);
}

void RateFinder::start() {
    words_->setText(tr("Preparing"));
    test_.start(
        [config = context_.settings->config()](auto& link) {
            return engine::find_learning_rate(
                config, {}, [&link](const engine::RatePoint& point) {
                    link.report([&point](auto& points) { points.push_back(point); });
                    return !link.stopped();
                });
        },
        [this](const Outcome<engine::FoundRate>& found) {
            refresh();
            if (found.error)
                words_->setText(found.failure().sentence());
            else
                finish(*found.result);
        });
}

void RateFinder::refresh() {
    const std::vector<engine::RatePoint> points = test_.progress();
    if (points.empty()) return;
    QVector<double> rates, losses, smoothed;
    for (const auto& point : points) {
        rates << point.lr;
        losses << point.loss;
        smoothed << point.smoothed;
    }
    plot_->graph(0)->setData(rates, losses, true);
    plot_->graph(1)->setData(rates, smoothed, true);
    plot_->xAxis->setRange(1e-7, 10);
    const auto [low, high] = std::minmax_element(smoothed.cbegin(), endOfCurve(smoothed));
    plot_->yAxis->setRange(*low, *high);
    plot_->yAxis->scaleRange(1.3, plot_->yAxis->range().center());
    plot_->replot(QCustomPlot::rpQueuedReplot);
    const auto updates = static_cast<std::int64_t>(points.size());
    words_->setText(left_.behind(
        tr("Update %1, rate %2").arg(count(updates), significant(points.back().lr)),
        static_cast<double>(updates) / static_cast<double>(engine::FindRateOptions{}.steps)));
}

void RateFinder::finish(const engine::FoundRate& found) {
    offer(valley_, tr("valley"), found.valley);
    offer(steepest_, tr("steepest"), found.steepest);
    if (!found.valley && !found.steepest) {
        words_->setText(tr(
            "The loss did not fall at any rate: look at the data, the model and the precision."));
        return;
    }
    words_->setText(
        tr("Valley: halfway down the longest descent, usually the rate to train with. Steepest: "
           "where the loss falls fastest."));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void RateFinder::offer(QPushButton* button, const QString& name,
                       const std::optional<double>& rate) {
    if (!rate) return;
    const QString text = QString::number(*rate, 'g', 3);
    button->setText(tr("Use %1 (%2)").arg(text, name));
    button->show();
    mark(*rate);
    connect(button, &QPushButton::clicked, this, [this, text] {
        context_.settings->set(u"optimizer.lr"_s, text);
        close();
    });
}

void RateFinder::mark(double rate) {
    auto* line = new QCPItemStraightLine(plot_);
    line->setPen(QPen(context_.theme->tokens().dim, 1, Qt::DashLine));
    line->point1->setCoords(rate, 0);
    line->point2->setCoords(rate, 1);
}

}  // namespace ui
