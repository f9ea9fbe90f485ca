#include <QCoreApplication>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

#include "commands/commands.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "microscope/drift_map.h"
#include "microscope/exponent_plot.h"
#include "microscope/layer_map.h"
#include "microscope/microscope_model.h"
#include "microscope/scale_answer.h"
#include "microscope/scale_table.h"
#include "text/format.h"
#include "theme/theme.h"
#include "view/context.h"
#include "widgets/choices.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "widgets/page_export.h"
#include "widgets/panel.h"
#include "widgets/side_columns.h"

namespace ui {

using engine::HistogramKind;

namespace {

/// Which loss scale fits these gradients? Layers by exponent, one layer's histogram with a handle
/// on the loss scale, what that does to the step, and the drift over the run.
class MicroscopePage final : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::MicroscopePage)
public:
    explicit MicroscopePage(const Context& context, QWidget* parent = nullptr);

private:
    QLayout* makeBar();
    Card* makeLayers();
    Card* makeHistogram();
    QWidget* makeNote(QWidget* parent);
    Card* makeDrift();
    void refresh();
    void refreshAnswer();
    void refreshNote();
    void refreshShadow();
    void exportFigures();
    QString howObtained() const;

    Context context_;
    MicroscopeModel* model_;
    QLabel* answer_;
    ElidedLabel* obtained_;
    QPushButton* shadow_;
    QPushButton* export_;
    Card* layers_;
    Card* histogram_;
    Card* drift_;
    QWidget* note_;
    QLabel* noteText_;
    QToolButton* noteLink_;
    SideColumns* columns_;
};

constexpr std::array allKinds{HistogramKind::gradients, HistogramKind::activations,
                              HistogramKind::weights, HistogramKind::updates};

QString formatTitle(engine::ValueType type) {
    switch (type) {
        case engine::ValueType::f16:
            return u"FP16"_s;
        case engine::ValueType::bf16:
            return u"BF16"_s;
        case engine::ValueType::f32:
            return u"FP32"_s;
    }
    return {};
}

}  // namespace

QWidget* makeMicroscopePage(const Context& context, QWidget* parent) {
    return new MicroscopePage(context, parent);
}

MicroscopePage::MicroscopePage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), model_(kept<MicroscopeModel>(context, this)) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeBar());
    answer_ = withName(makeTitle({}, nullptr, this), u"answer"_s);
    answer_->setWordWrap(true);
    answer_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(answer_);
    layers_ = makeLayers();
    histogram_ = makeHistogram();
    drift_ = makeDrift();
    columns_ = new SideColumns(histogram_, this);
    columns_->add(SideColumns::Place::left, tr("Layers"), layers_);
    columns_->add(SideColumns::Place::below, tr("Drift"), drift_);
    columns_->setShares(1, 2, 0);
    columns_->setHeights(5, 3);
    column->addWidget(columns_, 1);
    connect(model_, &MicroscopeModel::contentChanged, this, &MicroscopePage::refresh);
    connect(model_, &MicroscopeModel::layerChanged, this, &MicroscopePage::refresh);
    connect(model_, &MicroscopeModel::stateChanged, this, &MicroscopePage::refresh);
    refresh();
    // A model that is older than the page has told its news already.
    if (context_.kept != nullptr) emit model_->contentChanged();
}

