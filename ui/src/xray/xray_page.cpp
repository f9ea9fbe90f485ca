#include "xray/xray_page.h"

#include <QApplication>
#include <QButtonGroup>
#include <QHeaderView>
#include <QHideEvent>
#include <QToolButton>
#include <algorithm>

#include "commands/commands.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/elided_label.h"
#include "widgets/flow_layout.h"
#include "widgets/key_bindings.h"
#include "widgets/page_export.h"
#include "widgets/panel.h"
#include "xray/experiment_strip.h"
#include "xray/op_delegate.h"
#include "xray/op_view.h"
#include "xray/search_dialog.h"
#include "xray/timeline.h"
#include "xray/totals_strip.h"

namespace ui {
namespace {

/// A column's width that was chosen for a font of the usual size, in the window's font.
int widthOfText(int usual) {
    constexpr int usualHeight = 15;
    const int height = QFontMetrics(QApplication::font()).height();
    return usual * std::max(usualHeight, height) / usualHeight;
}

void setUp(QTreeView* view, QAbstractItemModel* model, const QString& name) {
    view->setModel(model);
    view->setFont(Theme::caption());
    view->setUniformRowHeights(true);
    view->setFrameShape(QFrame::NoFrame);
    view->setAccessibleName(name);
    view->header()->setFont(Theme::caption());
    view->header()->setStretchLastSection(false);
}

}  // namespace

QWidget* makeXrayPage(const Context& context, QWidget* parent) {
    return new XrayPage(context, parent);
}

XrayPage::XrayPage(const Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      model_(kept<XrayModel>(context, this)),
      tree_(new OpTree(this)),
      differences_(new DifferenceTable(this)) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeBar());
    addWidgets(column, {new TotalsStrip(model_, this), makeTimeline()});
    column->addWidget(makeTable(), 1);
    addPageKey(this, u"xray/trace"_s, Qt::Key_T, trace_);
    addPageKey(this, u"xray/filter"_s, filter_->accessibleName(), {Qt::Key_Slash},
               [this] { filter_->setFocus(); });
    addPageKey(this, u"xray/export"_s, Qt::CTRL | Qt::Key_E, export_);
    addPageKey(this, u"xray/menu"_s, tr("Menu of the row"), {Qt::SHIFT | Qt::Key_F10, Qt::Key_Menu},
               [this] { view_->openMenuOfCurrent(); });
    connect(model_, &XrayModel::traceChanged, this, &XrayPage::showTrace);
    connect(model_, &XrayModel::viewChanged, this, &XrayPage::showTrace);
    connect(model_, &XrayModel::stateChanged, this, &XrayPage::refreshState);
    connect(model_, &XrayModel::experimentChanged, this, &XrayPage::showTried);
    connect(model_, &XrayModel::runReady, this, [this] {
        if (isVisible()) model_->traceIfShort();
    });
    connect(context_.theme, &Theme::changed, this, &XrayPage::markChips);
    connect(context_.link, &PlotLink::layerChanged, this, &XrayPage::showLayer);
    markChips();
    showTrace();
    if (context_.kept == nullptr) return;
    // A model that is older than the page has told its news already.
    emit model_->traceChanged();
    emit model_->experimentChanged();
    if (model_->isSearchOpen())
        QMetaObject::invokeMethod(this, &XrayPage::openSearch, Qt::QueuedConnection);
}

