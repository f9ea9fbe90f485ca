#include "twin/twin_page.h"

#include <QAction>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>

#include "commands/commands.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "text/format.h"
#include "theme/theme.h"
#include "twin/loss_gap.h"
#include "twin/twin_map.h"
#include "twin/twin_table.h"
#include "widgets/card.h"
#include "widgets/check_box.h"
#include "widgets/choice_box.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int sideBySide = 800;
constexpr int tableWidth = 300;
constexpr std::array<std::int64_t, 5> resyncChoices{0, 10, 100, 500, 1000};

}  // namespace

QWidget* makeTwinPage(const Context& context, QWidget* parent) {
    return new TwinPage(context, parent);
}

TwinPage::TwinPage(const Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      model_(new TwinModel(context, this)),
      split_(new QSplitter(Qt::Horizontal, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    column->addLayout(makeBar());
    auto* verdict = new QFrame(this);
    verdict->setObjectName(u"card"_s);
    auto* row = new QHBoxLayout(verdict);
    verdict_ = makeLabel({}, nullptr, verdict);
    verdict_->setWordWrap(true);
    verdict_->setTextFormat(Qt::RichText);
    row->addWidget(verdict_);
    auto* left = new QWidget(this);
    auto* stack = new QVBoxLayout(left);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->setSpacing(size::gap);
    stack->addWidget(verdict);
    auto* gap = new Card(tr("Loss gap"), left);
    gap->setNote(tr("second run minus the reference · raw behind, mean of 20 steps in front"));
    gap->addBody(new LossGap(context_.theme, context_.link, model_, gap), 1);
    stack->addWidget(gap, 1);
    map_ = makeMap();
    stack->addWidget(map_, 3);
    table_ = makeTable();
    split_->addWidget(left);
    split_->addWidget(table_);
    split_->setStretchFactor(0, 5);
    split_->setStretchFactor(1, 2);
    split_->setChildrenCollapsible(false);
    split_->setHandleWidth(size::gap);
    column->addWidget(split_, 1);
    connect(model_, &TwinModel::contentChanged, this, &TwinPage::refresh);
    connect(model_, &TwinModel::grew, this, &TwinPage::refresh);
    connect(model_, &TwinModel::selectionChanged, this, &TwinPage::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &TwinPage::refresh);
    refresh();
}

QLayout* TwinPage::makeBar() {
    auto* row = new QHBoxLayout;
    row->setSpacing(size::gap);
    pair_ = new ElidedLabel(this);
    pair_->setProperty("role", u"dim"_s);
    row->addWidget(pair_, 1);
    together_ = new CheckBox(tr("The reference skips too"), this);
    together_->setToolTip(
        tr("The reference leaves out the steps that the other run skips, so that both have made "
           "the same number of updates."));
    row->addWidget(together_);
    badge_ = makeLabel({}, "good", this);
    row->addWidget(badge_);
    automatic_ = new ChoiceBox(this);
    automatic_->setAccessibleName(tr("Resync by itself"));
    automatic_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    automatic_->setToolTip(tr("Copies the state of the reference over every so many steps"));
    for (const std::int64_t every : resyncChoices) {
        automatic_->addItem(
            every == 0 ? tr("no automatic resync") : tr("resync every %1").arg(count(every)),
            QVariant::fromValue(every));
    }
    row->addWidget(automatic_);
    resync_ = new QPushButton(tr("Resync now"), this);
    resync_->setToolTip(
        tr("At the end of the step the second run takes the weights, masters, buffers, carried "
           "state and optimizer state of the reference (Y). What is left after that is rounding."));
    row->addWidget(resync_);
    start_ = new QPushButton(tr("Start a twin"), this);
    row->addWidget(start_);
    auto* key = new QAction(this);
    key->setShortcut(QKeySequence(Qt::Key_Y));
    key->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(key);
    connect(key, &QAction::triggered, resync_, &QPushButton::click);
    connect(resync_, &QPushButton::clicked, this, [this] {
        if (context_.feed->twin()) context_.feed->twin()->resync();
    });
    connect(start_, &QPushButton::clicked, this, &TwinPage::start);
    connect(automatic_, &QComboBox::activated, this, [this] {
        if (context_.feed->twin())
            context_.feed->twin()->set_resync_every(
                automatic_->currentData().value<std::int64_t>());
    });
    connect(together_, &QCheckBox::toggled, this, [this](bool on) {
        if (context_.feed->twin()) context_.feed->twin()->set_skip_together(on);
    });
    return row;
}

Card* TwinPage::makeMap() {
    auto* card = new Card(tr("Gradient error"), this);
    auto* map = new TwinMap(context_.theme, context_.link, model_, card);
    auto* shown = new QButtonGroup(card);
    for (const bool angle : {false, true}) {
        auto* button = new QToolButton(card);
        button->setText(angle ? tr("angle") : tr("relative error"));
        button->setCheckable(true);
        button->setChecked(!angle);
        shown->addButton(button);
        card->addToHead(button);
        connect(button, &QToolButton::clicked, this, [this, map, angle] {
            map->showAngle(angle);
            map_->setNote(angle ? tr("angle between both gradients, 0.1° to 90°")
                                : tr("|g − g(reference)| ÷ |g(reference)|, 0.1 % to 100 %"));
        });
    }
    card->setNote(tr("|g − g(reference)| ÷ |g(reference)|, 0.1 % to 100 %"));
    card->addBody(map, 1);
    return card;
}

Card* TwinPage::makeTable() {
    auto* card = new Card(tr("Layers"), this);
    card->setMinimumWidth(tableWidth);
    card->addBody(new TwinTable(context_.theme, model_, card), 1);
    card->addBody(new SinceResync(context_.theme, model_, card));
    return card;
}

void TwinPage::start() {
    context_.commands->startTwin({.resync_every = automatic_->currentData().value<std::int64_t>(),
                                  .skip_together = together_->isChecked()});
}

void TwinPage::refreshVerdict() {
    if (!model_->any()) return verdict_->setText(model_->emptiness().toHtmlEscaped());
    const engine::TwinDigest& digest = model_->digest();
    const QString title = trackTitle(*model_->other());
    const auto bold = [](const QString& text) {
        return u"<b>"_s + text.toHtmlEscaped() + u"</b>"_s;
    };
    if (digest.identical()) {
        verdict_->setText(bold(tr("Bitwise identical over %1 steps.").arg(count(model_->steps()))));
        return;
    }
    const auto* gap = findChild<LossGap*>();
    const QString loss =
        tr("Loss gap %1, noise ±%2.").arg(significant(gap->gap()), significant(gap->noise()));
    const bool same = std::abs(gap->gap()) <= gap->noise();
    const auto first = digest.first_to_diverge();
    if (!first) {
        verdict_->setText(bold(same ? tr("Same loss, same gradients but for rounding.")
                                    : tr("The losses part, the gradients do not yet.")) +
                          u" "_s + loss.toHtmlEscaped());
        return;
    }
    verdict_->setText(
        bold(same ? tr("Same loss, diverging gradients.") : tr("The losses part.")) + u" "_s +
        tr("%1 diverged from the reference first, at step %2 (error above 10 % for five steps).")
            .arg(model_->name(*first), count(digest.layers()[*first].diverged))
            .toHtmlEscaped() +
        u" "_s + loss.toHtmlEscaped());
}

void TwinPage::refresh() {
    const bool live = model_->live();
    resync_->setEnabled(live);
    const bool ready = context_.commands->buttons().compare.enabled;
    start_->setEnabled(ready);
    start_->setToolTip(
        ready ? tr("Trains the first two of the compared precisions in lockstep: about "
                   "the time of both, and of comparing their gradients")
              : tr("Something is training. Stop it first."));
    if (model_->reference() && model_->other()) {
        pair_->setText(
            tr("%1 and %2 in lockstep: same weights, batches, augmentation and dropout "
               "masks at the start")
                .arg(untaggedTitle(*model_->reference()), untaggedTitle(*model_->other())));
    } else {
        pair_->setText(tr("Two precisions in lockstep"));
    }
    const bool identical = model_->any() && model_->digest().identical();
    badge_->setVisible(identical);
    badge_->setText(identical ? tr("✓ bit-identical, %1 steps").arg(count(model_->steps()))
                              : QString());
    table_->setTitle(model_->any() ? tr("Layers at step %1").arg(count(model_->current() + 1))
                                   : tr("Layers"));
    refreshVerdict();
}

void TwinPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    split_->setOrientation(width() < sideBySide ? Qt::Vertical : Qt::Horizontal);
}

}  // namespace ui
