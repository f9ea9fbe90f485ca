#include "skips/skips_page.h"

#include <QAction>
#include <QButtonGroup>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>

#include "feed/run_track.h"
#include "skips/chain_plot.h"
#include "skips/exponent_bars.h"
#include "skips/sample_grid.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/card.h"
#include "widgets/elided_label.h"
#include "widgets/flow_layout.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::SkipCause;
using engine::SkipReport;
using engine::StepTrial;

namespace {

QString causeTitle(const engine::SkippedStep& step) {
    if (step.report) return engineText(engine::title(step.report->cause));
    return step.skipped ? SkipsPage::tr("not examined yet")
                        : SkipsPage::tr("not finite, and nothing skipped it");
}

QString trialText(const StepTrial& trial) {
    return trial.passes ? SkipsPage::tr("%1: passes, loss %2, gradient norm %3")
                              .arg(powerOfTwo(trial.scale), significant(trial.loss),
                                   significant(trial.grad_norm))
                        : SkipsPage::tr("%1: not finite").arg(powerOfTwo(trial.scale));
}

QString indexText(const std::vector<std::int64_t>& index) {
    QStringList out;
    for (const std::int64_t at : index) out << QString::number(at);
    return u"["_s + out.join(u", "_s) + u"]"_s;
}

QString shapeText(const std::vector<std::int64_t>& shape) {
    QStringList out;
    for (const std::int64_t size : shape) out << QString::number(size);
    return out.isEmpty() ? SkipsPage::tr("one number") : out.join(u" × "_s);
}

}  // namespace

QWidget* makeSkipsPage(const Context& context, QWidget* parent) {
    return new SkipsPage(context, parent);
}

SkipsPage::SkipsPage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), model_(new SkipsModel(context, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    column->addLayout(makeBar());
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->addWidget(makeList());
    split->addWidget(makeReport());
    split->addWidget(makeDetails());
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 4);
    split->setStretchFactor(2, 2);
    split->setChildrenCollapsible(false);
    split->setHandleWidth(size::gap);
    column->addWidget(split, 1);
    connect(model_, &SkipsModel::listChanged, this, &SkipsPage::showList);
    connect(model_, &SkipsModel::stepChanged, this, &SkipsPage::showStep);
    connect(model_, &SkipsModel::stateChanged, this, &SkipsPage::refreshState);
    connect(model_, &SkipsModel::progressed, this, &SkipsPage::showProgress);
    connect(context_.theme, &Theme::changed, this, &SkipsPage::showStep);
    showList();
    showStep();
}

QLayout* SkipsPage::makeBar() {
    auto* row = new QHBoxLayout;
    row->setSpacing(size::gap);
    examine_ = new QPushButton(tr("Examine this step"), this);
    examine_->setObjectName(u"primary"_s);
    examine_->setToolTip(
        tr("Computes the step again from the newest checkpoint before it, with a check after every "
           "operation (R). Training waits for it; nothing of the run changes."));
    state_ = new ElidedLabel(this);
    state_->setProperty("role", u"dim"_s);
    arm_ = new QPushButton(tr("Arm"), this);
    arm_->setCheckable(true);
    arm_->setToolTip(
        tr("Examines the next skip as it happens, from the state before its update. On a GPU this "
           "costs a synchronisation a step."));
    connect(arm_, &QPushButton::toggled, model_, &SkipsModel::setArmed);
    capsule_ = new QPushButton(tr("Save as capsule…"), this);
    capsule_->setToolTip(
        tr("One file with all that it takes to compute the step again elsewhere: "
           "weights, optimizer, scaler, batch and settings (K)"));
    row->addWidget(examine_);
    row->addWidget(arm_);
    row->addWidget(state_, 1);
    row->addWidget(capsule_);
    const auto key = [this](Qt::Key which, QPushButton* button) {
        auto* action = new QAction(this);
        action->setShortcut(QKeySequence(which));
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        addAction(action);
        connect(action, &QAction::triggered, button, &QPushButton::click);
    };
    key(Qt::Key_R, examine_);
    key(Qt::Key_K, capsule_);
    connect(examine_, &QPushButton::clicked, model_, &SkipsModel::examine);
    connect(capsule_, &QPushButton::clicked, this, &SkipsPage::saveCapsule);
    return row;
}

