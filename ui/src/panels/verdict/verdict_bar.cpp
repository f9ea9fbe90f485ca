#include "panels/verdict/verdict_bar.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QResizeEvent>

#include "commands/commands.h"
#include "engine/verdict/verdict.h"
#include "feed/event_feed.h"
#include "help/help_page.h"
#include "models/benchmarks.h"
#include "panels/verdict/run_card.h"
#include "text/format.h"
#include "text/language.h"
#include "text/run_text.h"
#include "text/speedup_text.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr std::size_t speedFigure = 2;  ///< of those that figureCaptions() names

struct EvidenceTable {
    Q_DECLARE_TR_FUNCTIONS(EvidenceTable)
};

QString evidenceRow(const QString& name, const QString& first, const QString& second,
                    const QString& cell = u"td"_s) {
    const auto wrapped = [&cell](const QString& text, const QString& align) {
        return u"<%1 align='%2'>%3</%1>"_s.arg(cell, align, text.toHtmlEscaped());
    };
    return u"<tr>"_s + wrapped(name, u"left"_s) + wrapped(first, u"right"_s) +
           wrapped(second, u"right"_s) + u"</tr>"_s;
}

}  // namespace

QString evidenceTable(const RunTrack& baseline, const RunTrack& other,
                      const QStringList& sentences) {
    QString rows = evidenceRow({}, trackTitle(baseline), trackTitle(other), u"th"_s);
    const CardFigures first = figuresOf(&baseline), second = figuresOf(&other);
    const auto names = figureCaptions(baseline.metrics(), baseline.unit());
    const auto others = figureCaptions(other.metrics(), other.unit());
    const std::array<QString, 4> left = {first.loss, first.metric, first.speed, first.peak};
    const std::array<QString, 4> right = {second.loss, second.metric, second.speed, second.peak};
    for (std::size_t i = 0; i < names.size(); ++i) {
        // Figures of two tasks have nothing in common but their place. The sentences below give
        // typical speeds.
        const QString name =
            i == speedFigure ? EvidenceTable::tr("mean speed, %1").arg(names[i]) : names[i];
        if (names[i] == others[i]) rows += evidenceRow(name, left[i], right[i]);
    }
    if (baseline.rows() > 0 && other.rows() > 0) {
        const engine::KeyFigures a = baseline.figures(), b = other.figures();
        rows += evidenceRow(EvidenceTable::tr("steps"), count(a.steps), count(b.steps));
        rows += evidenceRow(EvidenceTable::tr("skipped"), count(a.skipped), count(b.skipped));
    }
    for (const QString& sentence : sentences)
        rows += u"<tr><td colspan='3'>"_s + sentence.toHtmlEscaped() + u"</td></tr>"_s;
    return u"<table width='100%' cellspacing='0' cellpadding='3'>"_s + rows + u"</table>"_s;
}

namespace {

constexpr int narrowestText = 160;

}  // namespace

VerdictLine::VerdictLine(QWidget* parent) : QWidget(parent) {
    grid_ = new QGridLayout(this);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(size::gap);
    grid_->setVerticalSpacing(0);
    grid_->setSizeConstraint(QLayout::SetNoConstraint);
    icon_ = new QLabel(this);
    headline_ = new QLabel(this);
    rest_ = new QLabel(this);
    for (QLabel* label : {headline_, rest_}) {
        label->setTextFormat(Qt::RichText);
        label->setWordWrap(true);
        label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    }
    link_ = makeLink(tr("evidence"), this);
    connect(link_, &QToolButton::clicked, this, [this] { showHelp(link_, evidence_); });
    measure_ = withName(makeLink(tr("measure"), this), u"measure"_s);
    measure_->setToolTip(tr("Measures on the Benchmarks page why it does not pay off"));
    connect(measure_, &QToolButton::clicked, this, &VerdictLine::measureWanted);
    grid_->addWidget(icon_, 0, 0, Qt::AlignTop);
    grid_->addWidget(headline_, 0, 1);
    grid_->addWidget(link_, 0, 2, Qt::AlignTop);
    grid_->addWidget(measure_, 0, 3, Qt::AlignTop);
    grid_->addWidget(rest_, 1, 1, 1, 3);  // below the links, too
    grid_->setColumnStretch(1, 1);
    grid_->setRowStretch(1, 1);
    rest_->hide();
}

void VerdictLine::show(const VerdictText& text) {
    icon_->setPixmap(iconPixmap(text.icon, text.color, size::icon, 2.0));
    QString first =
        u"<span style='font-weight:700'>"_s + text.headline.toHtmlEscaped() + u"</span>"_s;
    if (!twoLines_) first += u' ' + text.rest.toHtmlEscaped();
    if (first != headline_->text()) headline_->setText(first);
    const QString second = text.rest.toHtmlEscaped();
    if (second != rest_->text()) rest_->setText(second);
    rest_->setVisible(twoLines_);
    evidence_ = text.evidence;
    link_->setVisible(!evidence_.isEmpty());
    link_->setAccessibleName(tr("Evidence: %1").arg(text.headline));
    measure_->setVisible(text.canMeasure);
    measure_->setAccessibleName(tr("Measure: %1").arg(text.headline));
    setAccessibleName(text.headline + QChar::Space + text.rest);
}

void VerdictLine::setTwoLines(bool two) { twoLines_ = two; }

int VerdictLine::heightFor(int width) const {
    int links = 0;
    for (const QToolButton* link : {link_, measure_}) {
        if (!link->isHidden()) links += link->sizeHint().width() + size::gap;
    }
    const int whole = width - size::icon - size::gap, line = headline_->fontMetrics().lineSpacing();
    const int beside = std::max(narrowestText, whole - links);
    const int first =
        std::max({line, link_->sizeHint().height(), headline_->heightForWidth(beside)});
    if (!twoLines_) return first;
    return first + std::max(line, rest_->heightForWidth(std::max(narrowestText, whole)));
}

QSize VerdictLine::minimumSizeHint() const {
    return {narrowestText + size::icon + size::gap, link_->sizeHint().height()};
}

namespace {

constexpr std::size_t maxVerdicts = 4;  // five runs; more are in the cards' table alone
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
    column_ = makeColumn(this, {size::inside, padding, size::inside, padding}, size::grid);
    connect(context_.feed, &EventFeed::figuresDue, this, &VerdictBar::refresh);
    connect(context_.feed, &EventFeed::tracksChanged, this, &VerdictBar::rebuild);
    connect(context_.theme, &Theme::changed, this, &VerdictBar::refresh);
    if (context_.benchmarks != nullptr)
        connect(context_.benchmarks, &Benchmarks::resultsChanged, this, &VerdictBar::refresh);
    rebuild();
}

void VerdictBar::rebuild() {
    const std::size_t runs = context_.feed->tracks().size();
    const std::size_t wanted = std::clamp<std::size_t>(runs < 2 ? 1 : runs - 1, 1, maxVerdicts);
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
    QString speedup = engineText(verdict.speedup);
    const BenchmarkResult* measured = verdict.speedup_explained ? nullptr : measuredReason(other);
    if (measured != nullptr) {
        speedup = speedupSentence(measured->row);
        html += paragraph(tr("Measured on the Benchmarks page:")) + speedupFigures(measured->row);
    }
    const bool canMeasure = !verdict.speedup_explained && measured == nullptr && !other.origin() &&
                            context_.benchmarks != nullptr;
    const QString rest = cost.isEmpty() ? evidence : joined({cost, speedup});
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