QLayout* MicroscopePage::makeBar() {
    auto* row = makeRow(size::gap);
    const std::array titles{tr("Gradients"), tr("Activations"), tr("Weights"), tr("Updates")};
    const std::array tips{tr("Of the parameters, multiplied by the loss scale"),
                          tr("Outputs of the forward pass"),
                          tr("Before the update; the FP32 masters where there are any"),
                          tr("Weights after the update minus before")};
    auto* kinds = new Segments(tr("Values"), {titles.begin(), titles.end()}, this);
    for (std::size_t i = 0; i < tips.size(); ++i)
        kinds->buttons()->button(static_cast<int>(i))->setToolTip(tips[i]);
    row->addWidget(kinds);
    connect(kinds->buttons(), &QButtonGroup::idClicked, this,
            [this](int id) { model_->setKind(allKinds[static_cast<std::size_t>(id)]); });
    obtained_ = new ElidedLabel(this);
    obtained_->setProperty("role", u"dim"_s);
    obtained_->setFont(Theme::caption());
    obtained_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(obtained_, 1);
    shadow_ = new QPushButton(tr("Shadow pass now"), this);
    export_ = new QPushButton(tr("Export…"), this);
    export_->setToolTip(
        tr("Save the displayed histograms as CSV, or the plots as PNG or SVG (Ctrl+E)"));
    addWidgets(row, {shadow_, export_});
    addPageKey(this, u"microscope/shadow"_s, Qt::Key_P, shadow_);
    addPageKey(this, u"microscope/export"_s, Qt::CTRL | Qt::Key_E, export_);
    connect(shadow_, &QPushButton::clicked, this, [this] {
        if (model_->busy())
            model_->cancel();
        else
            model_->computeShadow();
    });
    connect(export_, &QPushButton::clicked, this, &MicroscopePage::exportFigures);
    return row;
}

Card* MicroscopePage::makeLayers() {
    auto* card = new Card(tr("Layers"), this);
    card->addToHead(new ShareLegend(context_.theme, model_, card));
    card->addBody(new LayerMap(context_.theme, model_, card), 1);
    return card;
}

Card* MicroscopePage::makeHistogram() {
    auto* card = new Card({}, this);
    auto* plot = new ExponentPlot(context_.theme, model_, card);
    auto* axis = new Segments(tr("Axis of the shares"), {tr("log"), tr("linear")}, card);
    axis->buttons()->button(0)->setToolTip(tr("Shares on a log axis"));
    axis->buttons()->button(1)->setToolTip(tr("Shares on a linear axis"));
    card->addToHead(axis);
    connect(axis->buttons(), &QButtonGroup::idClicked, plot,
            [plot](int id) { plot->setLinear(id == 1); });
    card->addBody(plot, 1);
    card->addBody(new ScaleTable(context_.theme, model_, card));
    note_ = makeNote(card);
    card->addBody(note_);
    return card;
}

QWidget* MicroscopePage::makeNote(QWidget* parent) {
    auto* note = new QWidget(parent);
    auto* row = makeRow(note, {size::inside, size::grid, size::inside, size::grid});
    noteText_ = makeSmall({}, "caution", note);
    noteText_->setWordWrap(true);
    noteLink_ = makeLink({}, note);
    row->addWidget(noteText_, 1);
    row->addWidget(noteLink_);
    connect(noteLink_, &QToolButton::clicked, this, [this] {
        if (model_->shadowShown() || model_->hasShadow())
            model_->setShadowWanted(!model_->shadowShown());
        else
            model_->computeShadow();
    });
    return note;
}

Card* MicroscopePage::makeDrift() {
    auto* card = new Card(tr("Drift"), this);
    card->addToHead(new ShareLegend(context_.theme, model_, card));
    card->addBody(new DriftMap(context_.theme, context_.link, model_, card), 1);
    return card;
}

QString MicroscopePage::howObtained() const {
    if (model_->busy()) {
        const QString progress = model_->progress();
        return progress.isEmpty() ? tr("Computing the step in FP32…") : progress;
    }
    if (!model_->problem().isEmpty()) return model_->problem();
    const auto& sample = model_->sample();
    const bool paused = model_->track() && model_->track()->state() == engine::RunState::paused;
    if (paused && model_->shadowsNext() && !model_->shadowShown())
        return tr("Paused before step %1: shadow pass available")
            .arg(count(model_->track()->rows() + 1));
    if (!sample) return {};
    const std::int64_t every = model_->track()->config().instruments.histograms_every.steps;
    const QString step = sample->shadow ? tr("step %1 in FP32").arg(count(sample->step))
                                        : tr("step %1").arg(count(sample->step));
    if (model_->track()->config().instruments.histograms_every.automatic)
        return tr("%1 · sampled every 50 steps, at most 4 a second").arg(step);
    return every > 0 ? tr("%1 · sampled every %2 steps").arg(step, count(every)) : step;
}

