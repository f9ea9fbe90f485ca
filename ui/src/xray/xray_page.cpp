#include "xray/xray_page.h"

#include <QAction>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>

#include "feed/run_track.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/card.h"
#include "widgets/elided_label.h"
#include "widgets/flow_layout.h"
#include "widgets/panel.h"
#include "xray/op_delegate.h"
#include "xray/timeline.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::ForcedType;
using engine::Xray;

namespace {

/// Rules that have a chip, and their titles.
QList<QPair<QString, QString>> ruleChips() {
    return {{u"low"_s, XrayPage::tr("16 bits")},    {u"f32"_s, XrayPage::tr("FP32")},
            {u"promote"_s, XrayPage::tr("widest")}, {u"none"_s, XrayPage::tr("no entry")},
            {u"casts"_s, XrayPage::tr("casts")},    {u"forced"_s, XrayPage::tr("forced")}};
}

QString typeTitle(ForcedType type) {
    switch (type) {
        case ForcedType::fp32:
            return u"FP32"_s;
        case ForcedType::fp16:
            return u"FP16"_s;
        case ForcedType::bf16:
            return u"BF16"_s;
    }
    return {};
}

QString change(const QString& before, const QString& after) {
    return before == after ? XrayPage::tr("%1, no change").arg(after)
                           : u"%1 → %2"_s.arg(before, after);
}

}  // namespace

QWidget* makeXrayPage(const Context& context, QWidget* parent) {
    return new XrayPage(context, parent);
}

