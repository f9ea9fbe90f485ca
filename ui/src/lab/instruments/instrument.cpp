#include "lab/instruments/instrument.h"

#include <QScrollArea>
#include <algorithm>

#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {

InstrumentFactory makeBitsInstrument, makeHistogramInstrument, makeSkipInstrument, makeSumInstrument,
    makeWeightInstrument, makeXrayInstrument;

namespace {

InstrumentFactory* factoryOf(engine::LessonInstrument::Kind kind) {
    using enum engine::LessonInstrument::Kind;
    switch (kind) {
        case weight: return makeWeightInstrument;
        case histogram: return makeHistogramInstrument;
        case xray: return makeXrayInstrument;
        case skip: return makeSkipInstrument;
        case bits: return makeBitsInstrument;
        case sum: return makeSumInstrument;
    }
    return nullptr;
}

}  // namespace

Instrument::Instrument(const InstrumentSetup& from)
    : QWidget(from.parent),
      context_(from.context),
      model_(from.model),
      instrument_(from.instrument) {}

std::vector<std::string> Instrument::namedRuns() const {
    std::vector<std::string> runs = instrument_.runs;
    if (!runs.empty()) return runs;
    for (const auto& run : model_->lesson()->runs) runs.push_back(run.name);
    return runs;
}

InstrumentPanel::InstrumentPanel(const Context& context, LessonModel* model, double scale,
                                 Qt::Orientation direction, QWidget* parent)
    : QWidget(parent), context_(context), model_(model), scale_(scale), direction_(direction) {
    setProperty(readingGroup, true);
    makeColumn(this);
    connect(model_, &LessonModel::lessonChanged, this, &InstrumentPanel::build);
    connect(model_->runs(), &LessonRuns::phaseChanged, this, &InstrumentPanel::refresh);
    connect(model_->runs(), &LessonRuns::measured, this, &InstrumentPanel::refresh);
    connect(model_->runs()->link(), &PlotLink::crosshairChanged, this, &InstrumentPanel::refresh);
    build();
}

QWidget* InstrumentPanel::addCard(const engine::LessonInstrument& instrument, QWidget* parent) {
    auto* card = new Card({}, parent);
    auto* made = factoryOf(instrument.kind)({context_, model_, instrument, card});
    auto* cover = makeLabel(tr("Predict, then run."), "dim", card);
    cover->setContentsMargins(size::inside, size::grid, size::inside, size::inside);
    card->setTitle(made->title());
    connect(made, &Instrument::noteChanged, card, [card, made] { card->setNote(made->note()); });
    card->addBody(cover);
    card->addBody(made, 1);
    instruments_.push_back({instrument.kind, made, cover, card});
    return card;
}

void InstrumentPanel::build() {
    using Kind = engine::LessonInstrument::Kind;
    instruments_.clear();
    delete page_;
    page_ = new QWidget(this);
    auto* outer = makeColumn(page_);
    auto* scroll = new QScrollArea(page_);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    outer->addWidget(scroll);
    auto* inside = withName(new QWidget, u"sections"_s);
    const bool below = direction_ == Qt::Vertical;
    auto* cards = new QBoxLayout(below ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight, inside);
    cards->setContentsMargins(0, 0, 0, 0);
    cards->setSpacing(size::gap);
    bool fills = false;  // one of them takes what height there is
    if (const auto lesson = model_->lesson()) {
        for (const auto& each : lesson->instruments) {
            const bool tall = each.kind == Kind::weight;
            fills = fills || tall;
            cards->addWidget(addCard(each, inside), tall || !below ? 1 : 0,
                             tall || below ? Qt::Alignment() : Qt::AlignTop);
        }
    }
    if (below && !fills) cards->addStretch(1);
    scroll->setWidget(inside);
    layout()->addWidget(page_);
    refresh();
    emit rebuilt();
}

bool InstrumentPanel::revealsAnswer(const Shown& shown) const {
    using Kind = engine::LessonInstrument::Kind;
    const auto lesson = model_->lesson();
    if (!lesson || lesson->predictions.empty() || model_->locked()) return false;
    return shown.kind == Kind::bits || shown.kind == Kind::sum;
}

std::int64_t InstrumentPanel::shownStep() const {
    std::int64_t last = 0;
    for (const auto& track : model_->runs()->tracks()) last = std::max(last, track->rows());
    const std::int64_t at = model_->runs()->link()->crosshair();
    return at > 0 ? std::min(at, last) : last;
}

void InstrumentPanel::refresh() {
    const std::int64_t step = shownStep();
    for (const Shown& shown : instruments_) {
        shown.instrument->showStep(step);
        shown.card->setNote(shown.instrument->note());
        const bool covered = revealsAnswer(shown);
        shown.instrument->setVisible(!covered);
        shown.cover->setVisible(covered);
    }
    scaleTexts(page_, scale_);
}

}  // namespace ui
