#include "panels/verdict_bar.h"

#include <QDateTime>
#include <QHBoxLayout>

#include "background.h"
#include "engine/error.h"
#include "feed/run_track.h"
#include "text/language.h"
#include "text/run_title.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "ui/event_feed.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 every = 1000;  // ms: a verdict that changes faster is not one

engine::RunFigures figuresOf(const RunTrack& track) {
    engine::RunFigures figures;
    figures.precision = track.precision();
    for (const auto& epoch : track.epochs()) {
        figures.test_losses.push_back(epoch.test_loss);
        figures.test_accuracies.push_back(epoch.test_accuracy);
    }
    return figures;
}

}  // namespace

VerdictBar::VerdictBar(const Context& context, QWidget* parent)
    : QFrame(parent), context_(context) {
    setObjectName(u"card"_s);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(size::inside, 6, size::inside, 6);
    row->setSpacing(size::gap);
    icon_ = new QLabel(this);
    text_ = new QLabel(this);
    text_->setTextFormat(Qt::RichText);
    text_->setWordWrap(true);
    row->addWidget(icon_);
    row->addWidget(text_, 1);
    connect(context_.feed, &EventFeed::figuresDue, this, &VerdictBar::ask);
    connect(context_.feed, &EventFeed::tracksChanged, this, [this] {
        hasVerdict_ = false;
        asked_ = 0;
        ask();
    });
    connect(context_.theme, &Theme::changed, this, [this] {
        if (hasVerdict_) show(last_);
    });
    ask();
}

void VerdictBar::ask() {
    const auto tracks = context_.feed->tracks();
    const Tokens& t = context_.theme->tokens();
    if (tracks.size() < 2) {
        const bool none = tracks.empty();
        showWords(u"dot"_s, t.dim,
                  none ? tr("Nothing has run yet.") : tr("One run, nothing to compare it with."),
                  none ? tr("Compare trains the same network in both precisions, side by side.")
                       : tr("Compare runs a baseline beside it."));
        return;
    }
    for (const auto& track : {tracks.front(), tracks[1]}) {
        if (!track->failed() || track->rows() > 0) continue;
        return showWords(u"dot"_s, t.dim, tr("Nothing to compare."),
                         tr("%1 failed before its first step.").arg(trackTitle(*track)));
    }
    if (tracks.front()->rows() == 0 || tracks[1]->rows() == 0) {
        showWords(u"dot"_s, t.dim, tr("Too early to say."),
                  tr("The first steps are on their way."));
        return;
    }
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    if (asking_ || now - asked_ < every) return;
    asking_ = true;
    asked_ = now;
    auto baseline = figuresOf(*tracks.front());
    auto other = figuresOf(*tracks[1]);
    baseline.record = tracks.front()->reader();
    other.record = tracks[1]->reader();
    const auto about = tracks[1];
    inBackground(
        this,
        [baseline, other]() -> engine::Verdict {
            try {
                return engine::judge(baseline, other);
            } catch (const engine::Error& error) {  // another program cut a record short
                return {engine::VerdictTone::neutral, error.message(), error.hint()};
            }
        },
        [this, about](const engine::Verdict& verdict) {
            asking_ = false;
            const auto current = context_.feed->tracks();
            if (current.size() > 1 && current[1] == about) show(verdict);
        });
}

void VerdictBar::show(const engine::Verdict& verdict) {
    last_ = verdict;
    hasVerdict_ = true;
    const Tokens& t = context_.theme->tokens();
    switch (verdict.tone) {
        case engine::VerdictTone::good:
            return showWords(u"check"_s, t.good, engineText(verdict.headline),
                             engineText(verdict.evidence));
        case engine::VerdictTone::caution:
            return showWords(u"warning"_s, t.caution, engineText(verdict.headline),
                             engineText(verdict.evidence));
        case engine::VerdictTone::bad:
            return showWords(u"error"_s, t.bad, engineText(verdict.headline),
                             engineText(verdict.evidence));
        case engine::VerdictTone::neutral:
            return showWords(u"dot"_s, t.dim, engineText(verdict.headline),
                             engineText(verdict.evidence));
    }
}

void VerdictBar::showWords(const QString& icon, const QColor& color, const QString& headline,
                           const QString& evidence) {
    icon_->setPixmap(iconPixmap(icon, color, size::icon, 2.0));
    const QString text =
        u"<b>%1</b> <span style='font-size:%2pt'>%3</span>"_s.arg(headline.toHtmlEscaped())
            .arg(Theme::caption().pointSizeF())
            .arg(evidence.toHtmlEscaped());
    if (text_->text() == text) return;
    text_->setText(text);
    setAccessibleName(headline + u' ' + evidence);
}

}  // namespace ui
