#include "panels/plots/what_if_curves.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QMenu>
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "feed/background_task.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "view/view.h"

namespace ui {
namespace {

struct PolicyWords {
    Q_DECLARE_TR_FUNCTIONS(PolicyWords)
public:
    static QString constant(double scale) { return tr("Static %1").arg(powerOfTwo(scale)); }
    static QString start(double scale) { return tr("Initial scale %1").arg(powerOfTwo(scale)); }
    static QString hysteresis(const QString& skips) {
        return tr("Backoff after %1 skips").arg(skips);
    }
    static QString none() { return tr("No loss scaler"); }
};

}  // namespace

QString policyTitle(const std::string& policy) {
    if (const auto* preset = engine::find_kind(engine::scaler_presets(), policy))
        return engineText(preset->title);
    const QString key = QString::fromStdString(policy);
    const QString number = key.section(u'-', -1);
    if (key.startsWith(u"static-"_s)) return PolicyWords::constant(number.toDouble());
    if (key.startsWith(u"init-2^"_s))
        return PolicyWords::start(std::exp2(number.section(u'^', 1).toDouble()));
    if (key.startsWith(u"hysteresis-"_s)) return PolicyWords::hysteresis(number);
    return policy == "none" ? PolicyWords::none() : key;
}

namespace {

constexpr std::array<std::int64_t, 6> intervals{0, 20, 100, 500, 1000, 2000};
constexpr std::array<int, 7> exponents{0, 4, 8, 12, 16, 20, 24};  // of two; 0: the policy's own

/// The scales of a replay, those that are known or the others; NaN elsewhere.
SeriesPyramid seriesOf(const std::shared_ptr<const engine::WhatIf>& what, bool unknown) {
    const auto fill = [what, unknown](std::int64_t first, std::span<double> out) {
        auto stair =
            std::ranges::upper_bound(what->stairs, first + 1, {}, &engine::ScaleStair::first_step);
        if (stair != what->stairs.begin()) --stair;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::int64_t step = first + static_cast<std::int64_t>(i) + 1;
            while (stair != what->stairs.end() && stair->first_step + stair->steps <= step) ++stair;
            const bool shown = stair != what->stairs.end() && is_unknown(stair->outcome) == unknown;
            out[i] = shown ? static_cast<double>(stair->scale)
                           : std::numeric_limits<double>::quiet_NaN();
        }
    };
    SeriesPyramid series(fill);
    std::vector<double> block(4096);
    for (std::int64_t first = 0; first < what->steps; first += std::ssize(block)) {
        block.resize(static_cast<std::size_t>(std::min<std::int64_t>(4096, what->steps - first)));
        fill(first, block);
        series.append(block);
    }
    return series;
}

}  // namespace

struct WhatIfCurves::Replay {
    std::shared_ptr<RunTrack> track;
    std::int64_t rows = 0;
    std::shared_ptr<const engine::WhatIf> what;
    QString sentence;
    SeriesPyramid known, unknown;
};

WhatIfCurves::WhatIfCurves(const Context& context, QObject* parent)
    : QObject(parent), context_(context) {
    connect(context_.feed, &EventFeed::tracksChanged, this, &WhatIfCurves::endWithItsRuns);
    connect(context_.feed, &EventFeed::tracksChanged, this, &WhatIfCurves::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &WhatIfCurves::refresh);
    connect(context_.link, &PlotLink::selectedChanged, this, &WhatIfCurves::refresh);
}

WhatIfCurves::~WhatIfCurves() = default;

/// A replay belongs to the runs on screen when it was chosen; others begin without one.
void WhatIfCurves::endWithItsRuns() {
    if (policy_.empty()) return;
    for (const auto& track : context_.feed->tracks()) {
        if (std::ranges::any_of(chosenFor_, [&](const auto& was) { return was.lock() == track; }))
            return;
    }
    interval_ = 0;
    initial_ = 0;
    choose({});
}

void WhatIfCurves::choose(const std::string& policy) {
    policy_ = policy;
    chosenFor_.clear();
    for (const auto& track : context_.feed->tracks()) chosenFor_.push_back(track);
    replay_.reset();
    refresh();
    emit changed();
}

void WhatIfCurves::setGrowthInterval(std::int64_t steps) {
    interval_ = steps;
    choose(policy_.empty() ? engine::ScalerConfig{}.preset : policy_);
}

void WhatIfCurves::setInitialScale(double scale) {
    initial_ = scale;
    choose(policy_.empty() ? engine::ScalerConfig{}.preset : policy_);
}

