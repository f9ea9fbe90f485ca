#include "lab/instrument.h"

#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "lab/bits_instrument.h"
#include "lab/histogram_instrument.h"
#include "lab/skip_instrument.h"
#include "lab/sum_instrument.h"
#include "lab/text_scale.h"
#include "lab/weight_instrument.h"
#include "lab/xray_instrument.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/card.h"

namespace ui {

using namespace Qt::StringLiterals;

InstrumentPanel::InstrumentPanel(const Context& context, LessonModel* model, double scale,
                                 QWidget* parent)
    : QWidget(parent), context_(context), model_(model), scale_(scale) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    connect(model_, &LessonModel::lessonChanged, this, &InstrumentPanel::build);
    connect(model_->runs(), &LessonRuns::phaseChanged, this, &InstrumentPanel::refresh);
    connect(model_->runs(), &LessonRuns::measured, this, &InstrumentPanel::refresh);
    connect(model_->runs()->link(), &PlotLink::crosshairChanged, this, &InstrumentPanel::refresh);
    build();
}

Instrument* InstrumentPanel::make(const engine::LessonInstrument& instrument, QWidget* parent) {
    using enum engine::LessonInstrument::Kind;
    switch (instrument.kind) {
        case weight:
            return new WeightInstrument(context_, model_, instrument, parent);
        case histogram:
            return new HistogramInstrument(context_, model_, instrument, parent);
        case xray:
            return new XrayInstrument(context_, model_, instrument, parent);
        case skip:
            return new SkipInstrument(context_, model_, instrument, parent);
        case bits:
            return new BitsInstrument(context_, instrument, parent);
        case sum:
            return new SumInstrument(context_, instrument, parent);
    }
    return nullptr;
}

void InstrumentPanel::build() {
    instruments_.clear();
    cards_.clear();
    delete page_;
    page_ = new QWidget(this);
    auto* outer = new QVBoxLayout(page_);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea(page_);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    outer->addWidget(scroll);
    auto* inside = new QWidget;
    inside->setObjectName(u"sections"_s);
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    if (const auto lesson = model_->lesson()) {
        for (const auto& each : lesson->instruments) {
            auto* card = new Card({}, inside);
            Instrument* made = make(each, card);
            card->setTitle(made->title());
            card->addBody(made, 1);
            column->addWidget(card, each.kind == engine::LessonInstrument::Kind::weight ? 1 : 0);
            instruments_.push_back(made);
            cards_.push_back(card);
        }
    }
    column->addStretch();
    scroll->setWidget(inside);
    layout()->addWidget(page_);
    refresh();
    emit rebuilt();
}

bool InstrumentPanel::tellsAnswer(std::size_t index) const {
    const auto lesson = model_->lesson();
    if (!lesson || lesson->predictions.empty() || model_->locked()) return false;
    const auto kind = lesson->instruments[index].kind;
    return kind == engine::LessonInstrument::Kind::bits ||
           kind == engine::LessonInstrument::Kind::sum;
}

std::int64_t InstrumentPanel::shownStep() const {
    std::int64_t last = 0;
    for (const auto& track : model_->runs()->tracks()) last = std::max(last, track->rows());
    const std::int64_t at = model_->runs()->link()->crosshair();
    return at > 0 ? std::min(at, last) : last;
}

void InstrumentPanel::refresh() {
    const std::int64_t step = shownStep();
    for (std::size_t i = 0; i < instruments_.size(); ++i) {
        instruments_[i]->showStep(step);
        const QString note = instruments_[i]->note();
        cards_[i]->setNote(note);
        cards_[i]->setVisible(!tellsAnswer(i));
    }
    scaleTexts(page_, scale_);
}

}  // namespace ui
