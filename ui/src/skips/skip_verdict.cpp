#include "skips/skip_verdict.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <array>
#include <cmath>
#include <ranges>

#include "feed/run_track.h"
#include "skips/chain_plot.h"
#include "skips/skip_text.h"
#include "text/format.h"
#include "text/language.h"
#include "text/spoken.h"
#include "theme/theme.h"
#include "widgets/axis_marks.h"
#include "widgets/choices.h"
#include "widgets/flow_layout.h"
#include "widgets/painted_widget.h"
#include "widgets/panel.h"

namespace ui {

using engine::ExponentHistogram;
using engine::SkipCause;
using engine::SkipReport;
using engine::StepTrial;

namespace {

/// Exponents of the first non-finite tensor: filled as it was, outlined at another loss scale or in
/// FP32, against the limits of FP16. Counts are on a logarithmic axis. GUI thread.
class ExponentBars final : public PaintedWidget, public Spoken {
    Q_DECLARE_TR_FUNCTIONS(ui::ExponentBars)
public:
    ExponentBars(const Theme* theme, SkipsModel* model, QWidget* parent = nullptr);
    QString spoken() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Axis;
    void paintBars(QPainter& painter, const Axis& axis,
                   const engine::TensorHistograms& found) const;
    void paintLimits(QPainter& painter, const Axis& axis) const;
    void paintLegend(QPainter& painter, const Axis& axis,
                     const engine::TensorHistograms& found) const;

    SkipsModel* model_;
};

constexpr int firstShown = -30;  // exponents on the axis
constexpr int lastShown = ExponentHistogram::last_exponent;
constexpr int columns = lastShown - firstShown + 1 + 1;  // and one of what is not finite

std::int64_t countAt(const ExponentHistogram& histogram, int column) {
    if (column == columns - 1) return histogram.non_finite();
    const auto at =
        static_cast<std::size_t>(firstShown + column - ExponentHistogram::first_exponent);
    return histogram.bins[at];
}

}  // namespace

/// Positions of columns and counts.
struct ExponentBars::Axis {
    QRectF plot;
    double most = 1;  // log2(1 + count) at the top

    double x(int column) const { return plot.left() + plot.width() * column / columns; }
    double y(std::int64_t count) const {
        return plot.bottom() - plot.height() * std::log2(1.0 + static_cast<double>(count)) / most;
    }
};

ExponentBars::ExponentBars(const Theme* theme, SkipsModel* model, QWidget* parent)
    : PaintedWidget(theme, parent, {260, 130}, {140, 90}), model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Exponents of the first non-finite tensor"));
    connect(model_, &SkipsModel::stepChanged, this, qOverload<>(&QWidget::update));
}

QString ExponentBars::spoken() const {
    const auto* report = model_->report();
    if (report == nullptr || !report->histograms)
        return tr("Exponents of the first non-finite tensor, once the step is examined.");
    const ExponentHistogram& found = report->histograms->before;
    return tr("%1 values, %2 of them not finite.")
        .arg(count(found.total()), count(found.non_finite()));
}

void ExponentBars::paintEvent(QPaintEvent*) {
    const auto* report = model_->report();
    if (report == nullptr || !report->histograms) {
        paintEmpty(this, *theme_,
                   report != nullptr           ? tr("The fault is no output of an operation.")
                   : model_->step() != nullptr ? tr("Exponents of the first non-finite tensor, "
                                                    "once the step is examined.")
                                               : QString());
        return;
    }
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int line = fontMetrics().height();
    Axis axis{QRectF(size::inside, 4, std::max(40, width() - 2 * size::inside),
                     std::max(30, height() - 8 - line))};
    for (int column = 0; column < columns; ++column) {
        for (const auto* each : {&report->histograms->before, &report->histograms->after})
            axis.most =
                std::max(axis.most, std::log2(1.0 + static_cast<double>(countAt(*each, column))));
    }
    axis.most *= 1.3;  // room for the legend
    paintLimits(painter, axis);
    paintBars(painter, axis, *report->histograms);
    paintLegend(painter, axis, *report->histograms);
}