std::optional<engine::ScalePolicy> WhatIfCurves::wanted() const {
    const auto usual = engine::usual_policies();
    const auto found = std::ranges::find(usual, policy_, &engine::ScalePolicy::name);
    if (found == usual.end()) return std::nullopt;
    engine::ScalePolicy out = *found;
    out.name = policyTitle(policy_).toStdString();  // for the sentence
    if (interval_ > 0) out.scaler.growth_interval = interval_;
    if (initial_ > 0) out.scaler.init_scale = initial_;
    return out;
}

/// Replays what is selected, unless that was replayed as far as it goes.
void WhatIfCurves::refresh() {
    const auto policy = wanted();
    const auto track = selectedTrack(context_);
    if (!policy || !track || !track->hasScaler() || track->rows() == 0) {
        if (std::exchange(replay_, nullptr)) emit changed();
        return;
    }
    if (replay_ && replay_->track == track && replay_->rows == track->rows()) return;
    again_ = busy_;
    if (std::exchange(busy_, true)) return;
    const engine::StepRecordReader rows = track->reader();
    const engine::ScalePolicy own = engine::to_policy(track->config(), "recorded");
    const auto work = [=] {
        const auto floors = [rows](std::int64_t first, std::span<double> out) {
            rows.column(&engine::StepRecord::scale_floor, first, out);
        };
        const engine::ReplayedRecord record{
            .record = rows, .checked = own.mode == engine::ScalerMode::dynamic, .floors = floors};
        auto what = std::make_shared<const engine::WhatIf>(engine::replay(record, *policy));
        const auto sentence = engine::what_if_sentence(*what, engine::replay(record, own));
        return std::make_shared<const Replay>(Replay{track, rows.size(), what, engineText(sentence),
                                                     seriesOf(what, false), seriesOf(what, true)});
    };
    // An error in the plot's own curve says what is wrong with the record.
    inBackground(this, work, [this](const Outcome<std::shared_ptr<const Replay>>& replay) {
        take(replay.result.value_or(nullptr));
    });
}

void WhatIfCurves::take(std::shared_ptr<const Replay> replay) {
    busy_ = false;
    const auto policy = wanted();
    const bool fits = replay && policy && replay->what->policy.name == policy->name &&
                      replay->what->policy.scaler == policy->scaler;
    if (fits) replay_ = replay;
    if (std::exchange(again_, false) || (replay && !fits)) refresh();
    emit changed();
}

void WhatIfCurves::addTo(PlotContent& content, const Tokens& tokens) const {
    if (!replay_) return;
    // Owned by the replay; a click on it selects the run.
    const std::shared_ptr<const void> owner(replay_, replay_->track.get());
    Curve curve{policyTitle(policy_), tokens.accent,           true,
                &replay_->known,      &replay_->track->axis(), owner};
    curve.gaps = true;
    content.curves.push_back(curve);
    curve.name.clear();
    curve.color.setAlphaF(0.35f);
    curve.data = &replay_->unknown;
    content.curves.push_back(curve);
}

QString WhatIfCurves::sentence() const { return replay_ ? replay_->sentence : QString(); }

void WhatIfCurves::addMenu(QMenu* menu) {
    auto* sub = menu->addMenu(tr("What if the scaler were…"));
    sub->setToolTipsVisible(true);
    const auto add = [this](QMenu* to, QActionGroup* group, const QString& text, auto isChosen,
                            auto choose) {
        auto* action = group->addAction(text);
        action->setCheckable(true);
        connect(action, &QAction::triggered, this, choose);
        connect(to, &QMenu::aboutToShow, action,
                [action, isChosen] { action->setChecked(isChosen()); });
        to->addAction(action);
    };
    auto* policies = new QActionGroup(sub);
    add(
        sub, policies, tr("As recorded"), [this] { return policy_.empty(); },
        [this] { choose({}); });
    for (const auto& each : engine::usual_policies()) {
        const std::string name = each.name;
        add(
            sub, policies, policyTitle(name), [this, name] { return policy_ == name; },
            [this, name] { choose(name); });
    }
    sub->addSeparator();
    auto* growth = sub->addMenu(tr("Growth interval"));
    auto* growths = new QActionGroup(growth);
    for (const std::int64_t steps : intervals) {
        add(
            growth, growths, steps == 0 ? tr("the policy's own") : tr("%1 steps").arg(count(steps)),
            [this, steps] { return interval_ == steps; },
            [this, steps] { setGrowthInterval(steps); });
    }
    auto* initial = sub->addMenu(tr("Initial scale"));
    auto* initials = new QActionGroup(initial);
    for (const int exponent : exponents) {
        const double scale = exponent == 0 ? 0 : std::exp2(exponent);
        add(
            initial, initials, exponent == 0 ? tr("the policy's own") : powerOfTwo(scale),
            [this, scale] { return initial_ == scale; }, [this, scale] { setInitialScale(scale); });
    }
}

}  // namespace ui
