#include <QCoreApplication>
#include <QPushButton>
#include <QWidget>

#include "commands/commands.h"
#include "engine/verdict/verdict.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "twin/loss_gap.h"
#include "twin/twin_badge.h"
#include "twin/twin_map.h"
#include "twin/twin_model.h"
#include "twin/twin_table.h"
#include "view/context.h"
#include "widgets/choices.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "widgets/page_export.h"
#include "widgets/panel.h"
#include "widgets/side_columns.h"

namespace ui {
namespace {

/// When and where does AMP leave FP32? The loss gap, gradient errors by layer and step, and the
/// effect of a resync.
class TwinPage final : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::TwinPage)
public:
    explicit TwinPage(const Context& context, QWidget* parent = nullptr);

private:
    QLayout* makeBar();
    Card* makeMap();
    Card* makeTable();
    Card* makeSinceResync();
    QWidget* makeMain();
    void refresh();
    void refreshVerdict();
    void start();
    void exportFigures();
    engine::Table table() const;

    Context context_;
    TwinModel* model_;
    ElidedLabel* pair_;
    CheckBox* together_;
    ChoiceBox* automatic_;
    QPushButton* resync_;
    QPushButton* start_;
    QPushButton* export_;
    QLabel* verdict_;
    Card* map_;
    Card* table_;
    SideColumns* columns_;
};

constexpr int tableWidth = 350;
constexpr std::array<std::int64_t, 5> resyncChoices{0, 10, 100, 500, 1000};

}  // namespace

QWidget* makeTwinPage(const Context& context, QWidget* parent) {
    return new TwinPage(context, parent);
}

TwinPage::TwinPage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), model_(kept<TwinModel>(context, this)) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeBar());
    columns_ = new SideColumns(makeMain(), this);
    table_ = makeTable();
    columns_->add(SideColumns::Place::right, tr("Layers"), table_);
    columns_->add(SideColumns::Place::right, tr("Since the resync"), makeSinceResync(), 0);
    columns_->setShares(0, 5, 2);
    column->addWidget(columns_, 1);
    connect(model_, &TwinModel::contentChanged, this, &TwinPage::refresh);
    connect(model_, &TwinModel::grew, this, &TwinPage::refresh);
    connect(model_, &TwinModel::selectionChanged, this, &TwinPage::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &TwinPage::refresh);
    refresh();
    // A model that is older than the page has told its news already.
    if (context_.kept != nullptr) emit model_->contentChanged();
}

QWidget* TwinPage::makeMain() {
    auto* verdict = makeCard(this);
    auto* row = new QHBoxLayout(verdict);
    verdict_ = makeProse({}, nullptr, verdict);
    verdict_->setTextFormat(Qt::RichText);
    row->addWidget(verdict_);
    auto* main = new QWidget(this);
    auto* stack = makeColumn(main, {}, size::gap);
    stack->addWidget(verdict);
    auto* gap = new Card(tr("Loss gap"), main);
    gap->setNote(tr("second run minus the reference · raw behind, mean of 20 steps in front"));
    auto* curve = new LossGap(context_.theme, context_.link, model_, gap);
    gap->addBody(curve, 1);
    connect(context_.feed, &EventFeed::figuresDue, curve, &LossGap::readRows);
    connect(context_.feed, &EventFeed::figuresDue, this, &TwinPage::refreshVerdict);
    stack->addWidget(gap, 1);
    map_ = makeMap();
    const auto* map = map_->findChild<TwinMap*>();
    const auto align = [curve, map] { curve->setSpan(map->left(), map->right()); };
    connect(map, &TwinMap::spanChanged, curve, align);
    align();
    stack->addWidget(map_, 3);
    return main;
}

QLayout* TwinPage::makeBar() {
    auto* row = makeRow(size::gap);
    start_ = new QPushButton(this);  // the first that the keyboard reaches
    start_->setObjectName(u"primary"_s);
    row->addWidget(start_);
    pair_ = new ElidedLabel(this);
    pair_->setProperty("role", u"dim"_s);
    row->addWidget(pair_, 1);
    together_ = new CheckBox(tr("Skip together"), this);
    together_->setToolTip(
        tr("The reference leaves out the steps that the other run skips, so that both have made "
           "the same number of updates."));
    addWidgets(row, {together_, new TwinBadge(context_, model_, this)});
    automatic_ = new ChoiceBox(this);
    automatic_->setAccessibleName(tr("Automatic resync"));
    automatic_->setToolTip(tr("Copies the state of the reference over every N steps"));
    for (const std::int64_t every : resyncChoices) {
        automatic_->addItem(
            every == 0 ? tr("automatic resync: off") : tr("resync every %1").arg(count(every)),
            QVariant::fromValue(every));
    }
    row->addWidget(automatic_);
    resync_ = new QPushButton(tr("Resync now"), this);
    resync_->setToolTip(tr(
        "At the end of the step the second run takes the weights, masters, buffers, carried state "
        "and optimizer state of the reference (Y). The only difference after that is rounding."));
    row->addWidget(resync_);
    export_ = new QPushButton(tr("Export…"), this);
    export_->setToolTip(
        tr("Save the layers at this step as CSV, or the plots as PNG or SVG (Ctrl+E)"));
    row->addWidget(export_);
    addPageKey(this, u"twin/resync"_s, Qt::Key_Y, resync_);
    addPageKey(this, u"twin/export"_s, Qt::CTRL | Qt::Key_E, export_);
    connect(export_, &QPushButton::clicked, this, &TwinPage::exportFigures);
    connect(resync_, &QPushButton::clicked, this, [this] {
        if (const auto& twin = context_.feed->experiment().twin()) twin->resync();
    });
    connect(start_, &QPushButton::clicked, this, &TwinPage::start);
    connect(automatic_, &QComboBox::activated, this, [this] {
        if (const auto& twin = context_.feed->experiment().twin())
            twin->set_resync_every(automatic_->currentData().value<std::int64_t>());
    });
    connect(together_, &QCheckBox::toggled, this, [this](bool on) {
        if (const auto& twin = context_.feed->experiment().twin()) twin->set_skip_together(on);
    });
    return row;
}