void ExponentBars::paintLimits(QPainter& painter, const Axis& axis) const {
    const Tokens& t = theme_->tokens();
    const auto columnOf = [](int exponent) { return exponent - firstShown; };
    // Shades FP16's subnormals, and what it cannot represent.
    painter.fillRect(QRectF(QPointF(axis.x(columnOf(-24)), axis.plot.top()),
                            QPointF(axis.x(columnOf(-14)), axis.plot.bottom())),
                     blend(t.panel, t.caution, 0.12));
    painter.fillRect(QRectF(QPointF(axis.x(columnOf(16)), axis.plot.top()),
                            QPointF(axis.plot.right(), axis.plot.bottom())),
                     blend(t.panel, t.bad, 0.12));
    painter.setPen(QPen(t.bad, 1.2));
    painter.drawLine(QPointF(axis.x(columnOf(16)), axis.plot.top()),
                     QPointF(axis.x(columnOf(16)), axis.plot.bottom()));
    const auto place = [&](int exponent) { return axis.x(columnOf(exponent)); };
    paintMarksBelow(painter, t, axis.plot, exponentMarks(std::array{-24, -14, -8, 0, 8, 16}, place),
                    width());
}

void ExponentBars::paintBars(QPainter& painter, const Axis& axis,
                             const engine::TensorHistograms& found) const {
    const Tokens& t = theme_->tokens();
    QPainterPath outline(QPointF(axis.plot.left(), axis.plot.bottom()));
    for (int column = 0; column < columns; ++column) {
        const double left = axis.x(column), right = axis.x(column + 1);
        const bool bad = column == columns - 1;
        if (const std::int64_t count = countAt(found.before, column); count > 0)
            painter.fillRect(QRectF(QPointF(left + 0.5, axis.y(count)),
                                    QPointF(right - 0.5, axis.plot.bottom())),
                             bad ? t.bad : blend(t.panel, theme_->run(model_->track()), 0.45));
        const double y = axis.y(countAt(found.after, column));
        outline.lineTo(left, y);
        outline.lineTo(right, y);
    }
    outline.lineTo(axis.plot.right(), axis.plot.bottom());
    painter.setPen(QPen(theme_->run(model_->track()), 1.4));
    painter.drawPath(outline);
}

void ExponentBars::paintLegend(QPainter& painter, const Axis& axis,
                               const engine::TensorHistograms& found) const {
    const Tokens& t = theme_->tokens();
    const int line = fontMetrics().height();
    painter.setPen(t.text);
    const QString before =
        found.in_f32 ? tr("filled: as it was") : tr("filled: at %1").arg(powerOfTwo(found.scale));
    const QString after =
        found.in_f32 ? tr("line: in FP32") : tr("line: at %1").arg(powerOfTwo(found.other_scale));
    painter.drawText(axis.plot.adjusted(4, 0, -4, 0), Qt::AlignLeft | Qt::AlignTop,
                     before + u"   "_s + after);
    if (found.before.non_finite() == 0) return;
    painter.setPen(t.bad);
    painter.drawText(
        axis.plot.adjusted(4, line, -4, 0), Qt::AlignRight | Qt::AlignTop,
        tr("%1 inf, %2 NaN").arg(count(found.before.infinite), count(found.before.nan)));
}

SkipVerdict::SkipVerdict(const Theme* theme, SkipsModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), model_(model) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addWidget(makeHead());
    column->addWidget(makeChain(), 1);
    makeExponents();
    makeLadder();
    connect(model_, &SkipsModel::stepChanged, this, &SkipVerdict::refresh);
    connect(model_, &SkipsModel::progressed, this, &SkipVerdict::showProgress);
    connect(theme_, &Theme::changed, this, &SkipVerdict::refresh);
    refresh();
}