XrayPage::XrayPage(const Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      model_(new XrayModel(context, this)),
      tree_(new OpTree(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    column->addLayout(makeBar());
    column->addWidget(makeTotals());
    auto* line = new QFrame(this);
    line->setObjectName(u"card"_s);
    auto* inside = new QVBoxLayout(line);
    inside->setContentsMargins(1, 1, 1, 1);
    auto* timeline = new Timeline(context_.theme, model_, line);
    inside->addWidget(timeline);
    column->addWidget(line);
    column->addWidget(makeTable(), 1);
    connect(timeline, &Timeline::opClicked, this, &XrayPage::reveal);
    connect(model_, &XrayModel::traceChanged, this, &XrayPage::showTrace);
    connect(model_, &XrayModel::experimentChanged, this, &XrayPage::showExperiment);
    connect(model_, &XrayModel::stateChanged, this, &XrayPage::refreshState);
    showTrace();
    showExperiment();
}

QLayout* XrayPage::makeBar() {
    auto* row = new QHBoxLayout;
    row->setSpacing(size::gap);
    trace_ = new QPushButton(tr("Trace this step"), this);
    trace_->setObjectName(u"primary"_s);
    trace_->setToolTip(tr(
        "Computes the selected step once more, operation by operation (T). Before the first run: "
        "the first step of the settings. Training waits for it."));
    state_ = new ElidedLabel(this);
    state_->setProperty("role", u"dim"_s);
    row->addWidget(trace_);
    row->addWidget(state_, 1);
    auto* key = new QAction(this);
    key->setShortcut(QKeySequence(Qt::Key_T));
    key->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(key);
    connect(key, &QAction::triggered, trace_, &QPushButton::click);
    connect(trace_, &QPushButton::clicked, model_, &XrayModel::traceStep);
    return row;
}

QWidget* XrayPage::makeTotals() {
    auto* card = new QFrame(this);
    card->setObjectName(u"card"_s);
    auto* row = new QHBoxLayout(card);
    row->setContentsMargins(size::inside, size::gap, size::inside, size::gap);
    row->setSpacing(2 * size::inside);
    const std::array titles{tr("one step"), tr("time by type"), tr("casts inserted"),
                            tr("kept in FP32"), tr("arithmetic")};
    for (std::size_t i = 0; i < titles.size(); ++i) {
        auto* part = new QVBoxLayout;
        part->setSpacing(1);
        auto* title = makeLabel(titles[i], "dim", card);
        title->setFont(Theme::caption());
        totals_[i] = new ElidedLabel(card);
        totals_[i]->setFont(Theme::bold());
        notes_[i] = new ElidedLabel(card);
        notes_[i]->setProperty("role", u"dim"_s);
        notes_[i]->setFont(Theme::caption());
        part->addWidget(title);
        part->addWidget(totals_[i]);
        part->addWidget(notes_[i]);
        row->addLayout(part, 1);
    }
    return card;
}

QLayout* XrayPage::makeFilter() {
    auto* outer = new QHBoxLayout;
    outer->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    auto* chips = new QWidget(this);
    outer->addWidget(chips);
    auto* row = new FlowLayout(chips, size::grid + 2);
    filter_ = new QLineEdit(this);
    filter_->setPlaceholderText(tr("Filter: module, operation, type"));
    filter_->setAccessibleName(tr("Filter"));
    filter_->setClearButtonEnabled(true);
    filter_->setFixedWidth(240);
    row->addWidget(filter_);
    rules_ = new QButtonGroup(this);
    rules_->setExclusive(false);
    for (const auto& [rule, title] : ruleChips()) {
        auto* chip = new QToolButton(this);
        chip->setObjectName(u"chip"_s);
        chip->setText(title);
        chip->setCheckable(true);
        chip->setProperty("rule", rule);
        rules_->addButton(chip);
        row->addWidget(chip);
    }
    const auto apply = [this] {
        const QAbstractButton* on = nullptr;
        for (const QAbstractButton* button : rules_->buttons()) {
            if (button->isChecked()) on = button;
        }
        tree_->setFilter(filter_->text(),
                         on == nullptr ? QString() : on->property("rule").toString());
        view_->expandAll();
    };
    connect(filter_, &QLineEdit::textChanged, this, apply);
    connect(rules_, &QButtonGroup::buttonToggled, this,
            [this, apply](QAbstractButton* button, bool on) {
                // One rule at a time.
                for (QAbstractButton* other : rules_->buttons()) {
                    if (!on || other == button) continue;
                    const QSignalBlocker quiet(rules_);
                    other->setChecked(false);
                }
                apply();
            });
    auto* find = new QAction(this);
    find->setShortcut(QKeySequence(Qt::Key_Slash));
    find->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(find);
    connect(find, &QAction::triggered, filter_, qOverload<>(&QWidget::setFocus));
    return outer;
}

QWidget* XrayPage::makeExperiment() {
    experiment_ = new QWidget(this);
    auto* row = new QHBoxLayout(experiment_);
    row->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    conclusion_ = makeLabel({}, nullptr, experiment_);
    conclusion_->setWordWrap(true);
    conclusion_->setTextFormat(Qt::RichText);
    auto* undo = new QPushButton(tr("Forget"), experiment_);
    auto* keep = new QPushButton(tr("Keep for the next run"), experiment_);
    keep->setToolTip(tr("Writes precision.force into the settings"));
    row->addWidget(conclusion_, 1);
    row->addWidget(undo);
    row->addWidget(keep);
    connect(undo, &QPushButton::clicked, model_, &XrayModel::forgetExperiment);
    connect(keep, &QPushButton::clicked, model_, &XrayModel::keep);
    return experiment_;
}

QWidget* XrayPage::makeTable() {
    auto* card = new QFrame(this);
    card->setObjectName(u"card"_s);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(1, 1, 1, 1);
    column->setSpacing(0);
    column->addLayout(makeFilter());
    column->addWidget(makeExperiment());
    view_ = new QTreeView(card);
    view_->setModel(tree_);
    view_->setItemDelegate(new OpDelegate(context_.theme, view_));
    view_->setFont(Theme::caption());
    view_->setUniformRowHeights(true);
    view_->setFrameShape(QFrame::NoFrame);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    view_->setAccessibleName(tr("Operations"));
    view_->header()->setFont(Theme::caption());
    view_->header()->setStretchLastSection(false);
    view_->header()->setSectionResizeMode(OpTree::rule, QHeaderView::Stretch);
    for (const auto& [section, width] : {std::pair{OpTree::module, 250},
                                         {OpTree::inputs, 150},
                                         {OpTree::casts, 130},
                                         {OpTree::micros, 120},
                                         {OpTree::peak, 66},
                                         {OpTree::written, 84}})
        view_->setColumnWidth(section, width);
    column->addWidget(view_, 1);
    connect(view_, &QWidget::customContextMenuRequested, this, &XrayPage::openMenu);
    auto* force = new QAction(this);
    force->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_F10));
    force->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(force);
    connect(force, &QAction::triggered, this,
            [this] { openMenu(view_->visualRect(view_->currentIndex()).center()); });
    return card;
}

void XrayPage::showTrace() {
    tree_->show(model_->trace() ? &*model_->trace() : nullptr);
    view_->expandToDepth(0);
    showTotals();
    refreshState();
}