Card* TwinPage::makeMap() {
    auto* card = new Card(tr("Gradient error"), this);
    auto* map = new TwinMap(context_.theme, context_.link, model_, card);
    auto* shown = new Segments(tr("Displayed measure"), {tr("relative error"), tr("angle")}, card);
    auto* legend = new TwinLegend(context_.theme, map, card);
    card->addToHead(legend);
    card->addToHead(shown);
    connect(model_, &TwinModel::contentChanged, legend, qOverload<>(&QWidget::update));
    connect(shown->buttons(), &QButtonGroup::idClicked, this, [this, map, legend](int id) {
        const bool angle = id == 1;
        map->showAngle(angle);
        legend->showAngle(angle);
        map_->setNote(angle ? tr("angle between both gradients, 0.1° to 90°")
                            : tr("|g − g(reference)| ÷ |g(reference)|, 0.1 % to 100 %"));
    });
    card->setNote(tr("|g − g(reference)| ÷ |g(reference)|, 0.1 % to 100 %"));
    card->addBody(map, 1);
    return card;
}

Card* TwinPage::makeTable() {
    auto* card = new Card(tr("Layers"), this);
    card->setMinimumWidth(tableWidth);
    card->addBody(new TwinTable(context_.theme, model_, card), 1);
    return card;
}

Card* TwinPage::makeSinceResync() {
    auto* card = new Card(tr("Error since the resync"), this);
    card->addBody(new SinceResync(context_.theme, model_, card), 1);
    return card;
}

void TwinPage::start() {
    context_.commands->startTwin({.resync_every = automatic_->currentData().value<std::int64_t>(),
                                  .skip_together = together_->isChecked()});
}

engine::Table TwinPage::table() const {
    const std::int64_t at = model_->current();
    return to_table(model_->digest(), {.step = at + 1,
                                       .skipped = model_->skipped(at),
                                       .errors = model_->stepValues(at, false),
                                       .angles = model_->stepValues(at, true)});
}

void TwinPage::exportFigures() {
    if (!model_->any()) return;
    PageExport page;
    page.name = u"twin-%1-step-%2"_s.arg(QString::fromStdString(model_->other()->run()),
                                         QString::number(model_->current() + 1));
    page.table = [this] { return table(); };
    page.plots = columns_;
    page.write = [this](const QString& file, FileWriter writer) {
        context_.commands->works()->write(file, std::move(writer));
    };
    exportPage(this, page);
}

void TwinPage::refreshVerdict() {
    if (!model_->any()) return verdict_->setText(model_->emptiness().toHtmlEscaped());
    const engine::TwinDigest& digest = model_->digest();
    const auto bold = [](const QString& text) {
        return u"<b>"_s + text.toHtmlEscaped() + u"</b>"_s;
    };
    if (digest.identical()) {
        verdict_->setText(bold(tr("Bitwise identical over %1 steps.").arg(count(model_->steps()))));
        return;
    }
    QStringList parts;
    if (model_->reference()) {
        const engine::Verdict verdict =
            judgeTracks(*model_->reference(), *model_->other(), digest.part_begins());
        const QString headline = engineText(verdict.headline);
        parts << bold(digest.part_begins() > 1
                          ? tr("After the resync, from step %1 on: %2")
                                .arg(count(digest.part_begins()), headline)
                          : headline);
        if (!verdict.evidence.empty())
            parts << engineText(verdict.evidence.front()).toHtmlEscaped();
    }
    if (const auto first = digest.first_to_diverge()) {
        parts << tr("%1 parted first, at step %2 (error above 10 % for five steps).")
                     .arg(model_->name(*first), count(digest.layers()[*first].diverged))
                     .toHtmlEscaped();
    } else {
        parts << tr("No layer's gradient was more than 10 % off for five steps.").toHtmlEscaped();
    }
    if (!digest.earlier_marks().empty()) {
        const engine::TwinMark& mark = digest.earlier_marks().front();
        parts << tr("Before the resync %1 had parted first, at step %2.")
                     .arg(model_->name(mark.layer), count(mark.step))
                     .toHtmlEscaped();
    }
    verdict_->setText(parts.join(u' '));
}

void TwinPage::refresh() {
    const bool live = model_->live();
    resync_->setEnabled(live);
    start_->setText(model_->any() ? tr("Start another twin")
                                  : tr("Start a twin: about 4.5× the time of AMP alone"));
    // Before the first twin they have nothing to act on.
    resync_->setVisible(model_->any());
    export_->setVisible(model_->any());
    const bool ready = context_.commands->buttons().compare.enabled;
    start_->setEnabled(ready);
    start_->setToolTip(
        ready ? tr("Trains the first two of the compared precisions in lockstep. Takes about the "
                   "time of both, plus that of comparing their gradients")
              : tr("Something is training. Stop it first."));
    if (model_->reference() && model_->other()) {
        pair_->setText(
            tr("%1 and %2 in lockstep: same weights, batches, augmentation and dropout "
               "masks at the start")
                .arg(untaggedTitle(*model_->reference()), untaggedTitle(*model_->other())));
    } else {
        pair_->setText(tr("Two precisions in lockstep"));
    }
    export_->setEnabled(model_->any());
    table_->setTitle(model_->any() ? tr("Layers at step %1").arg(count(model_->current() + 1))
                                   : tr("Layers"));
    refreshVerdict();
}

}  // namespace ui