QWidget* SkipVerdict::makeHead() {
    auto* head = makeCard(this);
    auto* inside = new QVBoxLayout(head);
    headline_ = makeTitle({}, nullptr, head);
    advice_ = makeLabel({}, nullptr, head);
    tests_ = makeSmall({}, nullptr, head);
    tests_->setTextFormat(Qt::RichText);
    for (QLabel* label : {headline_, advice_, tests_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        inside->addWidget(label);
    }
    return head;
}

Card* SkipVerdict::makeChain() {
    chain_ = new Card({}, this);
    auto* plot = new ChainPlot(theme_, model_, chain_);
    auto* shown =
        new Segments(tr("Displayed values"), {tr("as computed again"), tr("in FP32")}, chain_);
    chain_->addToHead(shown);
    connect(shown->buttons(), &QButtonGroup::idClicked, plot,
            [plot](int id) { plot->showF32(id == 1); });
    chain_->addBody(plot, 1);
    return chain_;
}

void SkipVerdict::makeExponents() {
    exponents_ = new Card({}, this);
    exponents_->addBody(new ExponentBars(theme_, model_, exponents_), 1);
}

void SkipVerdict::makeLadder() {
    ladder_ = new Card(tr("At another scale"), this);
    scales_ = makeLabel({}, nullptr, ladder_);
    scales_->setTextFormat(Qt::RichText);
    trial_ = makeLabel({}, nullptr, ladder_);
    for (QLabel* label : {scales_, trial_}) {
        label->setFont(Theme::caption());
        label->setWordWrap(true);
        label->setContentsMargins(size::inside, 2, size::inside, 2);
        ladder_->addBody(label);
    }
    auto* line = new QWidget(ladder_);
    auto* outer = makeRow(line, {size::inside, 0, size::inside, size::grid});
    auto* buttons = trials_ = new QWidget(line);
    outer->addWidget(buttons);
    auto* row = new FlowLayout(buttons, size::grid + 2);
    auto* half = new QPushButton(tr("At half the scale"), buttons);
    auto* f32 = new QPushButton(tr("In FP32"), buttons);
    auto* without = new QPushButton(tr("Without this sample"), buttons);
    for (QPushButton* button : {half, f32, without}) row->addWidget(button);
    ladder_->addBody(line);
    ladder_->addBody(new QWidget(ladder_), 1);  // what is free lies below
    connect(half, &QPushButton::clicked, this, [this] {
        if (model_->step() != nullptr) model_->retry({.scale = model_->step()->loss_scale / 2});
    });
    connect(f32, &QPushButton::clicked, this, [this] { model_->retry({.fp32 = true}); });
    connect(without, &QPushButton::clicked, this, &SkipVerdict::withoutSampleWanted);
}

void SkipVerdict::refresh() {
    showHead();
    showTests();
    showChain();
    showExponents();
    showLadder();
}

void SkipVerdict::showHead() {
    const SkipReport* report = model_->report();
    const auto* step = model_->step();
    restyle(headline_, "role",
            report == nullptr                                                ? QString()
            : report->cause == SkipCause::scale_too_large && report->skipped ? u"good"_s
            : report->cause == SkipCause::unknown                            ? u"caution"_s
                                                                             : u"bad"_s);
    if (report != nullptr) {
        headline_->setText(engineText(report->verdict()));
        advice_->setText(engineText(report->advice));
    } else if (step != nullptr) {
        headline_->setText(step->skipped ? tr("Step %1 was skipped at %2.")
                                               .arg(count(step->step), powerOfTwo(step->loss_scale))
                                         : tr("Step %1 was not finite.").arg(count(step->step)));
        advice_->setText(tr("Examine it to see which tensor broke first, and why."));
    } else {
        headline_->setText(tr("No skipped step"));
        advice_->setText(sinceGrowth());
    }
}

/// How long the scale has stayed since it last grew; empty where there is none.
QString SkipVerdict::sinceGrowth() const {
    const auto& track = model_->track();
    if (!track || track->rows() == 0) return {};
    for (const engine::Event& event : track->events() | std::views::reverse) {
        const auto* change = std::get_if<engine::ScaleChanged>(&event);
        if (change != nullptr && change->kind == engine::ScaleChanged::Kind::grown)
            return tr("The loss scale last grew %1 steps ago, to %2.")
                .arg(count(track->rows() - change->step),
                     powerOfTwo(static_cast<double>(change->to)));
    }
    return track->latest().loss_scale > 1 ? tr("The loss scale has not grown yet.") : QString();
}

void SkipVerdict::showTests() {
    const SkipReport* report = model_->report();
    tests_->setVisible(report != nullptr);
    if (report == nullptr) return;
    QString rows;
    for (const auto& test : report->tests) {
        rows += u"<tr><td>%1&nbsp;</td><td><b>%2</b>&nbsp;&nbsp;</td><td>%3</td></tr>"_s.arg(
            test.found ? u"●"_s : u"○"_s, engineText(engine::title(test.cause)).toHtmlEscaped(),
            engineText(test.finding).toHtmlEscaped());
    }
    tests_->setText(u"<table>"_s + rows + u"</table>"_s);
}

void SkipVerdict::showChain() {
    const SkipReport* report = model_->report();
    const bool forward =
        report != nullptr && report->first && report->first->stage == engine::SkipStage::forward;
    chain_->setTitle(forward ? tr("Forward pass") : tr("Backward pass"));
    chain_->setNote(report == nullptr ? QString()
                    : forward         ? tr("largest output of each layer, in execution order")
                              : tr("largest gradient of each layer × %1, in execution order")
                                    .arg(powerOfTwo(report->loss_scale)));
}

void SkipVerdict::showExponents() {
    const SkipReport* report = model_->report();
    const bool any = report != nullptr && report->first;
    const QString where = !any ? QString()
                          : report->first->name.empty()
                              ? QString::fromStdString(report->first->module)
                              : QString::fromStdString(report->first->name);
    exponents_->setTitle(where.isEmpty() ? tr("Exponents") : where);
    exponents_->setNote(!any ? QString()
                        : report->first->stage == engine::SkipStage::backward
                            ? tr("gradient, before and after")
                            : tr("before and after"));
}

void SkipVerdict::showLadder() {
    const SkipReport* report = model_->report();
    const Tokens& t = theme_->tokens();
    QStringList parts;
    if (report != nullptr) {
        for (const StepTrial& trial : report->ladder) {
            parts << u"<span style='color:%1'>%2 %3</span>"_s.arg(
                (trial.passes ? t.good : t.bad).name(), trial.passes ? u"✓"_s : u"✗"_s,
                powerOfTwo(trial.scale));
        }
        // Reports of earlier versions have a bound for faults of the forward pass, too.
        if (report->cause == SkipCause::scale_too_large && std::isfinite(report->scale_bound))
            parts << tr("judging by the FP32 gradients, any scale up to %1 passes")
                         .arg(scaleLimit(report->scale_bound));
    }
    trials_->setEnabled(model_->step() != nullptr);
    scales_->setText(model_->step() == nullptr ? QString()
                     : parts.isEmpty()         ? tr("Examine the step to see which scales pass.")
                                               : parts.join(u" &nbsp; "_s));
    trial_->setVisible(model_->trial().has_value());
    if (model_->trial()) trial_->setText(trialText(*model_->trial()));
}

/// While a step is checked the verdict says how far.
void SkipVerdict::showProgress() {
    const engine::ExaminationProgress now = model_->checking();
    const bool checks = now.step > 0;
    if (!checks && !checking_) {
        if (model_->step() == nullptr) advice_->setText(sinceGrowth());
        return;
    }
    checking_ = checks;
    if (!checks) return refresh();
    restyle(headline_, "role", QString());
    const QString before = now.operations == 0 ? model_->progress() : QString();
    headline_->setText(
        !before.isEmpty() ? tr("Step %1. %2").arg(count(now.step), before)
        : now.expected > 0 && now.operations <= now.expected
            ? tr("Step %1: checking op %2 of %3")
                  .arg(count(now.step), count(now.operations), count(now.expected))
            : tr("Step %1: checking op %2").arg(count(now.step), count(now.operations)));
    advice_->clear();
}

}  // namespace ui
