#include "twin/twin_badge.h"

#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int progressEvery = 150;  // ms
constexpr int mostWidth = 320;      // of the text

}  // namespace

TwinBadge::TwinBadge(const Context& context, TwinModel* model, QWidget* parent, Checker checker)
    : QToolButton(parent), context_(context), model_(model), checker_(std::move(checker)) {
    setObjectName(u"chip"_s);
    timer_.setInterval(progressEvery);
    connect(&timer_, &QTimer::timeout, this, &TwinBadge::refresh);
    connect(this, &QToolButton::clicked, this, &TwinBadge::toggle);
    connect(model_, &TwinModel::contentChanged, this, &TwinBadge::refresh);
    connect(model_, &TwinModel::grew, this, &TwinBadge::refresh);
    connect(context_.settings, &SettingsModel::changed, this, &TwinBadge::refresh);
    refresh();
}

TwinBadge::~TwinBadge() {
    if (progress_) progress_->stop = true;
}

std::optional<engine::RunConfig> TwinBadge::config() const {
    if (model_->reference()) return model_->reference()->config();
    const auto compared = context_.settings->comparisonConfigs();
    if (compared.empty() || !context_.settings->errors().empty()) return std::nullopt;
    return compared.front();
}

std::optional<BitCheck> TwinBadge::shown() const {
    if (!model_->any() || !model_->reference() || !model_->other()) return std::nullopt;
    if (!(model_->reference()->config() == model_->other()->config())) return std::nullopt;
    const engine::TwinDigest& digest = model_->digest();
    BitCheck out;
    out.steps = model_->steps();
    if (digest.identical()) return out;
    // Gradients that are not finite cannot be compared.
    if (digest.first_difference().skipped) return std::nullopt;
    out.step = digest.first_difference().step;
    out.tensor = tr("the gradient of %1")
                     .arg(model_->name(static_cast<std::size_t>(digest.first_difference().layer)));
    return out;
}

void TwinBadge::toggle() {
    if (progress_)
        progress_->stop = true;
    else
        start();
}

void TwinBadge::start() {
    const auto own = config();
    if (!own) return;
    progress_ = std::make_shared<BitCheckProgress>();
    checked_ = own;
    auto found = std::make_shared<BitCheck>();
    context_.feed->compute(
        this,
        [check = checker_, config = *own, limits = limits_, progress = progress_, found] {
            *found = check(config, config, limits, *progress);
        },
        [this, found] { take(*found); });
    timer_.start();
    refresh();
}

void TwinBadge::take(const BitCheck& found) {
    timer_.stop();
    // Steps compared before the user stopped it count too.
    found_ = found;
    if (progress_->stop && found.steps == 0) checked_.reset();
    progress_.reset();
    refresh();
}

void TwinBadge::tell(const QString& tone, const QString& text, const QString& tip) {
    // The tool bar may be full.
    setText(fontMetrics().elidedText(text, Qt::ElideRight, mostWidth));
    setToolTip(QStringList{text, tip}.join(u'\n'));
    setAccessibleName(text);
    setAccessibleDescription(tip);
    restyle(this, "tone", tone);
}

void TwinBadge::showResult(const BitCheck& found) {
    const QString title = precisionTitle(config()->precision);
    const QString again = tr("Click to train %1 beside %1 for up to %2 steps and compare all bits. "
                             "Training waits for it; nothing is saved.")
                              .arg(title, count(limits_.steps));
    if (!found.problem.isEmpty()) {
        tell(u"caution"_s, tr("%1 beside %1: not checked").arg(title),
             found.problem + u'\n' + again);
    } else if (found.identical()) {
        tell(u"good"_s,
             tr("✓ %1 beside %1: bit-identical, %2 steps").arg(title, count(found.steps)), again);
    } else {
        tell(
            u"bad"_s,
            tr("✗ %1 beside %1: %2 differs in step %3").arg(title, found.tensor, count(found.step)),
            tr("The same settings gave different bits, so part of what this page shows is "
               "nondeterminism of the computation.") +
                u'\n' + again);
    }
}

void TwinBadge::refresh() {
    const auto own = config();
    setEnabled(own.has_value() || checking());
    if (checking()) {
        return tell({},
                    tr("checking step %1 of %2").arg(count(progress_->step), count(limits_.steps)),
                    tr("Click to end the check."));
    }
    if (!own) return tell({}, tr("No check"), tr("Some settings are invalid."));
    if (const auto seen = shown()) return showResult(*seen);
    if (checked_ == own) return showResult(found_);
    const QString title = precisionTitle(own->precision);
    tell({}, tr("Check %1 beside %1").arg(title),
         tr("Trains %1 beside %1 for up to %2 steps and compares all bits. Only if they are equal "
            "is the difference that a twin shows due to rounding. Training waits for it; nothing "
            "is saved.")
             .arg(title, count(limits_.steps)));
}

}  // namespace ui