Card* SkipsPage::makeList() {
    auto* card = new Card(tr("Skipped steps"), this);
    card->setMinimumWidth(150);
    list_ = new QListWidget(card);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setAccessibleName(tr("Skipped steps"));
    list_->setWordWrap(true);
    summary_ = makeLabel({}, "dim", card);
    summary_->setFont(Theme::caption());
    summary_->setWordWrap(true);
    summary_->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    card->addBody(list_, 1);
    card->addBody(summary_);
    connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
        // The newest stands first.
        if (!filling_ && row >= 0)
            model_->select(static_cast<int>(model_->skips().list.size()) - 1 - row);
    });
    return card;
}

QWidget* SkipsPage::makeReport() {
    auto* part = new QWidget(this);
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    auto* verdict = new QFrame(part);
    verdict->setObjectName(u"card"_s);
    auto* inside = new QVBoxLayout(verdict);
    headline_ = makeLabel({}, nullptr, verdict);
    headline_->setFont(Theme::bold());
    advice_ = makeLabel({}, nullptr, verdict);
    tests_ = makeLabel({}, nullptr, verdict);
    tests_->setTextFormat(Qt::RichText);
    tests_->setFont(Theme::caption());
    for (QLabel* label : {headline_, advice_, tests_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        inside->addWidget(label);
    }
    column->addWidget(verdict);
    chain_ = new Card({}, part);
    auto* plot = new ChainPlot(context_.theme, model_, chain_);
    auto* shown = new QButtonGroup(chain_);
    for (const bool f32 : {false, true}) {
        auto* button = new QToolButton(chain_);
        button->setText(f32 ? tr("in FP32") : tr("as computed again"));
        button->setCheckable(true);
        button->setChecked(!f32);
        shown->addButton(button);
        chain_->addToHead(button);
        connect(button, &QToolButton::clicked, plot, [plot, f32] { plot->showF32(f32); });
    }
    chain_->addBody(plot, 1);
    column->addWidget(chain_, 1);
    auto* below = new QHBoxLayout;
    below->setSpacing(size::gap);
    below->addWidget(makeExponents(), 1);
    below->addWidget(makeLadder(), 1);
    column->addLayout(below);
    return part;
}

Card* SkipsPage::makeExponents() {
    exponents_ = new Card({}, this);
    exponents_->addBody(new ExponentBars(context_.theme, model_, exponents_), 1);
    return exponents_;
}

Card* SkipsPage::makeLadder() {
    auto* card = new Card(tr("At another scale"), this);
    ladder_ = makeLabel({}, nullptr, card);
    ladder_->setTextFormat(Qt::RichText);
    trial_ = makeLabel({}, nullptr, card);
    for (QLabel* label : {ladder_, trial_}) {
        label->setFont(Theme::caption());
        label->setWordWrap(true);
        label->setContentsMargins(size::inside, 2, size::inside, 2);
        card->addBody(label);
    }
    auto* line = new QWidget(card);
    auto* outer = new QHBoxLayout(line);
    outer->setContentsMargins(size::inside, 0, size::inside, size::grid);
    auto* buttons = new QWidget(line);
    outer->addWidget(buttons);
    auto* row = new FlowLayout(buttons, size::grid + 2);
    auto* half = new QPushButton(tr("At half the scale"), buttons);
    auto* f32 = new QPushButton(tr("In FP32"), buttons);
    auto* without = new QPushButton(tr("Without this sample"), buttons);
    for (QPushButton* button : {half, f32, without}) row->addWidget(button);
    card->addBody(line);
    connect(half, &QPushButton::clicked, this, [this] {
        if (model_->step() != nullptr) model_->retry({.scale = model_->step()->loss_scale / 2});
    });
    connect(f32, &QPushButton::clicked, this, [this] { model_->retry({.fp32 = true}); });
    connect(without, &QPushButton::clicked, this, [this] {
        if (const auto sample = samples_->sample()) model_->retry({.without = sample});
    });
    return card;
}

QWidget* SkipsPage::makeDetails() {
    auto* part = new QWidget(this);
    part->setMinimumWidth(180);
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    auto* tensor = new Card(tr("First non-finite tensor"), part);
    auto* facts = new QWidget(tensor);
    tensor_ = new QFormLayout(facts);
    tensor_->setContentsMargins(size::inside, 2, size::inside, size::grid);
    tensor_->setVerticalSpacing(2);
    tensor_->setLabelAlignment(Qt::AlignRight);
    tensor->addBody(facts);
    column->addWidget(tensor);
    auto* batch = new Card(tr("Batch"), part);
    samples_ = new SampleGrid(context_.theme, model_, batch);
    batch->addBody(samples_, 1);
    batch_ = batch;
    column->addWidget(batch, 1);
    return part;
}

void SkipsPage::showList() {
    filling_ = true;
    list_->clear();
    const auto& skips = model_->skips();
    for (auto step = skips.list.rbegin(); step != skips.list.rend(); ++step) {
        auto* item = new QListWidgetItem(u"%1  %2\n%3"_s.arg(
            count(step->step), powerOfTwo(step->loss_scale), causeTitle(*step)));
        list_->addItem(item);
    }
    if (model_->current() >= 0)
        list_->setCurrentRow(static_cast<int>(skips.list.size()) - 1 - model_->current());
    filling_ = false;
    if (skips.steps == 0) {
        summary_->setText(tr("Start a run, or open one with skipped steps."));
    } else if (skips.list.empty()) {
        summary_->setText(tr("No skipped steps in %1.").arg(count(skips.steps)));
    } else {
        QString text = tr("%1 of %2 steps, %3; %4 clean steps since the last.")
                           .arg(count(std::ssize(skips.list)), count(skips.steps),
                                percent(static_cast<double>(skips.list.size()) /
                                        static_cast<double>(skips.steps)),
                                count(skips.clean_steps));
        if (!skips.recurring.empty())
            text += u' ' + tr("Sample %1 is among the suspects of %2 of them.")
                               .arg(count(skips.recurring.front().sample),
                                    count(std::ssize(skips.recurring.front().steps)));
        summary_->setText(text);
    }
}

void SkipsPage::showStep() {
    const int row = model_->current() < 0
                        ? -1
                        : static_cast<int>(model_->skips().list.size()) - 1 - model_->current();
    if (list_->currentRow() != row) {
        filling_ = true;
        list_->setCurrentRow(row);
        filling_ = false;
    }
    const Tokens& t = context_.theme->tokens();
    const SkipReport* report = model_->report();
    const auto* step = model_->step();
    QPalette palette = headline_->palette();
    palette.setColor(QPalette::WindowText,
                     report == nullptr                                                ? t.text
                     : report->cause == SkipCause::scale_too_large && report->skipped ? t.good
                     : report->cause == SkipCause::unknown                            ? t.caution
                                                                                      : t.bad);
    headline_->setPalette(palette);
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
        advice_->setText({});
    }
    const bool forward =
        report != nullptr && report->first && report->first->stage == engine::SkipStage::forward;
    chain_->setTitle(forward ? tr("Forward pass") : tr("Backward pass"));
    chain_->setNote(report == nullptr ? QString()
                    : forward         ? tr("largest output of each layer, in execution order")
                              : tr("largest gradient of each layer × %1, in execution order")
                                    .arg(powerOfTwo(report->loss_scale)));
    showTests();
    showLadder();
    showTensor();
    showSamples();
    refreshState();
}

