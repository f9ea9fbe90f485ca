#include "xray/op_view.h"

#include <QKeyEvent>
#include <QMenu>
#include <algorithm>
#include <functional>

#include "commands/commands.h"
#include "engine/settings/catalog.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/language.h"
#include "xray/op_filter.h"
#include "xray/op_tree.h"
#include "xray/xray_model.h"

namespace ui {

using engine::ForcedType;
using engine::XrayOp;

namespace {

bool isIn(const XrayOp& op, ForcedType type) {
    const std::string& now = op.compute_dtype;
    return (type == ForcedType::fp16 && now == "f16") ||
           (type == ForcedType::bf16 && now == "bf16") ||
           (type == ForcedType::fp32 && now == "f32");
}

/// FP32 for what runs in 16 bits, else the 16-bit type of the run.
ForcedType otherType(const XrayOp& op, const std::string& precision) {
    if (isIn(op, ForcedType::fp16) || isIn(op, ForcedType::bf16)) return ForcedType::fp32;
    return engine::computes_in_bf16(precision) ? ForcedType::bf16 : ForcedType::fp16;
}

/// The operation's name in precision.force.
std::string keyOf(const XrayOp& op) { return op.module.empty() ? op.op : op.module + ":" + op.op; }

/// Gradients follow the types of the forward pass, so only its operations can be forced.
bool canBeForced(const XrayOp& op) {
    if (op.pass != engine::XrayPass::forward) return false;
    return std::ranges::any_of(engine::ops(), [&](const engine::OpSummary& known) {
        return known.name == op.op && known.forceable;
    });
}

bool isForceKey(const QKeyEvent& key) {
    return key.key() == Qt::Key_F && key.modifiers() == Qt::NoModifier;
}

}  // namespace

OpView::OpView(const Context& context, XrayModel* model, OpTree* tree, QWidget* parent)
    : QTreeView(parent), context_(context), model_(model), tree_(tree) {
    setContextMenuPolicy(Qt::CustomContextMenu);
    connect(this, &QWidget::customContextMenuRequested, this, &OpView::openMenu);
}

void OpView::addForces(QMenu* menu, const XrayOp* op, const std::string& module) {
    const std::string key = op != nullptr ? keyOf(*op) : module;
    const QString title = op != nullptr ? QString::fromStdString(key)
                                        : tr("all of %1").arg(QString::fromStdString(module));
    for (const ForcedType type : {ForcedType::fp16, ForcedType::bf16, ForcedType::fp32}) {
        const bool already = op != nullptr && isIn(*op, type);
        auto* action =
            menu->addAction(already ? tr("Force %1 to %2 (already)").arg(title, typeTitle(type))
                                    : tr("Force %1 to %2 and rerun").arg(title, typeTitle(type)));
        action->setEnabled(!already);
        if (op != nullptr && type == otherType(*op, model_->ownPrecision()))
            action->setText(action->text() + u"\tF"_s);
        connect(action, &QAction::triggered, model_,
                [this, key, type] { model_->tryForced(key, type); });
    }
}

void OpView::openMenu(const QPoint& at) {
    const QModelIndex index = indexAt(at);
    if (!canForce() || !index.isValid()) return;
    QMenu menu(this);
    const XrayOp* op = tree_->op(index);
    const std::string module = tree_->moduleOf(index);
    if (op != nullptr && !op->why.empty()) {
        menu.addAction(engineText(op->why))->setEnabled(false);
        menu.addSeparator();
    }
    if (op != nullptr && canBeForced(*op)) {
        addForces(&menu, op, module);
        menu.addSeparator();
    }
    if (!module.empty()) addForces(&menu, nullptr, module);
    if (op != nullptr && !op->module.empty() && model_->track()) {
        menu.addSeparator();
        menu.addAction(tr("Show %1 in Microscope").arg(QString::fromStdString(op->module)), this,
                       [this, op] { showInMicroscope(*op); });
    }
    if (!menu.isEmpty()) menu.exec(viewport()->mapToGlobal(at));
}

/// The modules get a little more of the width that the figures leave than the rules.
void OpView::shareWidth() {
    constexpr int minModule = 250;
    int room = viewport()->width();
    for (int column = 0; column < tree_->columnCount({}); ++column) {
        if (column != OpTree::module && column != OpTree::rule) room -= columnWidth(column);
    }
    setColumnWidth(OpTree::module, std::max(minModule, room * 11 / 20));
}

/// The viewport's resize, not the view's: that comes before the viewport has the new width.
bool OpView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Resize) shareWidth();
    return QTreeView::viewportEvent(event);
}

bool OpView::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride && isForceKey(*static_cast<QKeyEvent*>(event))) {
        event->accept();  // the key comes here, not to the menu
        return true;
    }
    return QTreeView::event(event);
}

void OpView::keyPressEvent(QKeyEvent* event) {
    if (!isForceKey(*event)) return QTreeView::keyPressEvent(event);
    event->accept();
    forceOther();
}

bool OpView::canForce() const {
    return isVisible() && model_->view() == XrayView::own && !model_->busy();
}

void OpView::forceOther() {
    const XrayOp* op = tree_->op(currentIndex());
    if (!canForce() || op == nullptr || !canBeForced(*op)) return;
    model_->tryForced(keyOf(*op), otherType(*op, model_->ownPrecision()));
}

void OpView::showInMicroscope(const XrayOp& op) {
    context_.link->selectLayer(QString::fromStdString(op.module));
    const std::int64_t step = model_->ownTrace()->step;
    if (step <= model_->track()->rows()) context_.link->select(step, model_->track());
    context_.commands->showPage(u"microscope"_s);
}

void OpView::reveal(const XrayOp* op) {
    const std::function<bool(const QModelIndex&)> find = [&](const QModelIndex& parent) {
        for (int row = 0; row < tree_->rowCount(parent); ++row) {
            const QModelIndex index = tree_->index(row, 0, parent);
            if (tree_->op(index) == op) {
                setCurrentIndex(index);
                scrollTo(index, QAbstractItemView::PositionAtCenter);
                return true;
            }
            if (find(index)) return true;
        }
        return false;
    };
    find({});
}

}  // namespace ui
