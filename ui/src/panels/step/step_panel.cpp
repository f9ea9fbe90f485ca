#include <QCoreApplication>
#include <QDateTime>
#include <QFormLayout>
#include <QScrollArea>
#include <QToolButton>
#include <QWidget>
#include <cmath>

#include "engine/number/figure_text.h"
#include "engine/record/event.h"
#include "feed/bad_steps.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/metric_text.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "view/context.h"
#include "view/view.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// The selected step: its outcome explained in plain words, and its record. ‹ › go from skip to
/// skip.
class StepPanel final : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::StepPanel)
public:
    explicit StepPanel(const Context& context, QWidget* parent = nullptr);
    /// Puts title and the walking buttons into the head.
    void attachTo(Panel* panel);

private:
    void refresh();
    void refreshHead();
    void walk(int direction);
    static QString clockText(double seconds);
    QString maxSafeScale(const RunTrack& track, const engine::StepRecord& row) const;
    void fillTable(const RunTrack& track, std::int64_t step);

    Context context_;
    Panel* panel_ = nullptr;
    QLabel* reason_;
    QFrame* box_;
    QFormLayout* table_;
    ElidedLabel* soFar_ = nullptr;
    QToolButton* back_ = nullptr;
    QToolButton* forth_ = nullptr;
};

const engine::ScaleChanged* scaleEventAt(const RunTrack& track, std::int64_t step) {
    const auto& events = track.events();
    for (auto it = events.rbegin(); it != events.rend(); ++it) {
        const auto* scale = std::get_if<engine::ScaleChanged>(&*it);
        if (scale != nullptr && scale->step == step) return scale;
        if (scale != nullptr && scale->step < step) break;  // they come in order
    }
    return nullptr;
}

}  // namespace

StepPanel::StepPanel(const Context& context, QWidget* parent) : QWidget(parent), context_(context) {
    auto* outer = makeColumn(this);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    outer->addWidget(scroll);
    auto* inside = withName(new QWidget(scroll), u"sections"_s);
    scroll->setWidget(inside);
    auto* column =
        makeColumn(inside, {size::inside, size::gap, size::inside, size::gap}, size::gap);
    reason_ = new QLabel(this);
    reason_->setWordWrap(true);
    reason_->setTextFormat(Qt::RichText);
    reason_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(reason_);
    box_ = withName(new QFrame(this), u"box"_s);
    table_ = new QFormLayout(box_);
    table_->setContentsMargins(size::gap, 6, size::gap, 6);
    table_->setHorizontalSpacing(size::gap);
    table_->setVerticalSpacing(2);
    table_->setLabelAlignment(Qt::AlignRight);
    column->addWidget(box_);
    column->addStretch();
    connect(context_.link, &PlotLink::selectedChanged, this, &StepPanel::refresh);
    connect(context_.feed, &EventFeed::tracksChanged, this, &StepPanel::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &StepPanel::refreshHead);
    connect(context_.theme, &Theme::changed, this, &StepPanel::refresh);
}

void StepPanel::attachTo(Panel* panel) {
    panel_ = panel;
    soFar_ = new ElidedLabel;  // rather cut short than a wider window at the first skipped step
    soFar_->setProperty("role", u"dim"_s);
    soFar_->setFont(Theme::caption());
    panel->addToHead(soFar_);
    const auto button = [&](const QString& icon, const QString& name, int direction) {
        auto* made = new QToolButton(panel);
        made->setIcon(themedIcon(*context_.theme, icon));
        made->setIconSize({12, 12});
        made->setToolTip(name);
        made->setAccessibleName(name);
        connect(made, &QToolButton::clicked, this, [this, direction] { walk(direction); });
        connect(context_.theme, &Theme::changed, made,
                [this, made, icon] { made->setIcon(themedIcon(*context_.theme, icon)); });
        panel->addToHead(made);
        return made;
    };
    back_ = button(u"previous"_s, tr("Previous skipped or non-finite step"), -1);
    forth_ = button(u"next"_s, tr("Next skipped or non-finite step"), 1);
    refresh();
}

/// "14:32:10"; with its date if that is not today's.
QString StepPanel::clockText(double seconds) {
    const auto when = QDateTime::fromMSecsSinceEpoch(std::llround(1000 * seconds));
    const bool today = when.date() == QDate::currentDate();
    return when.toString(today ? u"HH:mm:ss"_s : u"yyyy-MM-dd HH:mm:ss"_s);
}

void StepPanel::walk(int direction) {
    const auto track = selectedTrack(context_);
    if (!track) return;
    const std::int64_t at = context_.link->selected() - 1;
    const std::int64_t found =
        nextBadRow(*track, at < 0 && direction < 0 ? track->rows() : at, direction);
    if (found >= 0) context_.link->select(found + 1);
}

void StepPanel::refreshHead() {
    const auto track = selectedTrack(context_);
    const std::int64_t rows = track ? track->rows() : 0;
    const std::int64_t skipped = track ? track->figures().skipped : 0;
    soFar_->setText(skipped > 0 ? tr("%1 skipped so far").arg(count(skipped)) : QString());
    const bool any = track && rows > 0 && badSteps(*track).any();
    back_->setEnabled(any);
    forth_->setEnabled(any);
}

