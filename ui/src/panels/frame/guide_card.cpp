#include "panels/frame/guide_card.h"

#include <QToolButton>

#include "commands/commands.h"
#include "commands/demonstration.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// As on a run's card: the mean of the last steps.
QString lossOf(const RunTrack& track) {
    const Bucket tail =
        track.series(&engine::StepRecord::loss).total(track.rows() - 20, track.rows());
    return significant(static_cast<double>(tail.mean));
}

}  // namespace

GuideCard::GuideCard(const Context& context, QWidget* parent) : QFrame(parent), context_(context) {
    setObjectName(u"guide"_s);
    auto* row = makeRow(this, {size::inside, size::gap, size::gap, size::gap}, size::gap);
    text_ = new QLabel(this);
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::RichText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setAccessibleName(tr("What to look at"));
    auto* close = new QToolButton(this);
    close->setAccessibleName(tr("Close this guide"));
    close->setToolTip(close->accessibleName());
    close->setIcon(themedIcon(*context_.theme, u"close"_s));
    connect(context_.theme, &Theme::changed, close,
            [this, close] { close->setIcon(themedIcon(*context_.theme, u"close"_s)); });
    connect(close, &QToolButton::clicked, this, [this] {
        closed_ = true;
        refresh();
    });
    connect(context_.commands, &Commands::started, this, [this] {
        closed_ = false;
        refresh();
    });
    connect(context_.feed, &EventFeed::tracksChanged, this, &GuideCard::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &GuideCard::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &GuideCard::refresh);
    select_ = new QPushButton(tr("Select its last step"), this);
    connect(select_, &QPushButton::clicked, this, [this] {
        const auto third = context_.feed->tracks()[2];
        context_.link->select(third->rows(), third);
    });
    row->addWidget(text_, 1);
    row->addWidget(select_, 0, Qt::AlignBottom);
    row->addWidget(close, 0, Qt::AlignTop);
    refresh();
}

QString GuideCard::outcome() const {
    const auto tracks = context_.feed->tracks();
    std::int64_t steps = tracks[0]->rows();
    for (const auto& track : {tracks[0], tracks[1], tracks[2]}) {
        const bool ended = track->done().has_value() || track->failed().has_value() ||
                           track->state() == engine::RunState::done;
        if (!ended || track->rows() == 0) {
            return tr(
                "One network, three times. The third run computes in FP16 without loss "
                "scaling: its gradients are too small for FP16, so it does not learn.");
        }
        steps = std::min(steps, track->rows());
    }
    const auto zeros = [](const RunTrack& track) {
        return percent(static_cast<double>(track.latest().grad_zero_share));
    };
    return tr("After %1 steps the loss is %2 in FP32, %3 in AMP FP16 and %4 without scaling, where "
              "%5 of the gradients are 0 (%6 in FP32).")
        .arg(count(steps), lossOf(*tracks[0]), lossOf(*tracks[1]), lossOf(*tracks[2]),
             zeros(*tracks[2]), zeros(*tracks[0]));
}

void GuideCard::refresh() {
    const bool shown = !closed_ && isLossScalingDemonstration(context_.feed->tracks());
    setVisible(shown);
    if (!shown) return;
    const RunTrack& last = *context_.feed->tracks()[2];
    select_->setEnabled(last.rows() > 0);
    const QString third = trackTitle(last);
    const std::pair<QString, QString> looks[] = {
        {tr("Loss:"), tr("FP32 and AMP FP16 fall, %1 stays flat.").arg(third)},
        {tr("Loss scale:"), tr("AMP FP16 multiplies the loss by it, which lifts small gradients "
                               "above 2⁻²⁵, where FP16 rounds to 0.")},
        {tr("Selected step:"), tr("how many gradients of %1 are 0.").arg(third)}};
    QString html =
        u"<b>%1</b> %2"_s.arg(tr("Why scale the loss?").toHtmlEscaped(), outcome().toHtmlEscaped());
    for (const auto& [where, what] : looks) {
        html += u"<br><b>%1</b> %2"_s.arg(where.toHtmlEscaped(), what.toHtmlEscaped());
    }
    if (text_->text() == html) return;
    text_->setText(html);
    setAccessibleName(tr("Why scale the loss?"));
    setAccessibleDescription(outcome());
}

}  // namespace ui