void XrayPage::showTotals() {
    for (std::size_t i = 0; i < totals_.size(); ++i) {
        totals_[i]->setText(unmeasured());
        notes_[i]->setText({});
    }
    if (!model_->trace()) return;
    const Xray& trace = *model_->trace();
    const engine::XrayTotal all = engine::total(trace);
    const auto note = [this](std::size_t i, const QString& text) { notes_[i]->setText(text); };
    totals_[0]->setText(tr("%1 · %2 ops").arg(milliseconds(trace.step_ms), count(all.ops)));
    note(0, tr("%1 untraced").arg(milliseconds(trace.untraced_ms)));
    QStringList shares;
    for (const auto& type : engine::totals_by_dtype(trace)) {
        if (type.us >= 0.005 * all.us && shares.size() < 3)
            shares << u"%1 %2"_s.arg(
                percent(type.us / std::max(1.0, all.us)),
                type.name.empty() ? tr("other") : QString::fromStdString(type.name));
    }
    totals_[1]->setText(shares.value(0));
    note(1, shares.mid(1).join(u" · "_s));
    std::int64_t cached = 0, kept = 0;
    double keptTime = 0;
    for (const auto& op : trace.ops) {
        cached += op.cached_casts + op.kept_copies;
        if (op.rule == "f32" || op.rule == "f32_dtype" || op.rule == "f32_append") {
            ++kept;
            keptTime += op.us;
        }
    }
    totals_[2]->setText(tr("%1 · %2").arg(count(all.casts), bytes(all.cast_bytes)));
    note(2, tr("%1 µs · %2 from the cache").arg(significant(all.cast_us), count(cached)));
    totals_[3]->setText(tr("%1 ops").arg(count(kept)));
    note(3, tr("%1 µs, by the FP32 list").arg(significant(keptTime)));
    const double seconds = trace.step_ms / 1000;
    totals_[4]->setText(seconds > 0 ? tr("%1 GFLOP/s").arg(significant(all.flops / seconds / 1e9))
                                    : unmeasured());
    QStringList peaks;
    for (const auto& [type, peak] : trace.peaks)
        peaks << u"%1 %2"_s.arg(QString::fromStdString(type), significant(peak / 1e9));
    note(4, peaks.isEmpty() ? QString() : tr("measured here: %1").arg(peaks.join(u", "_s)));
}

void XrayPage::refreshState() {
    trace_->setEnabled(!model_->busy());
    const bool any = model_->trace().has_value();
    QString text;
    if (model_->busy()) {
        text = tr("Computing the step operation by operation…");
    } else if (!model_->problem().isEmpty()) {
        text = model_->problem();
    } else if (any) {
        text = tr("step %1 · %2 · %3")
                   .arg(count(model_->trace()->step),
                        QString::fromStdString(model_->trace()->precision),
                        QString::fromStdString(model_->trace()->device));
    } else {
        text = model_->track()
                   ? tr("Trace a step of the run to see its operations.")
                   : tr("Trace the first step of the settings: it works before training.");
    }
    state_->setText(text);
}

void XrayPage::showExperiment() {
    experiment_->setVisible(model_->experiment().has_value());
    if (!model_->experiment()) return;
    const engine::XrayExperiment& found = *model_->experiment();
    QStringList forced;
    for (const auto& [key, type] : found.forced)
        forced << tr("%1 forced to %2").arg(QString::fromStdString(key), typeTitle(type));
    const auto& [before, after] = std::pair{found.before, found.after};
    conclusion_->setText(
        tr("<b>%1</b> · loss %2 · gradient error against FP32 %3 · step %4 · peak %5<br>%6")
            .arg(forced.join(u", "_s).toHtmlEscaped(),
                 change(significant(before.loss, 4), significant(after.loss, 4)),
                 change(percent(before.gradient_error), percent(after.gradient_error)),
                 change(milliseconds(before.step_ms), milliseconds(after.step_ms)),
                 change(bytes(before.peak_bytes), bytes(after.peak_bytes)),
                 engineText(found.conclusion).toHtmlEscaped()));
}

void XrayPage::addForces(QMenu* menu, const std::string& key, const QString& title) {
    for (const ForcedType type : {ForcedType::fp16, ForcedType::bf16, ForcedType::fp32}) {
        menu->addAction(tr("Force %1 to %2 and rerun").arg(title, typeTitle(type)), this,
                        [this, key, type] { model_->tryForced(key, type); });
    }
}

void XrayPage::openMenu(const QPoint& at) {
    const QModelIndex index = view_->indexAt(at);
    if (!index.isValid() || model_->busy()) return;
    QMenu menu(this);
    const engine::XrayOp* op = tree_->op(index);
    const std::string module = tree_->moduleOf(index);
    if (op != nullptr && !op->why.empty()) {
        auto* why = menu.addAction(engineText(op->why));
        why->setEnabled(false);
        menu.addSeparator();
    }
    const bool here = op != nullptr && op->pass == engine::XrayPass::forward;
    if (here) {
        const std::string key = module.empty() ? op->op : module + ":" + op->op;
        addForces(&menu, key, QString::fromStdString(key));
        menu.addSeparator();
    }
    if (!module.empty())
        addForces(&menu, module, tr("all of %1").arg(QString::fromStdString(module)));
    if (menu.isEmpty()) return;
    menu.exec(view_->viewport()->mapToGlobal(at));
}

void XrayPage::reveal(const engine::XrayOp* op) {
    const std::function<bool(const QModelIndex&)> find = [&](const QModelIndex& parent) {
        for (int row = 0; row < tree_->rowCount(parent); ++row) {
            const QModelIndex index = tree_->index(row, 0, parent);
            if (tree_->op(index) == op) {
                view_->setCurrentIndex(index);
                view_->scrollTo(index, QAbstractItemView::PositionAtCenter);
                return true;
            }
            if (find(index)) return true;
        }
        return false;
    };
    find({});
}

}  // namespace ui