QLayout* XrayPage::makeBar() {
    auto* row = makeRow(size::gap);
    row->addWidget(makeViews());
    trace_ = withName(new QPushButton(this), u"primary"_s);
    state_ = new ElidedLabel(this);
    state_->setProperty("role", u"dim"_s);
    search_ = new QPushButton(tr("Find the smallest FP32 set…"), this);
    search_->setToolTip(
        tr("Looks for the fewest operations that must stay in FP32 when all others run in FP16"));
    export_ = new QPushButton(tr("Export…"), this);
    export_->setToolTip(
        tr("Save the displayed operations as CSV, or the timeline as PNG or SVG (Ctrl+E)"));
    row->addWidget(trace_);
    row->addWidget(state_, 1);
    addWidgets(row, {search_, export_});
    connect(trace_, &QPushButton::clicked, this, [this] {
        if (model_->busy())
            model_->cancel();
        else
            model_->traceStep();
    });
    connect(search_, &QPushButton::clicked, this, &XrayPage::openSearch);
    connect(export_, &QPushButton::clicked, this, &XrayPage::exportFigures);
    return row;
}

QWidget* XrayPage::makeViews() {
    auto* views = new Segments(tr("Displayed precision"), {{}, {}, tr("Difference")}, this);
    views_ = views->buttons();
    const std::array tips{tr("The step as the run computes it"),
                          tr("The same step in the other precision: weights, batch and masks are "
                             "those of the run"),
                          tr("Both, operation by operation")};
    for (std::size_t i = 0; i < tips.size(); ++i)
        views_->button(static_cast<int>(i))->setToolTip(tips[i]);
    connect(views_, &QButtonGroup::idClicked, this, [this](int id) {
        model_->setView(static_cast<XrayView>(id));
        refreshState();
    });
    return views;
}

QWidget* XrayPage::makeTimeline() {
    auto* card = makeCard(this);
    auto* inside = makeColumn(card, {1, 1, 1, 1});
    timeline_ = new Timeline(context_.theme, model_, card);
    inside->addWidget(timeline_);
    return card;
}

QLayout* XrayPage::makeFilter() {
    auto* outer = makeRow(nullptr, {size::inside, size::grid, size::inside, size::grid});
    auto* chips = new QWidget(this);
    outer->addWidget(chips);
    auto* row = new FlowLayout(chips, size::grid + 2);
    filter_ = new QLineEdit(this);
    filter_->setPlaceholderText(tr("Filter: module, operation, type"));
    filter_->setAccessibleName(tr("Filter"));
    filter_->setClearButtonEnabled(true);
    constexpr int beside = 40;  // frame and the button that clears it
    filter_->setFixedWidth(
        std::max(240, filter_->fontMetrics().horizontalAdvance(filter_->placeholderText()) + beside));
    row->addWidget(filter_);
    rules_ = new QButtonGroup(this);
    rules_->setExclusive(false);
    for (const auto& [rule, title] : ruleChips()) {
        auto* chip = withName(new QToolButton(this), u"chip"_s);
        chip->setText(title);
        chip->setCheckable(true);
        chip->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        chip->setIconSize({size::mark, size::mark});
        chip->setProperty("rule", rule);
        chip->setProperty("title", title);
        rules_->addButton(chip);
        row->addWidget(chip);
    }
    connect(filter_, &QLineEdit::textChanged, this, &XrayPage::applyFilter);
    connect(rules_, &QButtonGroup::buttonToggled, this, [this](QAbstractButton* button, bool on) {
        // One rule at a time.
        for (QAbstractButton* other : rules_->buttons()) {
            if (!on || other == button) continue;
            const QSignalBlocker quiet(rules_);
            other->setChecked(false);
        }
        applyFilter();
    });
    return outer;
}

/// A chip says how many operations it leaves.
void XrayPage::countRules() {
    for (QAbstractButton* chip : rules_->buttons()) {
        QString text = chip->property("title").toString();
        if (model_->trace()) {
            const OpFilter filter{{}, chip->property("rule").toString()};
            const auto passing = std::ranges::count_if(
                model_->trace()->ops, [&](const engine::XrayOp& op) { return filter.passes(op); });
            text += u' ' + count(passing);
        }
        chip->setText(text);
    }
}