void SkipsPage::showTests() {
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

void SkipsPage::showLadder() {
    const SkipReport* report = model_->report();
    const Tokens& t = context_.theme->tokens();
    QStringList parts;
    if (report != nullptr) {
        for (const StepTrial& trial : report->ladder) {
            parts << u"<span style='color:%1'>%2 %3</span>"_s.arg(
                (trial.passes ? t.good : t.bad).name(), trial.passes ? u"✓"_s : u"✗"_s,
                powerOfTwo(trial.scale));
        }
        if (std::isfinite(report->scale_bound))
            parts << tr("by the FP32 gradients any scale up to %1 passes")
                         .arg(scaleLimit(report->scale_bound));
    }
    ladder_->setText(parts.isEmpty() ? tr("Examine the step to see which scales pass.")
                                     : parts.join(u" &nbsp; "_s));
    trial_->setVisible(model_->trial().has_value());
    if (model_->trial()) trial_->setText(trialText(*model_->trial()));
}

void SkipsPage::addFact(QFormLayout* form, const QString& name, const QString& value) {
    auto* title = makeLabel(name, "dim");
    auto* text = makeLabel(value);
    for (QLabel* label : {title, text}) label->setFont(Theme::caption());
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text->setAccessibleName(name);
    form->addRow(title, text);
}

void SkipsPage::showTensor() {
    while (tensor_->rowCount() > 0) tensor_->removeRow(0);
    const SkipReport* report = model_->report();
    if (report == nullptr || !report->first) {
        addFact(tensor_, tr("tensor"), unmeasured());
        return;
    }
    const engine::BadTensor& bad = *report->first;
    const auto plain = [](const std::string& text) { return QString::fromStdString(text); };
    const QString where = bad.module.empty() ? plain(bad.name) : plain(bad.module);
    addFact(tensor_, tr("tensor"), where.isEmpty() ? tr("outside modules") : where);
    if (!bad.name.empty() && !bad.module.empty()) addFact(tensor_, tr("name"), plain(bad.name));
    if (!bad.op.empty())
        addFact(tensor_, tr("made by"),
                tr("%1, operation %2 of %3")
                    .arg(plain(bad.op), count(bad.order + 1), count(report->operations)));
    addFact(tensor_, tr("stage"), plain(engine::name(bad.stage)));
    addFact(tensor_, tr("type"), plain(bad.tensor.dtype));
    addFact(tensor_, tr("shape"), shapeText(bad.tensor.shape));
    addFact(tensor_, tr("bad"),
            tr("%1 inf, %2 NaN of %3").arg(count(bad.infinite), count(bad.nan), count(bad.total)));
    addFact(tensor_, tr("first"), u"%1 = %2"_s.arg(indexText(bad.index), significant(bad.value)));
    if (std::isfinite(bad.largest_in_f32))
        addFact(tensor_, tr("in FP32"), significant(bad.largest_in_f32));
    for (std::size_t i = 0; i < bad.inputs.size() && i < 4; ++i) {
        const auto& input = bad.inputs[i];
        addFact(tensor_, tr("input %1").arg(i + 1),
                tr("%1, %2, largest %3")
                    .arg(plain(input.dtype), shapeText(input.shape), significant(input.largest)));
    }
}

void SkipsPage::showSamples() {
    const SkipReport* report = model_->report();
    batch_->setNote(
        report == nullptr || report->samples.empty()
            ? QString()
            : tr("%1 samples, largest share first").arg(count(std::ssize(report->samples))));
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

/// While a step is checked the verdict says how far.
void SkipsPage::showProgress() {
    const engine::ExaminationProgress now = model_->checking();
    const bool checks = now.step > 0;
    if (!checks && !checking_) return;
    checking_ = checks;
    if (!checks) {
        showStep();
        return;
    }
    QPalette palette = headline_->palette();
    palette.setColor(QPalette::WindowText, context_.theme->tokens().text);
    headline_->setPalette(palette);
    headline_->setText(
        now.expected > 0 && now.operations <= now.expected
            ? tr("Step %1: checking op %2 of %3")
                  .arg(count(now.step), count(now.operations), count(now.expected))
            : tr("Step %1: checking op %2").arg(count(now.step), count(now.operations)));
    advice_->clear();
}

void SkipsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    model_->setVisible(true);
}

void SkipsPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    model_->setVisible(false);
}