void MicroscopePage::refreshNote() {
    const auto& sample = model_->sample();
    const bool flushed = sample && sample->flushed(model_->kind());
    const bool shadow = model_->shadowShown();
    note_->setVisible(sample && (flushed || shadow || model_->hasShadow()));
    if (shadow) {
        noteText_->setText(
            tr("FP32 shadow pass of this step: the values as they are before FP16 rounds any to "
               "zero."));
    } else if (flushed) {
        noteText_->setText(
            tr("In FP16 the smallest values were rounded to zero before they could be counted."));
    } else {
        noteText_->setText(tr("This step was also computed in FP32."));
    }
    noteLink_->setText(shadow                ? tr("Show as measured")
                       : model_->hasShadow() ? tr("Show the shadow pass")
                                             : tr("Run the shadow pass"));
    noteLink_->setEnabled(!model_->busy());
}

void MicroscopePage::refreshShadow() {
    const bool next = model_->shadowsNext();
    shadow_->setText(model_->busy() ? tr("Cancel") : tr("Shadow pass now"));
    shadow_->setEnabled(model_->busy() ||
                        (model_->track() && (next || model_->track()->rows() > 0)));
    shadow_->setToolTip(
        next ? tr("Computes the next step on a copy in FP32, with the same weights, batch and "
                  "masks, to show what FP16 rounds to zero (P). Training waits for it; the run "
                  "does not change.")
             : tr("Computes this step again in FP32, with the same weights, batch and masks, to "
                  "show what FP16 rounded to zero (P). Training waits for it."));
    export_->setEnabled(model_->sample().has_value());
}

void MicroscopePage::exportFigures() {
    if (!model_->sample()) return;
    PageExport page;
    page.name = u"microscope-%1-step-%2"_s.arg(QString::fromStdString(model_->track()->run()),
                                               QString::number(model_->sample()->step));
    page.table = [this] { return to_table(*model_->sample(), model_->kind()); };
    page.plots = columns_;
    page.write = [this](const QString& file, FileWriter writer) {
        context_.commands->works()->write(file, std::move(writer));
    };
    exportPage(this, page);
}

void MicroscopePage::refreshAnswer() {
    const auto& sample = model_->sample();
    const QString answer =
        sample ? scaleAnswer({.sample = *sample,
                              .kind = model_->kind(),
                              .counted = model_->counted(),
                              .scale = model_->scale(),
                              .scaled = model_->scaled(),
                              .earlier = !model_->isScaleNow()})
               : QString();
    answer_->setText(answer);
    answer_->setVisible(!answer.isEmpty());
}

void MicroscopePage::refresh() {
    obtained_->setText(howObtained());
    refreshAnswer();
    refreshShadow();
    const auto* layer = model_->selectedLayer();
    if (layer != nullptr) {
        histogram_->setTitle(layer->layer.empty() ? tr("(the model)")
                                                  : QString::fromStdString(layer->layer));
        histogram_->setNote(
            tr("%1 values in %2").arg(count(layer->values.total()), formatTitle(layer->type)));
        layers_->setNote(model_->scaled() ? tr("exponents at %1").arg(powerOfTwo(model_->counted()))
                                          : tr("exponents as stored"));
    } else {
        histogram_->setTitle(tr("Histogram"));
        histogram_->setNote({});
        layers_->setNote({});
    }
    drift_->setNote(model_->scaled() ? tr("step × exponent before scaling")
                                     : tr("step × exponent"));
    refreshNote();
}

}  // namespace ui