void XrayPage::applyFilter() {
    const QAbstractButton* on = nullptr;
    for (const QAbstractButton* button : rules_->buttons()) {
        if (button->isChecked()) on = button;
    }
    filterBy_ = {filter_->text(), on == nullptr ? QString() : on->property("rule").toString()};
    tree_->setFilter(filterBy_.words, filterBy_.rule);
    differences_->setFilter(filterBy_);
    view_->expandAll();
}

QWidget* XrayPage::makeTable() {
    auto* card = makeCard(this);
    auto* column = makeColumn(card, {1, 1, 1, 1}, 0);
    column->addLayout(makeFilter());
    auto* experiment = new ExperimentStrip(context_.theme, model_, card);
    column->addWidget(experiment);
    connect(experiment, &ExperimentStrip::trainingWanted, this,
            [this] { context_.commands->showPage(u"training"_s); });
    view_ = new OpView(context_, model_, tree_, this);
    setUp(view_, tree_, tr("Operations"));
    connect(timeline_, &Timeline::opClicked, view_, &OpView::reveal);
    view_->setItemDelegate(new OpDelegate(context_.theme, {OpTree::inputs}, OpTree::micros, view_));
    view_->setIconSize({size::mark, size::mark});
    view_->header()->setSectionResizeMode(OpTree::rule, QHeaderView::Stretch);
    for (const auto& [section, width] : {std::pair{OpTree::inputs, 150},
                                         {OpTree::casts, 130},
                                         {OpTree::micros, 120},
                                         {OpTree::peak, 66},
                                         {OpTree::written, 84}})
        view_->setColumnWidth(section, widthOfText(width));
    differenceView_ = new QTreeView(this);
    setUp(differenceView_, differences_, tr("Operations in both precisions"));
    differenceView_->setRootIsDecorated(false);
    differenceView_->setItemDelegate(
        new OpDelegate(context_.theme, {DifferenceTable::firstTypes, DifferenceTable::secondTypes},
                       -1, differenceView_));
    differenceView_->header()->setSectionResizeMode(DifferenceTable::name, QHeaderView::Stretch);
    for (const auto& [section, width] : {std::pair{DifferenceTable::firstTypes, 150},
                                         {DifferenceTable::secondTypes, 150},
                                         {DifferenceTable::firstTime, 110},
                                         {DifferenceTable::secondTime, 110},
                                         {DifferenceTable::change, 80},
                                         {DifferenceTable::output, 150}})
        differenceView_->setColumnWidth(section, widthOfText(width));
    tables_ = new QStackedWidget(card);
    addWidgets(tables_, {view_, differenceView_});
    empty_ = makeProse(tr("Every operation of a step in order, grouped by module: its types, the "
                          "rule that decided, its casts, time and memory."),
                       "dim", card);
    empty_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    empty_->setContentsMargins(size::inside, size::gap, size::inside, size::gap);
    tables_->addWidget(empty_);
    column->addWidget(tables_, 1);
    return card;
}

void XrayPage::showTrace() {
    const auto pointer = [](const auto& trace) { return trace ? &*trace : nullptr; };
    tree_->show(pointer(model_->trace()));
    showTried();
    differences_->show(pointer(model_->ownTrace()), pointer(model_->otherTrace()));
    tables_->setCurrentWidget(!model_->ownTrace() ? static_cast<QWidget*>(empty_)
                              : model_->view() == XrayView::difference ? differenceView_
                                                                       : view_);
    view_->expandToDepth(0);
    countRules();
    refreshState();
}

void XrayPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    model_->traceIfShort();
}

void XrayPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    if (!event->spontaneous()) model_->leave();
}

/// The marks of the rows, so that their meaning is read here.
void XrayPage::markChips() {
    for (QAbstractButton* chip : rules_->buttons()) {
        const ForceMark mark = markOf(chip->property("rule").toString());
        chip->setIcon(mark == ForceMark::none ? QIcon() : forceMark(*context_.theme, mark));
    }
}