void SkipsPage::refreshState() {
    const bool any = model_->step() != nullptr;
    examine_->setEnabled(any && !model_->busy());
    examine_->setText(model_->report() == nullptr ? tr("Examine this step")
                                                  : tr("Examine it again"));
    capsule_->setEnabled(any && !model_->busy());
    const SkipReport* const seen = model_->report();
    capsule_->setText(seen == nullptr || seen->capsule_bytes == 0
                          ? tr("Save as capsule…")
                          : tr("Save as capsule… %1").arg(bytes(seen->capsule_bytes)));
    arm_->setVisible(model_->needsArming());
    QString text;
    if (model_->busy())
        text = tr("Computing the step again…");
    else if (!model_->problem().isEmpty())
        text = model_->problem();
    else if (const auto* report = model_->report())
        text = tr("computed again with a check after each of %1 operations, on %2")
                   .arg(count(report->operations), QString::fromStdString(report->device));
    const QString watch = watchText();
    if (!watch.isEmpty() && model_->problem().isEmpty())
        text = text.isEmpty() ? watch : watch + u" · "_s + text;
    state_->setText(text);
}

QString SkipsPage::watchText() const {
    if (model_->needsArming())
        return model_->watches()
                   ? tr("armed: found_inf is read before the update, a synchronisation a step")
                   : tr("not armed: weights have moved; arm to catch the next one");
    return model_->watches() ? tr("watching: a fault is examined before the next step") : QString();
}

void SkipsPage::saveCapsule() {
    const auto* step = model_->step();
    if (step == nullptr) return;
    const QString name = u"step-%1.capsule.safetensors"_s.arg(step->step);
    const QString file = QFileDialog::getSaveFileName(this, tr("Save as capsule"), name,
                                                      tr("Capsules (*.safetensors)"));
    model_->saveCapsule(file);
}

}  // namespace ui
