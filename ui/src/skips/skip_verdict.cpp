#include "skips/skip_verdict.h"

#include <QPushButton>
#include <cmath>
#include <ranges>

#include "feed/run_track.h"
#include "skips/chain_plot.h"
#include "skips/exponent_bars.h"
#include "skips/skip_text.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/flow_layout.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::SkipCause;
using engine::SkipReport;
using engine::StepTrial;

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