void StepPanel::refresh() {
    refreshHead();
    const auto track = selectedTrack(context_);
    const std::int64_t step = context_.link->selected();
    const Tokens& t = context_.theme->tokens();
    while (table_->rowCount() > 0) table_->removeRow(0);
    const bool there = track && step >= 1 && step <= track->rows();
    box_->setVisible(there);
    if (!there) {
        panel_->setTitle(tr("Selected step"));
        reason_->setText(u"<span style='color:%1'>%2</span>"_s.arg(
            t.dim.name(),
            tr("Click a step on a plot, or a line under Events, to see why the step was "
               "applied or skipped.")));
        return;
    }
    const engine::StepRecord row = track->at(step);
    const engine::ScaleChanged* scale = scaleEventAt(*track, step);
    const double after = track->scaleAfter(step);
    const StepReason why = explainStep(row, scale, after, track->hasScaler(),
                                       engine::resolve(track->config().precision).computes_in_fp16(),
                                       track->origin() ? nullptr : &track->config());
    panel_->setTitle(row.found_inf != 0 ? tr("Skipped step %1").arg(count(step))
                                        : tr("Step %1").arg(count(step)));
    const QColor tone = why.tone == StepReason::Tone::good      ? t.good
                        : why.tone == StepReason::Tone::caution ? t.caution
                        : why.tone == StepReason::Tone::bad     ? t.bad
                                                                : t.text;
    reason_->setText(u"<b style='color:%1'>%2</b><br>%3"_s.arg(
        tone.name(), why.headline.toHtmlEscaped(), why.body.toHtmlEscaped()));
    fillTable(*track, step);
}

QString StepPanel::maxSafeScale(const RunTrack& track, const engine::StepRecord& row) const {
    if (!std::isnan(row.scale_ceiling)) return scaleLimit(static_cast<double>(row.scale_ceiling));
    const bool counted = !std::isnan(row.f16_zero_share);
    return track.origin() && !counted ? tr("not measured at this step")
                                      : tr("unknown (the overflow hid the true maximum)");
}

void StepPanel::fillTable(const RunTrack& track, std::int64_t step) {
    const engine::StepRecord row = track.at(step);
    const auto add = [this](const QString& name, const QString& value) {
        auto* label = makeLabel(name, "dim");
        label->setFont(Theme::caption());
        label->setAlignment(Qt::AlignRight | Qt::AlignTop);
        auto* figure = makeLabel(value);
        figure->setFont(Theme::caption());
        figure->setTextInteractionFlags(Qt::TextSelectableByMouse);
        figure->setWordWrap(true);
        figure->setAccessibleName(name);
        table_->addRow(label, figure);
    };
    const auto number = [](float value) { return significant(static_cast<double>(value)); };
    const auto time = [](float ms) { return measured(static_cast<double>(ms), milliseconds); };
    add(tr("run"), trackTitle(track));
    add(tr("loss"), number(row.loss));
    for (const auto& metric : track.stepMetrics()) {
        if (const auto figure = track.metricFigure(metric.key))
            add(metricInline(metric), metricValue(metric, figure->of(row)));
    }
    if (track.hasScaler()) {
        add(tr("scale"), powerOfTwo(static_cast<double>(row.loss_scale)));
        add(tr("max safe scale"), maxSafeScale(track, row));
        // A static scale counts nothing.
        if (engine::resolve(track.config().precision).scaler == engine::ScalerMode::dynamic)
            add(tr("clean steps"), count(row.growth_tracker));
    }
    add(tr("gradient"), tr("norm %1, largest %2").arg(number(row.grad_norm), number(row.grad_max)));
    // One infinite value among thousands must not be shown as 0 %.
    const auto share = [](float part) {
        const bool tiny = part > 0 && part < 0.0005f;
        return tiny ? u"< "_s + percent(0.001) : percent(static_cast<double>(part));
    };
    if (!std::isnan(row.f16_zero_share)) {
        add(tr("in FP16"), tr("%1 zero, %2 subnormal, %3 overflow")
                               .arg(share(row.f16_zero_share), share(row.f16_subnormal_share),
                                    share(row.f16_overflow_share)));
    }
    if (!std::isnan(row.grad_zero_share)) add(tr("zero gradients"), share(row.grad_zero_share));
    add(tr("learning rate"), number(row.lr));
    add(tr("time"),
        tr("%1: data %2, forward %3, backward %4, optimizer %5")
            .arg(time(row.step_ms), time(row.data_ms), time(row.forward_ms), time(row.backward_ms),
                 time(row.optimizer_ms)));
    if (row.clock_s > 0) add(tr("ended at"), clockText(row.clock_s));
    if (!std::isnan(row.card_load))
        add(tr("GPU load"), percent(static_cast<double>(row.card_load)));
    if (!std::isnan(row.card_memory_bytes))
        add(tr("GPU memory"), bytes(std::llround(row.card_memory_bytes)));
    if (!std::isnan(row.card_celsius))
        add(tr("GPU temperature"), number(row.card_celsius) + u" °C"_s);
    if (!std::isnan(row.card_watts)) add(tr("GPU power"), number(row.card_watts) + u" W"_s);
    const auto addEnergy = [&](const QString& name, double joules) {
        if (!std::isnan(joules)) add(name, QString::fromStdString(engine::energy_text(joules)));
    };
    addEnergy(tr("GPU energy"), row.card_joules);
    addEnergy(tr("CPU energy"), row.cpu_joules);
    if (std::isnan(row.exchange_ms)) return;
    const double hidden = static_cast<double>(row.exchange_hidden_share);
    add(tr("exchange"), tr("%1 between %2 workers, %3 of it during the backward pass")
                            .arg(time(row.exchange_ms), count(track.config().workers),
                                 percent(hidden)));
}

Panel* makeStepPanel(const Context& context, const QString& name, QWidget* parent) {
    const QString title = QCoreApplication::translate("Panels", "Selected step");
    auto* body = new StepPanel(context);
    auto* panel = new Panel(context.theme, name, title, body, parent);
    body->attachTo(panel);
    return panel;
}

}  // namespace ui
