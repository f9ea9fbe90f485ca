#include "panels/verdict/verdict_bar.h"

#include <QResizeEvent>

#include "commands/commands.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "feed/track_verdict.h"
#include "models/benchmarks.h"
#include "panels/verdict/evidence_table.h"
#include "text/language.h"
#include "text/pay_off_text.h"
#include "text/verdict_text.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::size_t mostVerdicts = 4;  // five runs; more are in the cards' table alone
constexpr int padding = 6;

std::pair<QString, QColor> markOf(engine::VerdictTone tone, const Tokens& t) {
    switch (tone) {
        case engine::VerdictTone::good:
            return {u"check"_s, t.good};
        case engine::VerdictTone::caution:
            return {u"warning"_s, t.caution};
        case engine::VerdictTone::bad:
            return {u"error"_s, t.bad};
        case engine::VerdictTone::neutral:
            break;
    }
    return {u"dot"_s, t.dim};
}

QString paragraph(const QString& text) {
    return text.isEmpty() ? QString() : u"<p>"_s + text.toHtmlEscaped() + u"</p>"_s;
}

}  // namespace

VerdictBar::VerdictBar(const Context& context, QWidget* parent)
    : QFrame(parent), context_(context) {
    setObjectName(u"card"_s);
    column_ = new QVBoxLayout(this);
    column_->setContentsMargins(size::inside, padding, size::inside, padding);
    column_->setSpacing(size::grid);
    connect(context_.feed, &EventFeed::figuresDue, this, &VerdictBar::refresh);
    connect(context_.feed, &EventFeed::tracksChanged, this, &VerdictBar::rebuild);
    connect(context_.theme, &Theme::changed, this, &VerdictBar::refresh);
    if (context_.benchmarks != nullptr)
        connect(context_.benchmarks, &Benchmarks::resultsChanged, this, &VerdictBar::refresh);
    rebuild();
}

void VerdictBar::rebuild() {
    const std::size_t runs = context_.feed->tracks().size();
    const std::size_t wanted = std::clamp<std::size_t>(runs < 2 ? 1 : runs - 1, 1, mostVerdicts);
    while (lines_.size() > wanted) {
        delete lines_.back();
        lines_.pop_back();
    }
    while (lines_.size() < wanted) {
        auto* line = new VerdictLine(this);
        connect(line, &VerdictLine::measureWanted, this, [this, line] { measure(line); });
        lines_.push_back(line);
        column_->addWidget(line);
    }
    for (auto* each : lines_) each->setTwoLines(wanted == 1);
    heights_.clear();
    refresh();
}

void VerdictBar::fit() {
    // Before its first place, a text is taken to fit: a window must not be higher for it.
    const int inside = laidOut_ ? width() - 2 * (size::inside + size::border) : QWIDGETSIZE_MAX;
    heights_.resize(lines_.size(), 0);
    int whole = static_cast<int>(lines_.size() - 1) * size::grid + 2 * (padding + size::border);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        heights_[i] = std::max(heights_[i], lines_[i]->heightFor(inside));
        lines_[i]->setFixedHeight(heights_[i]);
        whole += heights_[i];
    }
    setFixedHeight(whole);
}

void VerdictBar::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    if (laidOut_ && event->oldSize().width() == event->size().width()) return;
    laidOut_ = true;
    heights_.clear();
    fit();
}

void VerdictBar::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() != QEvent::FontChange && event->type() != QEvent::StyleChange) return;
    heights_.clear();
    fit();
}

void VerdictBar::showOne(const QString& headline, const QString& hint) {
    const Tokens& t = context_.theme->tokens();
    lines_.front()->show({u"dot"_s, t.dim, headline, hint, {}});
    fit();
}

void VerdictBar::refresh() {
    const auto tracks = context_.feed->tracks();
    if (tracks.empty()) {
        return showOne(tr("Nothing has run yet."),
                       tr("Compare trains the same network in each precision, side by side."));
    }
    if (tracks.size() < 2) {
        return showOne(tr("One run, nothing to compare it with."),
                       tr("Compare runs a baseline beside it."));
    }
    for (std::size_t i = 0; i < lines_.size() && i + 1 < tracks.size(); ++i) {
        lines_[i]->show(verdictOn(*tracks.front(), *tracks[i + 1]));
    }
    fit();
}

VerdictText VerdictBar::verdictOn(const RunTrack& baseline, const RunTrack& other) const {
    const Tokens& t = context_.theme->tokens();
    for (const auto* track : {&baseline, &other}) {
        if (!track->failed() || track->rows() > 0) continue;
        return {u"dot"_s,
                t.dim,
                tr("Nothing to compare."),
                tr("%1 failed before its first step.").arg(trackTitle(*track)),
                {}};
    }
    if (baseline.rows() == 0 || other.rows() == 0) {
        return {u"dot"_s, t.dim, tr("Too early to say."), tr("Waiting for the first step."), {}};
    }
    const engine::Verdict verdict = judgeTracks(baseline, other);
    const auto [icon, color] = markOf(verdict.tone, t);
    QString headline = engineText(verdict.headline);
    const bool named = headline.startsWith(trackTitle(other));
    if (lines_.size() > 1 && !named) headline = tr("%1: %2").arg(trackTitle(other), headline);
    const QString cost = costText(verdict);
    const QString evidence = evidenceText(verdict);
    QStringList sentences;
    if (!cost.isEmpty()) sentences << cost;
    for (const auto& each : verdict.evidence) {
        if (!each.empty()) sentences << engineText(each);
    }
    QString html = u"<p><b>"_s + headline.toHtmlEscaped() + u"</b></p>"_s +
                   evidenceTable(baseline, other, sentences);
    QString payOff = engineText(verdict.pay_off);
    const BenchmarkResult* measured = verdict.pay_off_explained ? nullptr : measuredReason(other);
    if (measured != nullptr) {
        payOff = payOffSentence(measured->row);
        html += paragraph(tr("Measured on the Benchmarks page:")) + payOffFigures(measured->row);
    }
    const bool canMeasure = !verdict.pay_off_explained && measured == nullptr && !other.origin() &&
                            context_.benchmarks != nullptr;
    const QString rest = cost.isEmpty() ? evidence : joined({cost, payOff});
    return {icon, color, headline, rest, html, canMeasure};
}

const BenchmarkResult* VerdictBar::measuredReason(const RunTrack& other) const {
    if (context_.benchmarks == nullptr || other.origin()) return nullptr;
    return context_.benchmarks->find(other.config(), other.precision());
}

void VerdictBar::measure(const VerdictLine* line) {
    const auto tracks = context_.feed->tracks();
    const auto index =
        static_cast<std::size_t>(std::ranges::find(lines_, line) - lines_.begin()) + 1;
    if (index >= tracks.size()) return;
    context_.benchmarks->chooseRun(tracks[index]->config(), tracks[index]->precision());
    context_.commands->showPage(u"benchmarks"_s);
}

}  // namespace ui