void XrayPage::showLayer() {
    const auto& trace = model_->trace();
    if (!trace) return;
    const std::string layer = context_.link->layer().toStdString();
    // The layer of the current row was chosen here.
    const engine::XrayOp* current = tree_->op(view_->currentIndex());
    if (current != nullptr && current->module == layer) return;
    const auto op = std::ranges::find(trace->ops, layer, &engine::XrayOp::module);
    if (op != trace->ops.end()) view_->reveal(&*op);
}

void XrayPage::showTried() {
    tree_->setTried(model_->experiment() ? model_->experiment()->forced : engine::ForcedTypes());
}

QString XrayPage::stateText() const {
    if (model_->busy()) {
        const QString progress = model_->progress();
        if (!progress.isEmpty()) return progress;
        return model_->tracesNext() && !model_->ownTrace()
                   ? tr("Computing the next step, operation by operation…")
                   : tr("Computing the step operation by operation…");
    }
    if (!model_->problem().isEmpty()) return model_->problem();
    if (model_->ownTrace()) {
        const engine::Xray& trace = *model_->ownTrace();
        const QString what = tr("step %1 · %2 · %3")
                                 .arg(count(trace.step), precisionTitle(trace.precision),
                                      QString::fromStdString(trace.device).toUpper());
        if (!model_->experiment()) return what;
        return tr("%1 · the table shows the step before %2 was forced")
            .arg(what, QString::fromStdString(model_->experiment()->forced.begin()->first));
    }
    if (!model_->track())
        return tr("Trace the first step of the settings: it works before training.");
    return model_->tracesNext() ? tr("Trace the next step to see its operations (T).")
                                : tr("Trace a step of the run to see its operations (T).");
}

void XrayPage::refreshState() {
    const bool busy = model_->busy();
    const bool next = model_->tracesNext();
    trace_->setText(busy   ? tr("Cancel")
                    : next ? tr("Trace the next step") : tr("Trace this step"));
    trace_->setToolTip(
        next ? tr("Computes the next step on a copy, operation by operation (T). Training waits "
                  "for it; the run does not change.")
             : tr("Computes the selected step once more, operation by operation (T). Before the "
                  "first run: the first step of the settings. Training waits for it."));
    search_->setEnabled(!busy);
    export_->setEnabled(model_->trace().has_value());
    views_->button(static_cast<int>(XrayView::own))
        ->setText(precisionTitle(model_->ownPrecision()));
    views_->button(static_cast<int>(XrayView::other))
        ->setText(precisionTitle(model_->otherPrecision()));
    for (QAbstractButton* button : views_->buttons()) {
        button->setEnabled(!busy && model_->ownTrace());
        button->setChecked(views_->id(button) == static_cast<int>(model_->view()));
    }
    state_->setText(stateText());
}

void XrayPage::openSearch() {
    if (!dialog_) dialog_ = new SearchDialog(context_, model_, this);
    dialog_->show();
    dialog_->raise();
    dialog_->activateWindow();
}

engine::Table XrayPage::table() const {
    const auto passes = [this](const engine::XrayOp& op) { return filterBy_.passes(op); };
    if (model_->view() != XrayView::difference)
        return model_->trace() ? to_table(*model_->trace(), passes) : engine::Table();
    if (!model_->ownTrace() || !model_->otherTrace()) return {};
    return to_table(*model_->ownTrace(), *model_->otherTrace(), passes);
}

void XrayPage::exportFigures() {
    if (!model_->trace()) return;
    PageExport page;
    page.name = u"xray-%1-step-%2"_s.arg(
        model_->track() ? QString::fromStdString(model_->track()->run()) : u"settings"_s,
        QString::number(model_->trace()->step));
    page.table = [this] { return table(); };
    page.plots = timeline_;
    page.write = [this](const QString& file, FileWriter writer) {
        context_.commands->works()->write(file, std::move(writer));
    };
    exportPage(this, page);
}

}  // namespace ui
